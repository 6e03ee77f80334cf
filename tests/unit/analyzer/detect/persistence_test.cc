#include "analyzer/detect/persistence.h"

#include <gtest/gtest.h>

#include <random>

namespace c4::detect {
namespace {

constexpr double kEffect = 0.03;

// Steps until the sum reaches what confirms; 0: never within `steps`.
int StepsToConfirm(double mean, double sigma, int steps, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<> excess(mean, sigma);
  Persistence persistence;
  for (int step = 1; step <= steps; ++step) {
    persistence.Add(excess(random), sigma, kEffect, step);
    if (persistence.sum() >= Persistence::kConfirmSum) {
      return step;
    }
  }
  return 0;
}

TEST(PersistenceTest, NoiseDoesNotAddUp) {
  for (const double sigma : {0.004, 0.02, 0.1}) {
    EXPECT_EQ(StepsToConfirm(0, sigma, 300'000, 1), 0) << sigma;
  }
}

TEST(PersistenceTest, TenPercentTakeFiveStepsAndFivePercentTwenty) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const int ten = StepsToConfirm(0.10, 0.015, 100, seed);
    EXPECT_GT(ten, 0);
    EXPECT_LE(ten, 5);
    const int five = StepsToConfirm(0.05, 0.015, 100, seed);
    EXPECT_GT(five, 0);
    EXPECT_LE(five, 20);
  }
}

TEST(PersistenceTest, OneHugeStepIsNoAlarm) {
  Persistence persistence;
  persistence.Add(50, 0.01, kEffect, 1);
  EXPECT_LT(persistence.sum(), Persistence::kSuspectSum);
  persistence.Add(0, 0.01, kEffect, 2);
  persistence.Add(0, 0.01, kEffect, 3);
  persistence.Add(0, 0.01, kEffect, 4);
  EXPECT_FALSE(persistence.active());
}

TEST(PersistenceTest, OnsetIsWhereTheExcessBegan) {
  std::mt19937 random(4);
  std::normal_distribution<> noise(0, 0.01);
  Persistence persistence;
  for (int step = 0; step < 100; ++step) {
    // Before the change just enough to keep the sum above zero.
    persistence.Add((step < 60 ? 0.016 : 0.12) + noise(random), 0.01, kEffect, step);
  }
  EXPECT_NEAR(static_cast<double>(persistence.onset()), 60, 1);
  EXPECT_EQ(persistence.steps(), 100 - persistence.onset());
  EXPECT_NEAR(persistence.mean(), 0.12, 0.01);
}

TEST(PersistenceTest, RecoveryTakesNoLongerThanTheCap) {
  Persistence persistence;
  for (int step = 0; step < 1000; ++step) {
    persistence.Add(0.2, 0.01, kEffect, step);
  }
  int steps = 0;
  while (persistence.active()) {
    persistence.Add(0, 0.01, kEffect, 1000 + ++steps);
  }
  EXPECT_LE(steps, 24);
}

}  // namespace
}  // namespace c4::detect
