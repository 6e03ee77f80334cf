#include "common/backoff.h"

#include <gtest/gtest.h>

namespace c4 {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

TEST(BackoffTest, CeilingDoublesUpToTheMaximum) {
  Backoff backoff(
      {.initial_ns = 100 * kMillisecond, .maximum_ns = 350 * kMillisecond, .minimum_ns = 1},
      [] { return 0.5; });
  EXPECT_EQ(backoff.NextNs(), 50 * kMillisecond);
  EXPECT_EQ(backoff.NextNs(), 100 * kMillisecond);
  EXPECT_EQ(backoff.NextNs(), 175 * kMillisecond);
  EXPECT_EQ(backoff.NextNs(), 175 * kMillisecond);
}

TEST(BackoffTest, NeverBelowTheMinimum) {
  Backoff backoff({}, [] { return 0.0; });
  EXPECT_EQ(backoff.NextNs(), Backoff::Options{}.minimum_ns);
}

TEST(BackoffTest, ResetStartsAgain) {
  Backoff backoff(
      {.initial_ns = 100 * kMillisecond, .maximum_ns = 800 * kMillisecond, .minimum_ns = 1},
      [] { return 0.999; });
  const std::int64_t first = backoff.NextNs();
  EXPECT_GT(backoff.NextNs(), first);
  backoff.Reset();
  EXPECT_EQ(backoff.NextNs(), first);
}

}  // namespace
}  // namespace c4
