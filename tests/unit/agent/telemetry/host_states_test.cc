#include "agent/telemetry/host_states.h"

#include <memory>
#include <string>

#include "agent/limits.h"
#include "gtest/gtest.h"
#include "tests/unit/agent/scratch.h"

namespace c4::agent {
namespace {

class HostStatesTest : public ::testing::Test {
 protected:
  void WriteProcess(char state, int ticks, const std::string& wchan, int read_bytes = 0,
                    int start_ticks = 777) {
    proc_.Write("42/stat", "42 (a) " + std::string(1, state) + " 1 1 1 0 -1 1 1 1 1 1 " +
                               std::to_string(ticks) + " 0 0 0 20 0 9 0 " +
                               std::to_string(start_ticks) + " 1 1\n");
    proc_.Write("42/wchan", wchan);
    proc_.Write("42/io", "read_bytes: " + std::to_string(read_bytes) + "\nwrite_bytes: 0\n");
  }
  Outcome Collect() {
    now_ns_ += kSecondNs;
    samples_.clear();
    error_.clear();
    return collector_.Collect(now_ns_, &samples_, &error_);
  }
  const HostStateSample& State() const { return std::get<HostStateSample>(samples_.at(0)); }

  testing::Scratch proc_;
  std::shared_ptr<WatchedProcesses> processes_ = [] {
    auto processes = std::make_shared<WatchedProcesses>();
    processes->Set({{42, 777, ""}});
    return processes;
  }();
  HostStates collector_{proc_.path(), processes_, 100};
  std::int64_t now_ns_ = 100 * kSecondNs;
  Samples samples_;
  std::string error_;
};

TEST_F(HostStatesTest, RatesNeedTwoLooks) {
  WriteProcess('R', 1000, "0", 0);
  EXPECT_EQ(Collect(), Outcome::kNoData);
  WriteProcess('R', 1150, "0", 4096);
  EXPECT_EQ(Collect(), Outcome::kData);
  EXPECT_EQ(State().pid, 42);
  EXPECT_EQ(State().state, 'R');
  EXPECT_DOUBLE_EQ(State().cpu_cores, 1.5);
  EXPECT_DOUBLE_EQ(State().read_bytes_per_s, 4096);
  EXPECT_EQ(State().wchan, "");
}

TEST_F(HostStatesTest, TellsWhatChangesAndElseEveryFiveSeconds) {
  int ticks = 0;
  const auto look = [&](char state, const std::string& wchan) {
    WriteProcess(state, ticks += 100, wchan);
    return Collect() == Outcome::kData;
  };
  look('R', "0");
  EXPECT_TRUE(look('R', "0"));
  EXPECT_FALSE(look('S', "futex_wait"));  // busy: sleeps now and then
  EXPECT_FALSE(look('R', "0"));
  EXPECT_TRUE(look('D', "nfs_wait"));
  EXPECT_FALSE(look('D', "nfs_wait"));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(look('D', "nfs_wait"));
  EXPECT_TRUE(look('D', "nfs_wait"));
}

TEST_F(HostStatesTest, AnIdleProcessThatWaitsElsewhereIsTold) {
  WriteProcess('S', 100, "futex_wait");
  Collect();
  Collect();
  WriteProcess('S', 100, "pipe_read");
  EXPECT_EQ(Collect(), Outcome::kData);
  EXPECT_EQ(State().wchan, "pipe_read");
}

TEST_F(HostStatesTest, AReusedPidIsAnotherProcess) {
  WriteProcess('R', 1000, "0");
  Collect();
  WriteProcess('R', 1000, "0", 0, 999);
  EXPECT_EQ(Collect(), Outcome::kFailed);
  EXPECT_FALSE(error_.empty());
}

TEST_F(HostStatesTest, NobodyToLookAtIsNoFailure) {
  processes_->Set({});
  EXPECT_EQ(Collect(), Outcome::kNoData);
}

TEST_F(HostStatesTest, WithoutTheRightsForIoTheRestIsTold) {
  WriteProcess('R', 1000, "0");
  proc_.Remove("42/io");
  proc_.Remove("42/wchan");
  Collect();
  EXPECT_EQ(Collect(), Outcome::kData);
  EXPECT_EQ(State().read_bytes_per_s, 0);
}

}  // namespace
}  // namespace c4::agent
