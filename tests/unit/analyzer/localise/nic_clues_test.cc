#include "analyzer/localise/nic_clues.h"

#include <gtest/gtest.h>

#include "analyzer/localise/nic_errors.h"
#include "tests/unit/analyzer/localise/job_builder.h"

namespace c4::localise::testing {
namespace {

namespace kind = model::component_kind;

NicClues Find(JobBuilder& job) { return FindNicClues(job.Now(30), job.ranks(), At(0)); }

// The clue that decides; an empty one when none does.
Clue Decided(JobBuilder& job) {
  const NicClues found = Find(job);
  Clue node;
  const Clue* decisive = Decisive(found.clues, &node);
  return decisive == nullptr ? Clue{} : *decisive;
}

TEST(NicCluesTest, PortThatEndsDownIsItAndWhatOthersReportFollows) {
  JobBuilder job(2, 4);
  job.Event("n1", 5, "nic_link_down", "mlx5_3").Event("n1", 6, "nic_link_up", "mlx5_3");
  job.Event("n1", 7, "nic_link_down", "mlx5_3");
  job.NicErrors("n0", "mlx5_3", "req_transport_retries_exceeded", 1, "towards n1 mlx5_3");
  const Clue clue = Decided(job);
  EXPECT_EQ(clue.part.kind, kind::kNic);
  EXPECT_EQ(clue.part.node, "n1");
  EXPECT_EQ(clue.part.nic, "mlx5_3");
  EXPECT_EQ(clue.weight, 50);
}

TEST(NicCluesTest, PortThatCameBackWeighsLessAndTwiceMore) {
  JobBuilder job(2, 1);
  job.Event("n1", 5, "nic_link_down", "mlx5_0").Event("n1", 6, "nic_link_up", "mlx5_0");
  EXPECT_EQ(Decided(job).weight, 20);
  job.Event("n1", 7, "nic_link_down", "mlx5_0").Event("n1", 8, "nic_link_up", "mlx5_0");
  EXPECT_EQ(Decided(job).weight, 30);
}

TEST(NicCluesTest, NicThatNobodyUsesIsNoClue) {
  JobBuilder job(2, 2);
  job.Event("n1", 5, "nic_link_down", "storage0");
  EXPECT_TRUE(Find(job).clues.empty());
}

TEST(NicCluesTest, OneHopIsTheLinkWithItsRanks) {
  JobBuilder job(2, 4);
  job.NicErrors("n0", "mlx5_2", "req_transport_retries_exceeded", 1, "exceeded towards n1 mlx5_2");
  job.NicErrors("n1", "mlx5_2", "req_cqe_flush_error", 1);
  Clue clue = Decided(job);
  EXPECT_EQ(clue.part.kind, kind::kLink);
  EXPECT_EQ(clue.part.node, "n0");
  EXPECT_EQ(clue.part.rank, 2);
  EXPECT_EQ(clue.part.peer_node, "n1");
  EXPECT_EQ(clue.part.peer_rank, 6);
  // Without the text, the flushed queue is the far end all the same.
  JobBuilder mute(2, 4);
  mute.NicErrors("n1", "mlx5_2", "req_transport_retries_exceeded", 1);
  mute.NicErrors("n0", "mlx5_2", "req_cqe_flush_error", 1);
  clue = Decided(mute);
  EXPECT_EQ(clue.part.kind, kind::kLink);
  EXPECT_EQ(clue.part.node, "n1");
}

TEST(NicCluesTest, FlushAloneIsNothing) {
  JobBuilder job(2, 4);
  job.NicErrors("n1", "mlx5_2", "req_cqe_flush_error", 5);
  EXPECT_TRUE(Find(job).clues.empty());
}

TEST(NicCluesTest, ConstantDeviceWithVaryingPeersIsTheDevice) {
  JobBuilder job(4, 8);
  for (const char* peer : {"n1", "n2", "n3"}) {
    job.Error(5, 8,
              std::string("NET/IB : Got completion from peer ") + peer +
                  " with status=12 opcode=0 len=0 vendor err 129 (Send) localDev mlx5_5");
  }
  const Clue clue = Decided(job);
  EXPECT_EQ(clue.part.kind, kind::kNic);
  EXPECT_EQ(clue.part.node, "n0");
  EXPECT_EQ(clue.part.nic, "mlx5_5");
}

TEST(NicCluesTest, ConstantPeerWithVaryingDevicesIsThePeer) {
  JobBuilder job(4, 2);
  for (const int rank : {0, 2, 6}) {
    job.Error(rank, 8, "Got completion from peer n2 mlx5_0 with status=12 vendor err 129");
  }
  const Clue clue = Decided(job);
  EXPECT_EQ(clue.part.kind, kind::kNic);
  EXPECT_EQ(clue.part.node, "n2");
  EXPECT_EQ(clue.part.nic, "mlx5_0");
}

TEST(NicCluesTest, ThoseWhoAccuseEachOtherAccuseNobody) {
  JobBuilder job(2, 4);
  job.Error(0, 8, "Got completion from peer n1 with status=12 vendor err 129");
  job.Error(4, 8, "Got completion from peer n0 with status=12 vendor err 129");
  job.NicErrors("n0", "mlx5_0", "local_ack_timeout_err", 9);
  job.NicErrors("n1", "mlx5_0", "local_ack_timeout_err", 9);
  const NicClues found = Find(job);
  EXPECT_TRUE(found.clues.empty());
  EXPECT_EQ(found.symmetric.size(), 4U);
}

TEST(NicCluesTest, RolesPairUpToTheHop) {
  JobBuilder job(3, 2);
  job.NicErrors("n0", "mlx5_1", "packet_seq_err", 500);
  job.NicErrors("n2", "mlx5_1", "out_of_sequence", 480);
  job.NicErrors("n1", "mlx5_0", "out_of_sequence", 1);  // the background
  const Clue clue = Decided(job);
  EXPECT_EQ(clue.part.kind, kind::kLink);
  EXPECT_EQ(clue.part.node, "n0");
  EXPECT_EQ(clue.part.peer_node, "n2");
}

TEST(NicCluesTest, OneSenderWithManyReceiversIsTheSender) {
  JobBuilder job(4, 1);
  job.NicErrors("n3", "mlx5_0", "roce_adp_retrans_to", 900);
  for (const char* node : {"n0", "n1", "n2"}) {
    job.NicErrors(node, "mlx5_0", "out_of_sequence", 300);
  }
  const Clue clue = Decided(job);
  EXPECT_EQ(clue.part.kind, kind::kNic);
  EXPECT_EQ(clue.part.node, "n3");
}

TEST(NicErrorsTest, WordsAreWholeAndAfterEffectsAreNoFailures) {
  EXPECT_NE(FindWord("from peer n1 with", "n1"), std::string::npos);
  EXPECT_EQ(FindWord("from peer n12 with", "n1"), std::string::npos);
  EXPECT_EQ(FindWord("gpu-n1", "n1"), std::string::npos);
  EXPECT_EQ(FindWord("", ""), std::string::npos);
  EXPECT_TRUE(IsTransportFailure("Got completion with status=12 opcode=0 vendor err 129"));
  EXPECT_FALSE(IsTransportFailure("Got completion with status=5 opcode=0 vendor err 249"));
  EXPECT_FALSE(IsTransportFailure("CUDA out of memory"));
}

}  // namespace
}  // namespace c4::localise::testing
