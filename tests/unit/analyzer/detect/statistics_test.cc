#include "analyzer/detect/statistics.h"

#include <gtest/gtest.h>

namespace c4::detect {
namespace {

TEST(StatisticsTest, MedianOfNoneOneEvenOdd) {
  EXPECT_EQ(Median({}), 0);
  EXPECT_EQ(Median({7}), 7);
  EXPECT_EQ(Median({4, 1, 3}), 3);
  EXPECT_EQ(Median({4, 1, 3, 2}), 2.5);
}

TEST(StatisticsTest, QuantileIsAnElement) {
  EXPECT_EQ(Quantile({}, 0.5), 0);
  EXPECT_EQ(Quantile({5, 1, 4, 2, 3}, 0.25), 2);
  EXPECT_EQ(Quantile({5, 1, 4, 2, 3}, 0), 1);
  EXPECT_EQ(Quantile({5, 1, 4, 2, 3}, 1), 5);
}

TEST(StatisticsTest, SpreadIgnoresOutliers) {
  EXPECT_EQ(Spread({3, 3, 3}), 0);
  EXPECT_NEAR(Spread({1, 2, 3, 4, 1000}), 1.4826, 1e-9);
}

TEST(StatisticsTest, MedianWithoutLeavesOneOut) {
  const std::vector<double> sorted{1, 2, 3, 4, 5};
  EXPECT_EQ(MedianWithout(sorted, 0), 3.5);
  EXPECT_EQ(MedianWithout(sorted, 2), 3);
  EXPECT_EQ(MedianWithout(sorted, 4), 2.5);
  EXPECT_EQ(MedianWithout({1, 9}, 0), 9);
  EXPECT_EQ(MedianWithout({1, 9}, 1), 1);
}

}  // namespace
}  // namespace c4::detect
