#include "agent/telemetry/network_interfaces.h"

#include <string>
#include <vector>

#include "agent/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/agent/scratch.h"

namespace c4::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NetworkInterfacesTest : public ::testing::Test {
 protected:
  void WriteInterface(const std::string& name, const std::string& state, int speed = 100'000,
                      int downs = 0, int rx_errors = 0) {
    const std::string path = "class/net/" + name;
    sys_.Write(path + "/operstate", state + "\n");
    sys_.Write(path + "/speed", std::to_string(speed) + "\n");
    sys_.Write(path + "/carrier_down_count", std::to_string(downs) + "\n");
    sys_.Write(path + "/statistics/rx_errors", std::to_string(rx_errors) + "\n");
  }
  // "kind device [counter+delta]" and "device name=value".
  std::vector<std::string> Collect(std::int64_t advance_ns = kSecondNs) {
    now_ns_ += advance_ns;
    Samples samples;
    std::string error;
    outcome_ = collector_.Collect(now_ns_, &samples, &error);
    std::vector<std::string> texts;
    for (const Sample& sample : samples) {
      if (const auto* const event = std::get_if<EventSample>(&sample)) {
        std::string text = event->kind + " " + event->device;
        if (event->delta != 0) text += " " + event->counter + "+" + std::to_string(event->delta);
        texts.push_back(text);
      } else if (const auto* const gauge = std::get_if<GaugeSample>(&sample)) {
        texts.push_back(gauge->device + " " + gauge->name + "=" +
                        std::to_string(static_cast<int>(gauge->value)));
      }
    }
    return texts;
  }

  testing::Scratch sys_;
  NetworkInterfaces collector_{sys_.path()};
  std::int64_t now_ns_ = 100 * kSecondNs;
  Outcome outcome_ = Outcome::kNoData;
};

TEST_F(NetworkInterfacesTest, WithoutSysfsItIsUnsupported) {
  EXPECT_THAT(Collect(), IsEmpty());
  EXPECT_EQ(outcome_, Outcome::kUnsupported);
}

TEST_F(NetworkInterfacesTest, TellsGaugesAtFirstThenOnceAMinute) {
  WriteInterface("eth0", "up");
  EXPECT_THAT(Collect(), ElementsAre("eth0 port_active=1", "eth0 rate_gbps=100"));
  EXPECT_THAT(Collect(), IsEmpty());
  EXPECT_EQ(outcome_, Outcome::kNoData);
  EXPECT_THAT(Collect(60 * kSecondNs), ElementsAre("eth0 port_active=1", "eth0 rate_gbps=100"));
}

TEST_F(NetworkInterfacesTest, ALinkThatGoesDownAndComesBackIsTwoEvents) {
  WriteInterface("eth0", "up");
  Collect();
  WriteInterface("eth0", "down", -1);
  EXPECT_THAT(Collect(), ElementsAre("nic_link_down eth0", "eth0 port_active=0"));
  EXPECT_THAT(Collect(), IsEmpty());
  WriteInterface("eth0", "up");
  EXPECT_THAT(Collect(),
              ElementsAre("nic_link_up eth0", "eth0 port_active=1", "eth0 rate_gbps=100"));
}

TEST_F(NetworkInterfacesTest, ALinkThatWasDownAllAlongIsNoEvent) {
  WriteInterface("eth0", "down", -1);
  EXPECT_THAT(Collect(), ElementsAre("eth0 port_active=0"));
}

TEST_F(NetworkInterfacesTest, AFlapBetweenTwoLooksIsSeen) {
  WriteInterface("eth0", "up", 100'000, 4);
  Collect();
  WriteInterface("eth0", "up", 100'000, 6);
  EXPECT_THAT(Collect(), ElementsAre("nic_link_down eth0", "nic_link_up eth0"));
}

TEST_F(NetworkInterfacesTest, AnotherSpeedIsTold) {
  WriteInterface("eth0", "up", 100'000);
  Collect();
  WriteInterface("eth0", "up", 25'000);
  EXPECT_THAT(Collect(), ElementsAre("eth0 port_active=1", "eth0 rate_gbps=25"));
}

TEST_F(NetworkInterfacesTest, ErrorsAreToldAsDifferencesOnceASecond) {
  WriteInterface("eth0", "up", 100'000, 0, 5);
  Collect();
  WriteInterface("eth0", "up", 100'000, 0, 8);
  EXPECT_THAT(Collect(), ElementsAre("nic_errors eth0 rx_errors+3"));
  WriteInterface("eth0", "up", 100'000, 0, 9);
  EXPECT_THAT(Collect(200 * kMillisecondNs), IsEmpty());
  EXPECT_THAT(Collect(), ElementsAre("nic_errors eth0 rx_errors+1"));
  WriteInterface("eth0", "up", 100'000, 0, 0);  // the driver was reset
  EXPECT_THAT(Collect(), IsEmpty());
}

TEST_F(NetworkInterfacesTest, AnInterfaceThatVanishesIsDown) {
  WriteInterface("eth0", "up");
  Collect();
  sys_.Remove("class/net/eth0");
  EXPECT_THAT(Collect(), ElementsAre("nic_link_down eth0"));
  EXPECT_THAT(Collect(), IsEmpty());
}

TEST_F(NetworkInterfacesTest, LoopbackContainersAndFilesAreLeftOut) {
  for (const char* const name : {"lo", "veth12ab", "docker0", "br-55", "cali9"}) {
    WriteInterface(name, "up");
  }
  sys_.Write("class/net/bonding_masters", "bond0\n");
  EXPECT_THAT(Collect(), IsEmpty());
}

TEST_F(NetworkInterfacesTest, AnUnknownStateGoesByTheCarrier) {
  WriteInterface("eth0", "unknown");
  sys_.Write("class/net/eth0/carrier", "1\n");
  EXPECT_THAT(Collect(), ElementsAre("eth0 port_active=1", "eth0 rate_gbps=100"));
}

TEST_F(NetworkInterfacesTest, ANewAnalyzerHearsWhatIsDownAndSinceWhen) {
  WriteInterface("eth0", "up");
  Collect();
  WriteInterface("eth0", "down", -1);
  Collect();
  const std::int64_t down_ns = now_ns_;
  collector_.Rewind();
  now_ns_ += 9 * kSecondNs;
  Samples samples;
  std::string error;
  collector_.Collect(now_ns_, &samples, &error);
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(std::get<EventSample>(samples[0]).time_ns, down_ns);
}

}  // namespace
}  // namespace c4::agent
