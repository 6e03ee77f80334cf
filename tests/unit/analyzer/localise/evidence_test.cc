// clue, xid_table, gpu_clues, host_clues, configuration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/localise/configuration.h"
#include "analyzer/localise/gpu_clues.h"
#include "analyzer/localise/host_clues.h"
#include "analyzer/localise/xid_table.h"
#include "tests/unit/analyzer/localise/job_builder.h"

namespace c4::localise::testing {
namespace {

namespace kind = model::component_kind;

TEST(XidTableTest, RootsAndCascades) {
  for (const int root : {48, 64, 74, 79, 95, 119, 140, 149}) {
    EXPECT_EQ(MeaningOfXid(root).kind, XidClass::kHardware) << root;
    EXPECT_GE(MeaningOfXid(root).weight, 20) << root;
  }
  for (const int cascade : {45, 137, 145}) {
    EXPECT_EQ(MeaningOfXid(cascade).kind, XidClass::kCascade) << cascade;
    EXPECT_LT(MeaningOfXid(cascade).weight, 5) << cascade;
  }
  EXPECT_EQ(MeaningOfXid(13).kind, XidClass::kApplication);
  EXPECT_EQ(MeaningOfXid(9999).kind, XidClass::kNote);
  EXPECT_EQ(MeaningOfXid(-1).kind, XidClass::kNote);
}

model::EventRecord Xid(int code, const std::string& text) {
  return {"n0", At(1), "xid", "", code, "", 0, text};
}

TEST(XidTableTest, TextTellsParentAndSeverity) {
  EXPECT_EQ(MeaningOf(Xid(79, "Ch 1 caused by previous Xid 149")).kind, XidClass::kCascade);
  EXPECT_LE(MeaningOf(Xid(149, "NETIR Nonfatal Link 3")).weight, 3);
  EXPECT_GE(MeaningOf(Xid(149, "NETIR_LINK_DOWN Fatal Link 3")).weight, 50);
}

Clue Of(const std::string& node, int rank, double weight) {
  Clue clue;
  clue.part.kind = kind::kGpu;
  clue.part.node = node;
  clue.part.rank = rank;
  clue.weight = weight;
  return clue;
}

TEST(ClueTest, DecidesWhenStrongAndAhead) {
  Clue node;
  EXPECT_EQ(Decisive({}, &node), nullptr);
  EXPECT_EQ(Decisive(Joined({Of("n0", 0, 9)}), &node), nullptr);
  ASSERT_NE(Decisive(Joined({Of("n1", 4, 10), Of("n0", 0, 50)}), &node), nullptr);
  EXPECT_EQ(Decisive(Joined({Of("n1", 4, 10), Of("n0", 0, 50)}), &node)->part.node, "n0");
  EXPECT_EQ(Decisive(Joined({Of("n1", 4, 20), Of("n0", 0, 50)}), &node), nullptr);
  const Clue* both = Decisive(Joined({Of("n0", 1, 30), Of("n0", 0, 50)}), &node);
  ASSERT_NE(both, nullptr);
  EXPECT_EQ(both->part.kind, kind::kNode);
}

TEST(ClueTest, JoinedTakesTheStrongestOfAPart) {
  const auto clues = Joined({Of("n0", 0, 2), Of("n0", 0, 30), Of("n0", 1, 5)});
  ASSERT_EQ(clues.size(), 2U);
  EXPECT_EQ(clues[0].weight, 30);
}

TEST(GpuCluesTest, KindsWeighAsTheyShould) {
  JobBuilder job(1, 4);
  job.Event("n0", 5, "ecc_uncorrected", JobBuilder::Pci(0));
  job.Event("n0", 5, "nvlink_error", JobBuilder::Pci(1) + "/nvlink14");
  job.Event("n0", 5, "ecc_corrected", JobBuilder::Pci(2));
  job.Gauge("n0", JobBuilder::Pci(3), "nvml_ok", 0, 5);
  const auto clues = GpuClues(job.Now(30), job.ranks(), At(0));
  ASSERT_EQ(clues.size(), 4U);
  EXPECT_EQ(clues[0].part.rank, 0);
  EXPECT_EQ(clues[0].weight, 50);
  EXPECT_EQ(clues[1].part.rank, 3);
  EXPECT_EQ(clues[2].part.rank, 1);
  EXPECT_EQ(clues[3].part.rank, 2);
}

TEST(GpuCluesTest, FailedServiceIsASettingOfItsNode) {
  JobBuilder job(2, 2);
  job.Event("n1", 5, "service_failed", "", 0, "nvidia-fabricmanager.service");
  const auto clues = GpuClues(job.Now(30), job.ranks(), At(0));
  ASSERT_EQ(clues.size(), 1U);
  EXPECT_EQ(clues[0].part.kind, kind::kConfig);
  EXPECT_EQ(clues[0].part.node, "n1");
}

TEST(HostCluesTest, ActivityFromStateAndStack) {
  JobBuilder job(1, 1);
  const auto of = [&](double at) { return HostOf(job.Now(at), 0, At(6)).activity; };
  EXPECT_EQ(of(7), HostActivity::kUnknown);
  job.Host(0, 8, "S", 0.01, {"main", "queue.get"});
  EXPECT_EQ(of(8), HostActivity::kIdle);
  job.Host(0, 9, "R", 1, {"main", "loop"});
  EXPECT_EQ(of(9), HostActivity::kBusy);
  job.Host(0, 10, "D", 0.1, {"main", "read"}, 4e7, "nfs_wait");
  EXPECT_EQ(of(10), HostActivity::kInOut);
  job.Host(0, 11, "R", 1, {"ncclAllGather", "ncclLocalOpAppend"});
  EXPECT_EQ(of(11), HostActivity::kInLaunch);
  // Waiting for the others at set-up is not being stuck in a launch.
  job.Host(0, 12, "S", 0, {"ncclCommInitRankConfig", "bootstrapAllGather"});
  EXPECT_EQ(of(12), HostActivity::kIdle);
  job.Host(0, 13, "D", 0, {"main"}, 0, "nvidia_ioctl");
  EXPECT_EQ(of(13), HostActivity::kInDriver);
  EXPECT_EQ(of(9), HostActivity::kBusy);  // later samples have not happened yet
}

TEST(HostCluesTest, IdleSinceTheFirstOfTheRow) {
  JobBuilder job(1, 1);
  job.Host(0, 8, "R", 1, {}).Host(0, 20, "S", 0, {}).Host(0, 90, "S", 0, {});
  const HostClue clue = HostOf(job.Now(100), 0, At(6));
  EXPECT_EQ(clue.since, At(20));
  EXPECT_EQ(clue.last, At(90));
}

TEST(ConfigurationTest, BadValueNamesTheNodeAndASharedOneDoesNot) {
  JobBuilder job(2, 2);
  job.Gauge("n0", "host", "fabricmanager_active", 1).Gauge("n1", "host", "fabricmanager_active", 0);
  Configuration found = CompareNodes(job.Now(30), {"n0", "n1"}, Symptom::kHang);
  ASSERT_EQ(found.differences.size(), 1U);
  EXPECT_EQ(found.odd_node, "n1");
  EXPECT_TRUE(CompareNodes(job.Now(30), {"n0", "n1"}, Symptom::kSlow).differences.empty());
  JobBuilder both(2, 2);
  both.Gauge("n0", "host", "iommu", 1).Gauge("n1", "host", "iommu", 1);
  found = CompareNodes(both.Now(30), {"n0", "n1"}, Symptom::kHang);
  EXPECT_TRUE(found.differences.empty());
  EXPECT_EQ(found.shared.size(), 2U);
  EXPECT_EQ(found.odd_node, "");
}

TEST(ConfigurationTest, WithoutABadValueOnlyAMinorityOfOneIsOdd) {
  JobBuilder job(3, 2);
  job.Gauge("n0", "host", "nvlink_domain", 1).Gauge("n1", "host", "nvlink_domain", 2);
  EXPECT_TRUE(CompareNodes(job.Now(30), {"n0", "n1"}, Symptom::kHang).differences.empty());
  job.Gauge("n2", "host", "nvlink_domain", 1);
  EXPECT_EQ(CompareNodes(job.Now(30), {"n0", "n1", "n2"}, Symptom::kHang).odd_node, "n1");
}

TEST(ConfigurationTest, SeveralOddNodesAreNoOne) {
  JobBuilder job(3, 2);
  job.Gauge("n0", "mlx5_0", "usable", 0).Gauge("n1", "mlx5_0", "usable", 0);
  job.Gauge("n2", "mlx5_0", "usable", 1);
  const auto found = CompareNodes(job.Now(30), {"n0", "n1", "n2"}, Symptom::kHang);
  EXPECT_EQ(found.differences.size(), 2U);
  EXPECT_EQ(found.odd_node, "");
}

TEST(ConfigurationTest, SharedNicAgainstALikeNode) {
  JobBuilder job(2, 3);
  model::RankRecord second;
  second.job = "j";
  second.rank = 4;
  second.node = "n1";
  second.nic = "mlx5_0";
  job.Rank(second);
  const auto shared = FindSharedNics(job.job());
  ASSERT_EQ(shared.size(), 1U);
  EXPECT_EQ(shared[0].node, "n1");
  EXPECT_EQ(shared[0].nic, "mlx5_0");
  EXPECT_THAT(shared[0].ranks, ::testing::ElementsAre(3, 4));
  EXPECT_TRUE(FindSharedNics(JobBuilder(2, 3).job()).empty());
}

}  // namespace
}  // namespace c4::localise::testing
