#include "agent/telemetry/infiniband_ports.h"

#include <string>

#include "agent/limits.h"
#include "gtest/gtest.h"
#include "tests/unit/agent/scratch.h"

namespace c4::agent {
namespace {

class InfinibandPortsTest : public ::testing::Test {
 protected:
  void WritePort(const std::string& port, const std::string& state, int downs = 0,
                 int symbol_errors = 0) {
    const std::string path = "class/infiniband/" + port;
    sys_.Write(path + "/state", state + "\n");
    sys_.Write(path + "/rate", "400 Gb/sec (4X NDR)\n");
    sys_.Write(path + "/counters/link_downed", std::to_string(downs) + "\n");
    sys_.Write(path + "/counters/symbol_error", std::to_string(symbol_errors) + "\n");
  }
  Outcome Collect() {
    now_ns_ += kSecondNs;
    samples_.clear();
    std::string error;
    return collector_.Collect(now_ns_, &samples_, &error);
  }
  const EventSample& Event(std::size_t i) const { return std::get<EventSample>(samples_.at(i)); }
  const GaugeSample& Gauge(std::size_t i) const { return std::get<GaugeSample>(samples_.at(i)); }

  testing::Scratch sys_;
  InfinibandPorts collector_{sys_.path()};
  std::int64_t now_ns_ = 100 * kSecondNs;
  Samples samples_;
};

TEST_F(InfinibandPortsTest, WithoutDevicesItIsUnsupported) {
  EXPECT_EQ(Collect(), Outcome::kUnsupported);
}

TEST_F(InfinibandPortsTest, NamesPortsAsNcclDoes) {
  WritePort("mlx5_0/ports/1", "4: ACTIVE");
  WritePort("mlx5_0/ports/2", "1: DOWN");
  EXPECT_EQ(Collect(), Outcome::kData);
  EXPECT_EQ(Gauge(0).device, "mlx5_0");
  EXPECT_EQ(Gauge(1).value, 400);
  EXPECT_EQ(Gauge(2).device, "mlx5_0:2");
  EXPECT_EQ(Gauge(2).value, 0);
}

TEST_F(InfinibandPortsTest, StateAndErrorsAreEvents) {
  WritePort("mlx5_0/ports/1", "4: ACTIVE");
  Collect();
  WritePort("mlx5_0/ports/1", "1: DOWN", 1, 12);
  Collect();
  EXPECT_EQ(Event(0).kind, "nic_link_down");
  EXPECT_EQ(Event(3).kind, "nic_errors");
  EXPECT_EQ(Event(3).counter, "symbol_error");
  EXPECT_EQ(Event(3).delta, 12);
  WritePort("mlx5_0/ports/1", "4: ACTIVE", 1, 12);
  Collect();
  EXPECT_EQ(Event(0).kind, "nic_link_up");
}

TEST_F(InfinibandPortsTest, ADeviceThatFallsOffTheBusIsDown) {
  WritePort("mlx5_0/ports/1", "4: ACTIVE");
  Collect();
  sys_.Remove("class/infiniband/mlx5_0");
  EXPECT_EQ(Collect(), Outcome::kData);
  EXPECT_EQ(Event(0).kind, "nic_link_down");
}

}  // namespace
}  // namespace c4::agent
