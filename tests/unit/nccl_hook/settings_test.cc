#include "nccl_hook/settings.h"

#include <gtest/gtest.h>

#include "nccl_hook/timing/poll_pace.h"

namespace c4::hook {
namespace {

TEST(ChooseTiming, FollowsTheVariable) {
  EXPECT_EQ(ChooseTiming("host", nullptr), abi::TimingMode::kHost);
  EXPECT_EQ(ChooseTiming("progress", nullptr), abi::TimingMode::kProgress);
  EXPECT_EQ(ChooseTiming("events", "1"), abi::TimingMode::kEvents);
}

TEST(ChooseTiming, SparesTheOverlapOfSingleQueueJobs) {
  EXPECT_EQ(ChooseTiming(nullptr, nullptr), abi::TimingMode::kEvents);
  EXPECT_EQ(ChooseTiming("auto", "8"), abi::TimingMode::kEvents);
  EXPECT_EQ(ChooseTiming("auto", "1"), abi::TimingMode::kProgress);
  EXPECT_EQ(ChooseTiming("nonsense", "1"), abi::TimingMode::kProgress);
}

TEST(IsSwitchedOff, WantsAZero) {
  EXPECT_TRUE(IsSwitchedOff("0"));
  EXPECT_FALSE(IsSwitchedOff("1"));
  EXPECT_FALSE(IsSwitchedOff(nullptr));
}

TEST(PollPace, IsQuickWhileThingsMove) {
  PollPace pace;
  EXPECT_EQ(pace.Next({true, true}, true), PollPace::kTimedMinNs);
  EXPECT_EQ(pace.Next({true, true}, false), PollPace::kProgressMinNs);
}

TEST(PollPace, SlowsDownInAHangButNotToIdle) {
  PollPace pace;
  pace.Next({true, true}, true);
  std::int64_t sleep_ns = 0;
  for (int i = 0; i < 1000; ++i) {
    sleep_ns = pace.Next({true, false}, true);
  }
  EXPECT_EQ(sleep_ns, PollPace::kTimedMaxNs);
}

TEST(PollPace, IdlesOnlyAfterAQuietSecond) {
  PollPace pace;
  pace.Next({true, true}, true);
  std::int64_t slept_ns = 0;
  while (pace.Next({false, false}, true) != PollPace::kIdleNs) {
    slept_ns += PollPace::kTimedMaxNs;
    ASSERT_LT(slept_ns, 2'000'000'000);
  }
  EXPECT_GT(slept_ns, 900'000'000);
  EXPECT_EQ(pace.Next({true, true}, true), PollPace::kTimedMinNs);
}

}  // namespace
}  // namespace c4::hook
