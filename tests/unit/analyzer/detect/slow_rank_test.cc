#include "analyzer/detect/slow_rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/analyzer/detect/two_level_job.h"

namespace c4::detect::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kFault = 15;

std::string Text(const std::vector<model::Finding>& findings) {
  std::string text;
  for (const model::Finding& finding : findings) {
    text += finding.summary + "\n";
  }
  return text;
}

// Rank 5 changes from step kFault on.
TwoLevelJob From(const std::function<void(int layer, Work*)>& change) {
  TwoLevelJob job;
  job.change = [change](int step, int layer, int rank, Work* work) {
    if (step >= kFault && rank == 5) {
      change(layer, work);
    }
  };
  return job;
}

TEST(SlowRankTest, EvenJobHasNoFinding) {
  TwoLevelJob job;
  SlowRankDetector detector;
  std::vector<model::Finding> seen;
  job.Run(400, &detector, &seen);
  EXPECT_THAT(Text(seen), IsEmpty());
  EXPECT_GT(detector.Steps(), 390);
  EXPECT_NEAR(static_cast<double>(detector.Step()), kLayers * (kLayer + 2e6) + 3e6, 20e6);
}

// Not its tensor neighbour, which comes as late to the data-parallel reductions.
TEST(SlowRankTest, SlowGpuIsNamedAndNotWhoIsLateBecauseOfIt) {
  for (const double percent : {10, 20, 50}) {
    TwoLevelJob job = From([&](int, Work* work) { work->compute *= 1 + percent / 100; });
    SlowRankDetector detector;
    std::vector<model::Finding> seen;
    const auto last = job.Run(kFault + 12, &detector, &seen);
    ASSERT_THAT(last, SizeIs(1)) << percent;
    EXPECT_EQ(last[0].component.kind, model::component_kind::kGpu);
    EXPECT_EQ(last[0].component.rank, 5);
    EXPECT_NE(last[0].confirmed, 0);
    for (const model::Finding& finding : seen) {
      EXPECT_EQ(finding.component.rank, 5);
    }
  }
}

TEST(SlowRankTest, FivePercentAreFoundWithinTwentyStepsAndOneIsNot) {
  TwoLevelJob job = From([&](int, Work* work) { work->compute *= 1.05; });
  SlowRankDetector detector;
  auto last = job.Run(kFault + 20, &detector);
  ASSERT_THAT(last, SizeIs(1));
  EXPECT_EQ(last[0].component.rank, 5);
  EXPECT_NE(last[0].confirmed, 0);
  TwoLevelJob healthy = From([&](int, Work* work) { work->compute *= 1.01; });
  SlowRankDetector other;
  std::vector<model::Finding> seen;
  healthy.Run(400, &other, &seen);
  EXPECT_THAT(Text(seen), IsEmpty());
}

TEST(SlowRankTest, OnsetIsTheStepInWhichItBegan) {
  TwoLevelJob job = From([&](int, Work* work) { work->compute *= 1.2; });
  SlowRankDetector detector;
  job.Run(kFault, &detector);
  const model::TimeNs before = job.model().last_movement();
  const auto last = job.Run(12, &detector);
  ASSERT_THAT(last, SizeIs(1));
  EXPECT_NEAR(static_cast<double>(last[0].onset - before), 0, 0.5e9);
}

TEST(SlowRankTest, LateHostIsTheProcess) {
  TwoLevelJob job = From([&](int layer, Work* work) {
    work->host_late = layer == 0 ? 80 * model::kMillisecond : 0;  // its data loader
  });
  SlowRankDetector detector;
  const auto last = job.Run(kFault + 12, &detector);
  ASSERT_THAT(last, SizeIs(1));
  EXPECT_EQ(last[0].component.kind, model::component_kind::kRank);
  EXPECT_EQ(last[0].component.rank, 5);
  EXPECT_EQ(last[0].severity, model::Severity::kFault);
}

TEST(SlowRankTest, MoreWorkInOnePartOfTheStepIsUnevenAndNoSlowGpu) {
  TwoLevelJob job = From([&](int layer, Work* work) {
    work->compute *= layer == 3 ? 1.8 : 1;  // an expert with more tokens
  });
  SlowRankDetector detector;
  std::vector<model::Finding> seen;
  job.Run(kFault + 30, &detector, &seen);
  for (const model::Finding& finding : seen) {
    EXPECT_EQ(finding.severity, model::Severity::kInfo) << finding.summary;
  }
}

TEST(SlowRankTest, WorkThatVariesFromStepToStepIsNoFault) {
  TwoLevelJob job;
  std::mt19937 random(3);
  std::map<std::pair<int, int>, double> factor;  // sequence length, by step and data-parallel rank
  job.change = [&](int step, int, int rank, Work* work) {
    const auto [entry, added] = factor.emplace(std::pair{step, rank / kTensor}, 1);
    if (added) {
      entry->second = std::uniform_real_distribution<>(0.7, 1.3)(random);
    }
    work->compute *= entry->second;
  };
  SlowRankDetector detector;
  std::vector<model::Finding> seen;
  job.Run(1000, &detector, &seen);
  EXPECT_THAT(Text(seen), IsEmpty());
}

TEST(SlowRankTest, PauseOnceAndPausesThatRotateAreNoFault) {
  TwoLevelJob job;
  job.change = [](int step, int layer, int rank, Work* work) {
    if (layer == 2 && step % kRanks == rank) {
      work->compute += 300e6;  // garbage collection
    }
    if (step == 40 && rank == 0 && layer == 0) {
      work->host_late = 20e9;  // a checkpoint
    }
  };
  SlowRankDetector detector;
  std::vector<model::Finding> seen;
  job.Run(200, &detector, &seen);
  EXPECT_THAT(Text(seen), IsEmpty());
}

TEST(SlowRankTest, LostRecordsDoNotHideIt) {
  TwoLevelJob job = From([&](int, Work* work) { work->compute *= 1.2; });
  job.lost = 0.02;
  SlowRankDetector detector;
  std::vector<model::Finding> seen;
  const auto last = job.Run(kFault + 30, &detector, &seen);
  ASSERT_THAT(last, SizeIs(1));
  EXPECT_EQ(last[0].component.rank, 5);
  for (const model::Finding& finding : seen) {
    EXPECT_EQ(finding.component.rank, 5);
  }
}

TEST(SlowRankTest, RecoveryEndsIt) {
  TwoLevelJob job;
  job.change = [](int step, int, int rank, Work* work) {
    work->compute *= rank == 5 && step >= kFault && step < 40 ? 1.2 : 1;
  };
  SlowRankDetector detector;
  EXPECT_THAT(job.Run(38, &detector), SizeIs(1));
  EXPECT_THAT(job.Run(40, &detector), IsEmpty());
}

TEST(SlowRankTest, TwoSlowGpusAreBothNamedAndAllOfANodeAreTheNode) {
  TwoLevelJob job;
  job.change = [](int step, int, int rank, Work* work) {
    work->compute *= step >= kFault && (rank == 2 || rank == 7) ? 1.25 : 1;
  };
  SlowRankDetector detector;
  const auto last = job.Run(kFault + 20, &detector);
  std::vector<int> ranks;
  for (const model::Finding& finding : last) {
    ranks.push_back(finding.component.rank.value_or(-1));
  }
  EXPECT_THAT(ranks, ::testing::UnorderedElementsAre(2, 7));

  TwoLevelJob hot;
  hot.change = [](int step, int, int rank, Work* work) {
    work->compute *= step >= kFault && rank / 2 == 1 ? 1.25 : 1;
  };
  SlowRankDetector other;
  const auto node = hot.Run(kFault + 20, &other);
  ASSERT_THAT(node, SizeIs(1));
  EXPECT_EQ(node[0].component.kind, model::component_kind::kNode);
  EXPECT_EQ(node[0].component.node, "n1");
}

}  // namespace
}  // namespace c4::detect::testing
