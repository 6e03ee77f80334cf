#include "common/clock.h"

#include <gtest/gtest.h>

namespace c4 {
namespace {

TEST(SystemClockTest, MonotonicNeverGoesBackAndRealtimeIsThisCentury) {
  const SystemClock clock;
  std::int64_t last = clock.MonotonicNs();
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t now = clock.MonotonicNs();
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_GT(clock.RealtimeNs(), 1'600'000'000'000'000'000);
}

TEST(ManualClockTest, MovesOnlyWhenTold) {
  ManualClock clock(10, 1000);
  EXPECT_EQ(clock.MonotonicNs(), 10);
  clock.Advance(5);
  EXPECT_EQ(clock.MonotonicNs(), 15);
  EXPECT_EQ(clock.RealtimeNs(), 1005);
  clock.StepRealtime(-500);
  EXPECT_EQ(clock.MonotonicNs(), 15);
  EXPECT_EQ(clock.RealtimeNs(), 505);
}

}  // namespace
}  // namespace c4
