// slow_rank, lost_process.
#include "analyzer/localise/slow_rank.h"

#include <gtest/gtest.h>

#include "analyzer/localise/lost_process.h"
#include "analyzer/model/describe.h"
#include "tests/unit/analyzer/localise/job_builder.h"

namespace c4::localise::testing {
namespace {

namespace action = model::action;
namespace kind = model::component_kind;

// Rank 1 of four comes 200 ms late to each of ten collectives, and the others wait for it.
JobBuilder Late() {
  JobBuilder job(1, 4);
  for (std::uint64_t step = 0; step < 10; ++step) {
    const double begin = 10 + static_cast<double>(step);
    for (int rank = 0; rank < 4; ++rank) {
      job.Op(rank, "W", 10 + step, {begin, begin + (rank == 1 ? 0.2 : 0), begin + 0.3});
    }
  }
  return job;
}

std::vector<model::Finding> Found(const Context& context, int rank) {
  model::Finding finding;
  finding.verdict_class = model::verdict_class::kNonCommunicationSlow;
  finding.component = model::RankComponent(context.job, rank);
  finding.action = action::kAlert;
  finding.confidence = 0.92;
  finding.onset = At(10);
  finding.evidence.push_back({"collectives", At(10), "share of the step", 20, "%"});
  return {finding};
}

TEST(SlowRankTest, WhoKeepsNobodyWaitingIsNotSlow) {
  JobBuilder job = Late();
  const Context context = job.Now(25);
  EXPECT_NEAR(WaitCaused(context.job, 1, At(10), At(25)), 0.2, 0.02);
  EXPECT_EQ(ExplainSlowRanks(context, Found(context, 1)).size(), 1U);
  EXPECT_TRUE(ExplainSlowRanks(context, Found(context, 2)).empty());
}

TEST(SlowRankTest, ThrottledGpuIsTheGpu) {
  JobBuilder job = Late();
  job.Event("n0", 12, "thermal_throttle", JobBuilder::Pci(1), 64, "HW thermal slowdown active");
  job.Event("n0", 12, "thermal_throttle", JobBuilder::Pci(2), 64, "HW thermal slowdown active");
  const Context context = job.Now(25);
  const auto finding = ExplainSlowRanks(context, Found(context, 1));
  ASSERT_FALSE(finding.empty());
  EXPECT_EQ(finding[0].component.kind, kind::kGpu);
  EXPECT_EQ(finding[0].component.rank, 1);
  EXPECT_EQ(finding[0].action, action::kIsolateRestart);
}

TEST(SlowRankTest, MoreWorkIsNoFault) {
  JobBuilder job = Late();
  for (int gpu = 0; gpu < 4; ++gpu) {
    job.Gauge("n0", JobBuilder::Pci(gpu), "tokens_per_step", gpu == 1 ? 6000 : 4096, 12);
  }
  const Context context = job.Now(25);
  const auto finding = ExplainSlowRanks(context, Found(context, 1));
  ASSERT_FALSE(finding.empty());
  EXPECT_EQ(finding[0].severity, model::Severity::kInfo);
  EXPECT_EQ(finding[0].component.kind, kind::kSoftware);
}

TEST(SlowRankTest, FewerCpusIsASetting) {
  JobBuilder job = Late();
  for (int gpu = 0; gpu < 4; ++gpu) {
    job.Gauge("n0", JobBuilder::Pci(gpu), "rank_cpus_allowed", gpu == 1 ? 1 : 24);
  }
  const Context context = job.Now(25);
  const auto finding = ExplainSlowRanks(context, Found(context, 1));
  ASSERT_FALSE(finding.empty());
  EXPECT_EQ(finding[0].component.kind, kind::kConfig);
  EXPECT_EQ(finding[0].component.node, "n0");
  EXPECT_EQ(finding[0].action, action::kAlert);
}

// All ranks of n1 late.
std::vector<model::Finding> WholeNodeSlow(JobBuilder* job) {
  for (std::uint64_t step = 0; step < 10; ++step) {
    const double begin = 10 + static_cast<double>(step);
    for (int rank = 0; rank < 4; ++rank) {
      job->Op(rank, "W", 10 + step, {begin, begin + (rank >= 2 ? 0.2 : 0), begin + 0.3});
    }
  }
  const Context context = job->Now(25);
  std::vector<model::Finding> found = Found(context, 2);
  found[0].suspects = {{found[0].component, 0.5}};
  found[0].component = model::Component{};
  found[0].component.kind = kind::kNode;
  found[0].component.node = "n1";
  return ExplainSlowRanks(context, found);
}

TEST(SlowRankTest, AllRanksOfOneMachineAreTheMachineOrItsSetting) {
  JobBuilder plain(2, 2);
  auto finding = WholeNodeSlow(&plain);
  ASSERT_FALSE(finding.empty());
  EXPECT_EQ(finding[0].component.kind, kind::kNode);
  EXPECT_EQ(finding[0].component.node, "n1");
  JobBuilder bound(2, 2);
  for (int gpu = 0; gpu < 2; ++gpu) {
    bound.Gauge("n0", JobBuilder::Pci(gpu), "rank_numa_node", 0);
    bound.Gauge("n1", JobBuilder::Pci(gpu), "rank_numa_node", 1);
  }
  finding = WholeNodeSlow(&bound);
  EXPECT_EQ(finding[0].component.kind, kind::kConfig);
  EXPECT_EQ(finding[0].component.node, "n1");
  JobBuilder acs(2, 2);
  acs.Gauge("n0", "host", "acs", 0).Gauge("n1", "host", "acs", 1);
  finding = WholeNodeSlow(&acs);
  EXPECT_EQ(finding[0].component.kind, kind::kConfig);
  EXPECT_EQ(finding[0].component.node, "n1");
}

TEST(LostProcessTest, GpuThatFailedUnderItAndNotTheOther) {
  JobBuilder job(1, 4);
  job.Event("n0", 5, "xid", JobBuilder::Pci(1), 48, "DBE");
  const Context context = job.Now(25);
  model::Finding finding;
  finding.verdict_class = model::verdict_class::kProcessFailure;
  finding.onset = At(6);
  finding.component = model::RankComponent(context.job, 1);
  model::Finding other = finding;
  ExplainLostProcess(context, &finding);
  EXPECT_EQ(finding.component.kind, kind::kGpu);
  EXPECT_EQ(finding.action, action::kIsolateRestart);
  other.component = model::RankComponent(context.job, 2);
  ExplainLostProcess(context, &other);
  EXPECT_EQ(other.component.kind, kind::kRank);
}

}  // namespace
}  // namespace c4::localise::testing
