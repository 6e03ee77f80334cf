#include "agent/telemetry/process_locator.h"

#include <unistd.h>

#include <string>

#include "agent/telemetry/proc_parsers.h"
#include "common/file.h"
#include "gtest/gtest.h"
#include "tests/unit/agent/scratch.h"

namespace c4::agent {
namespace {

class ProcessLocatorTest : public ::testing::Test {
 protected:
  void WriteProcess(int pid, int start_ticks, const std::string& namespaced_pids) {
    const std::string folder = std::to_string(pid);
    proc_.Write(folder + "/stat", folder + " (a) S 1 1 1 0 -1 1 1 1 1 1 1 1 0 0 20 0 9 0 " +
                                      std::to_string(start_ticks) + " 1 1\n");
    proc_.Write(folder + "/status", "Name:\ta\nNSpid:\t" + namespaced_pids + "\n");
  }
  int Locate(int pid, std::uint64_t start_ticks) {
    const auto process = LocateProcess(proc_.path(), pid, start_ticks);
    return process ? process->pid : 0;
  }

  testing::Scratch proc_;
};

TEST_F(ProcessLocatorTest, ByItsOwnNumber) {
  WriteProcess(42, 777, "42");
  EXPECT_EQ(Locate(42, 777), 42);
  EXPECT_EQ(LocateProcess(proc_.path(), 42, 777)->owner, geteuid());
}

TEST_F(ProcessLocatorTest, AReusedNumberIsNotIt) {
  WriteProcess(42, 900, "42");
  EXPECT_EQ(Locate(42, 777), 0);
}

TEST_F(ProcessLocatorTest, ThroughPidNamespaces) {
  WriteProcess(42, 900, "42");
  WriteProcess(5000, 777, "5000\t41");
  WriteProcess(5001, 777, "5001\t42");
  proc_.Write("self/stat", "not a number");
  EXPECT_EQ(Locate(42, 777), 5001);
}

TEST_F(ProcessLocatorTest, NobodyThere) {
  EXPECT_EQ(Locate(42, 777), 0);
  EXPECT_EQ(Locate(-1, 777), 0);
  EXPECT_FALSE(LocateProcess(proc_.Path("missing"), 42, 777).has_value());
}

TEST_F(ProcessLocatorTest, ThisProcess) {
  const auto stat = ParseStat(*ReadFile("/proc/self/stat", 4096));
  ASSERT_TRUE(stat.has_value());
  EXPECT_TRUE(LocateProcess("/proc", getpid(), stat->start_ticks).has_value());
  EXPECT_FALSE(LocateProcess("/proc", getpid(), stat->start_ticks + 1).has_value());
}

}  // namespace
}  // namespace c4::agent
