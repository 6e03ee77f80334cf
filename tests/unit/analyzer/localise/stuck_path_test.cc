#include "analyzer/localise/stuck_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/analyzer/localise/job_builder.h"

namespace c4::localise::testing {
namespace {

namespace action = model::action;
namespace kind = model::component_kind;

TEST(StuckPathTest, WithoutEvidenceManySuspectsAreUnknown) {
  const model::Finding finding = JobBuilder(2, 8).Hang().Diagnose(30);
  EXPECT_EQ(finding.verdict_class, model::verdict_class::kCommunicationHang);
  EXPECT_EQ(finding.component.kind, kind::kUnknown);
  EXPECT_EQ(finding.action, action::kRestart);
  EXPECT_FALSE(finding.weakened_by.empty());
}

TEST(StuckPathTest, ThosePastItAreNotAccused) {
  JobBuilder job(2, 8);
  job.Hang().Op(12, "W", job.next() + 1, {6.1}).Op(13, "W", job.next() + 1, {6.1});
  EXPECT_EQ(job.Diagnose(30).component.kind, kind::kUnknown);
}

TEST(StuckPathTest, TwoNodesWithOneNicEachAreOneOfThree) {
  const model::Finding finding = JobBuilder(2, 1).Hang().Diagnose(30);
  EXPECT_EQ(finding.component.kind, kind::kLink);
  EXPECT_EQ(finding.suspects.size(), 3U);
  EXPECT_EQ(finding.action, action::kRestart);
}

TEST(StuckPathTest, RootXidAndNotItsEchoes) {
  for (const int gpu : {0, 3}) {
    JobBuilder job(4, 4);
    job.Hang().Event("n2", 6.2, "xid", JobBuilder::Pci(gpu), 149, "NETIR_LINK_DOWN Fatal Link 14");
    for (const char* node : {"n0", "n1", "n3"}) {
      job.Event(node, 6.1, "xid", JobBuilder::Pci(0), 145, "RLW_REMAP Nonfatal");
    }
    const model::Finding finding = job.Diagnose(30);
    EXPECT_EQ(finding.component.kind, kind::kGpu);
    EXPECT_EQ(finding.component.node, "n2");
    EXPECT_EQ(finding.component.gpu, gpu);
    EXPECT_EQ(finding.action, action::kIsolateRestart);
  }
}

TEST(StuckPathTest, EchoesAloneConvictNobody) {
  JobBuilder job(4, 4);
  job.Hang();
  for (const char* node : {"n0", "n1"}) {
    job.Event(node, 6.1, "xid", JobBuilder::Pci(0), 145, "RLW_REMAP Nonfatal");
    job.Event(node, 6.1, "xid", JobBuilder::Pci(1), 45, "Ch 00000004");
  }
  EXPECT_EQ(job.Diagnose(30).component.kind, kind::kUnknown);
}

TEST(StuckPathTest, TwoRootsOfOneMachineAreTheMachineAndOfTwoNobody) {
  JobBuilder one(4, 4);
  one.Hang();
  one.Event("n2", 6.1, "xid", JobBuilder::Pci(0), 79, "")
      .Event("n2", 6.2, "xid", JobBuilder::Pci(1), 79, "");
  EXPECT_EQ(one.Diagnose(30).component.kind, kind::kNode);
  EXPECT_EQ(one.Diagnose(30).component.node, "n2");
  JobBuilder two(4, 4);
  two.Hang();
  two.Event("n2", 6.1, "xid", JobBuilder::Pci(0), 79, "")
      .Event("n3", 6.2, "xid", JobBuilder::Pci(1), 79, "");
  EXPECT_EQ(two.Diagnose(30).component.kind, kind::kUnknown);
}

TEST(StuckPathTest, EvidenceOfAnotherJobsGpuIsNotTaken) {
  JobBuilder job(2, 2);
  job.Hang()
      .Event("n0", 6.1, "xid", "0000:99:00.0", 79, "")
      .Event("n7", 6.1, "xid", JobBuilder::Pci(0), 79, "");
  EXPECT_EQ(job.Diagnose(30).component.kind, kind::kUnknown);
}

TEST(StuckPathTest, OldEvidenceIsNotTaken) {
  JobBuilder job(2, 8);
  job.Hang().Event("n0", -60, "xid", JobBuilder::Pci(0), 79, "");
  EXPECT_EQ(job.Diagnose(30).component.kind, kind::kUnknown);
}

TEST(StuckPathTest, NeverWorkedAndOneNodeCannotOpenANicIsAConfiguration) {
  for (const char* odd : {"n0", "n1"}) {
    JobBuilder job(2, 4, false);
    job.Hang();
    for (const char* node : {"n0", "n1"}) {
      job.Gauge(node, "mlx5_1", "usable", std::string(node) == odd ? 0 : 1);
    }
    const model::Finding finding = job.Diagnose(60, true);
    EXPECT_EQ(finding.component.kind, kind::kConfig);
    EXPECT_EQ(finding.component.node, odd);
    EXPECT_EQ(finding.action, action::kAlert);
  }
}

TEST(StuckPathTest, ADifferenceDoesNotExplainWhatHasWorked) {
  JobBuilder job(2, 8);
  job.Hang().Gauge("n0", "mlx5_1", "usable", 1).Gauge("n1", "mlx5_1", "usable", 0);
  EXPECT_EQ(job.Diagnose(60).component.kind, kind::kUnknown);
}

TEST(StuckPathTest, NeverWorkedWithNothingKnownIsUnknown) {
  const model::Finding finding = JobBuilder(2, 8, false).Hang().Diagnose(60, true);
  EXPECT_EQ(finding.component.kind, kind::kUnknown);
  EXPECT_EQ(finding.weakened_by.size(), 2U);
}

TEST(StuckPathTest, NeverWorkedInsideOneMachineWithItsIommuOnIsAConfiguration) {
  JobBuilder job(1, 4, false);
  job.Hang().Gauge("n0", "host", "iommu", 1).Gauge("n0", "host", "acs", 1);
  const model::Finding finding = job.Diagnose(60, true);
  EXPECT_EQ(finding.component.kind, kind::kConfig);
  EXPECT_EQ(finding.component.node, "n0");
}

TEST(StuckPathTest, TwoGpusThatWorkWithOthersAreThePathBetweenThem) {
  JobBuilder job(1, 4);
  job.Communicator("A", {2, 3}).Op(2, "A", 0, {6, 6}).Op(3, "A", 0, {6, 6});
  const model::Finding finding = job.Diagnose(30);
  EXPECT_EQ(finding.component.kind, kind::kLink);
  EXPECT_EQ(finding.component.rank, 2);
  EXPECT_EQ(finding.component.peer_rank, 3);
  EXPECT_EQ(finding.action, action::kAlert);
  // Without having worked with others, either may be it.
  JobBuilder fresh(1, 4, false);
  fresh.Communicator("A", {2, 3}).Op(2, "A", 0, {6, 6}).Op(3, "A", 0, {6, 6});
  EXPECT_EQ(fresh.Diagnose(60, true).component.kind, kind::kUnknown);
}

TEST(StuckPathTest, ConnectionThatStoppedFirstIsIt) {
  JobBuilder job(4, 1);
  job.Hang();
  for (const int rank : job.ranks()) {
    const int peer = (rank + 1) % 4;
    const double last = rank == 1 ? 7 : 9;  // the ring drains behind the one that broke
    for (double to = 7; to <= 20; to += 1) {
      job.Flow(rank, peer, to, to <= last ? 1 << 20 : 0, 0.1, 3);
    }
  }
  const model::Finding finding = job.Diagnose(30);
  EXPECT_EQ(finding.component.kind, kind::kLink);
  EXPECT_EQ(finding.component.rank, 1);
  EXPECT_EQ(finding.component.peer_rank, 2);
}

}  // namespace
}  // namespace c4::localise::testing
