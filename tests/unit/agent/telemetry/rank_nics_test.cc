#include "agent/telemetry/rank_nics.h"

#include <filesystem>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "tests/unit/agent/scratch.h"

namespace c4::agent {
namespace {

class RankNicsTest : public ::testing::Test {
 protected:
  // With "\n" for the NUL between variables.
  std::string Nic(std::string environ, const std::string& gpu_pci = "") {
    for (char& c : environ) c = c == '\n' ? '\0' : c;
    root_.Write("proc/42/environ", environ);
    auto processes = std::make_shared<WatchedProcesses>();
    processes->Set({{42, 777, gpu_pci}});
    RankNics collector(root_.Path("proc"), root_.Path("sys"), processes);
    Samples samples;
    std::string error;
    outcome_ = collector.Collect(1, &samples, &error);
    // The second look has nothing new to say.
    EXPECT_EQ(collector.Collect(2, &samples, &error), Outcome::kNoData);
    return samples.empty() ? "" : std::get<RankNicSample>(samples.at(0)).nic;
  }
  void AddInterface(const std::string& name) {
    root_.Write("sys/class/net/" + name + "/operstate", "up\n");
  }
  // At `path` in the device tree.
  void AddPciDevice(const std::string& path, const std::string& id) {
    std::filesystem::create_directories(root_.Path("sys/devices/" + path + "/" + id));
    std::filesystem::create_directories(root_.Path("sys/bus/pci/devices"));
    std::filesystem::create_directory_symlink(root_.Path("sys/devices/" + path + "/" + id),
                                              root_.Path("sys/bus/pci/devices/" + id));
  }
  void AddHca(const std::string& name, const std::string& pci_id) {
    std::filesystem::create_directories(root_.Path("sys/class/infiniband/" + name));
    std::filesystem::create_directory_symlink(
        root_.Path("sys/bus/pci/devices/" + pci_id),
        root_.Path("sys/class/infiniband/" + name + "/device"));
  }

  testing::Scratch root_;
  Outcome outcome_ = Outcome::kNoData;
};

TEST_F(RankNicsTest, TheSocketInterfaceThatTheEnvironmentNames) {
  for (const char* const name : {"lo", "mgmt0", "hsn0", "docker0"}) AddInterface(name);
  EXPECT_EQ(Nic("A=1\nNCCL_SOCKET_IFNAME=hsn\n"), "hsn0");
  EXPECT_EQ(Nic("NCCL_SOCKET_IFNAME==mgmt0"), "mgmt0");
  EXPECT_EQ(Nic("NCCL_SOCKET_IFNAME=^mgmt,lo"), "hsn0");
}

TEST_F(RankNicsTest, NoGuessWhenItCouldBeSeveral) {
  for (const char* const name : {"eth0", "eth1"}) AddInterface(name);
  EXPECT_EQ(Nic("NCCL_SOCKET_IFNAME=eth"), "");
  EXPECT_EQ(Nic("A=1"), "");
}

TEST_F(RankNicsTest, AnEnvironmentThatCannotBeReadIsAFailure) {
  auto processes = std::make_shared<WatchedProcesses>();
  processes->Set({{43, 777, ""}});
  RankNics collector(root_.Path("proc"), root_.Path("sys"), processes);
  Samples samples;
  std::string error;
  EXPECT_EQ(collector.Collect(1, &samples, &error), Outcome::kFailed);
  EXPECT_NE(error.find("/43/environ"), std::string::npos);
}

TEST_F(RankNicsTest, TheNearestHcaServesAGpu) {
  AddPciDevice("pci0000:10/bridge0/switch0", "0000:1b:00.0");
  AddPciDevice("pci0000:10/bridge0/switch0", "0000:1c:00.0");
  AddPciDevice("pci0000:10/bridge0/switch1", "0000:2b:00.0");
  AddPciDevice("pci0000:10/bridge0/switch1", "0000:2c:00.0");
  AddHca("mlx5_0", "0000:1c:00.0");
  AddHca("mlx5_1", "0000:2c:00.0");
  EXPECT_EQ(Nic("A=1", "0000:1b:00.0"), "mlx5_0");
  EXPECT_EQ(Nic("A=1", "0000:2b:00.0"), "mlx5_1");
  EXPECT_EQ(Nic("NCCL_IB_HCA==mlx5_1:1", "0000:1b:00.0"), "mlx5_1");
  EXPECT_EQ(Nic("A=1", ""), "");
  EXPECT_EQ(Nic("A=1", "0000:99:00.0"), "");
}

TEST_F(RankNicsTest, TwoHcasAtTheSameDistanceAreNoAnswer) {
  AddPciDevice("pci0000:10/switch0", "0000:1b:00.0");
  AddPciDevice("pci0000:20/switch0", "0000:2c:00.0");
  AddPciDevice("pci0000:20/switch0", "0000:2d:00.0");
  AddHca("mlx5_0", "0000:2c:00.0");
  AddHca("mlx5_1", "0000:2d:00.0");
  EXPECT_EQ(Nic("A=1", "0000:1b:00.0"), "");
}

TEST_F(RankNicsTest, InfinibandCanBeSwitchedOff) {
  AddPciDevice("pci0000:10", "0000:1c:00.0");
  AddHca("mlx5_0", "0000:1c:00.0");
  AddInterface("eth0");
  EXPECT_EQ(Nic("NCCL_IB_DISABLE=1\nNCCL_SOCKET_IFNAME=eth0"), "eth0");
  EXPECT_EQ(Nic("NCCL_SOCKET_IFNAME=eth0"), "mlx5_0");
}

}  // namespace
}  // namespace c4::agent
