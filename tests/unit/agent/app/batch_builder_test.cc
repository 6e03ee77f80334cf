#include "agent/app/batch_builder.h"

#include <string>
#include <vector>

#include "common/clock.h"
#include "gtest/gtest.h"

namespace c4::agent {
namespace {

constexpr std::int64_t kOffset = 1'750'000'000'000'000'000 - 1'000'000'000;

class BatchBuilderTest : public ::testing::Test {
 protected:
  v1::Batch Decode(const Payload& payload) {
    v1::Batch batch;
    EXPECT_TRUE(batch.ParseFromString(payload.control + payload.operations));
    return batch;
  }

  ManualClock clock_;
  BatchBuilder builder_{NodeTime(clock_)};
  const RankKey key_{"job", 3, 1};
};

TEST_F(BatchBuilderTest, TranslatesAnOperation) {
  OperationInfo operation;
  operation.communicator = 11;
  operation.sequence = 5;
  operation.count = 64;
  operation.kind = abi::OperationKind::kBroadcast;
  operation.datatype = 9;
  operation.root = 2;
  operation.enqueue_ns = 2'000'000'000;
  operation.start_ns = 2'000'000'100;
  operation.flags = abi::kOperationCaptured;
  builder_.AddOperation(key_, operation);
  const auto payloads = builder_.Take(7, 6);
  ASSERT_EQ(payloads.size(), 1U);
  EXPECT_EQ(payloads[0].complete_until_ns, 7);
  const v1::Operation out = Decode(payloads[0]).operations(0);
  EXPECT_EQ(out.job(), "job");
  EXPECT_EQ(out.rank(), 3);
  EXPECT_EQ(out.incarnation(), 1U);
  EXPECT_EQ(out.name(), "Broadcast");
  EXPECT_EQ(out.datatype(), "bfloat16");
  EXPECT_EQ(out.root(), 2);
  EXPECT_EQ(out.enqueue(), 2'000'000'000 + kOffset);
  EXPECT_EQ(out.start(), 2'000'000'100 + kOffset);
  EXPECT_EQ(out.end(), 0);
  EXPECT_TRUE(out.captured());
}

TEST_F(BatchBuilderTest, TheClockMayStepDurationsDoNot) {
  clock_.StepRealtime(3'600'000'000'000);
  builder_.AddRunning(key_, 2'000'000'000);
  EXPECT_EQ(Decode(builder_.Take(0, 0)[0]).processes(0).time(), 2'000'000'000 + kOffset);
}

TEST_F(BatchBuilderTest, AnEmptyPassIsStillABatch) {
  const auto payloads = builder_.Take(7, 6);
  ASSERT_EQ(payloads.size(), 1U);
  EXPECT_EQ(payloads[0].control_records, 0U);
}

TEST_F(BatchBuilderTest, MuchIsCutIntoPiecesThatKeepTheOrder) {
  OperationInfo operation;
  for (std::size_t i = 0; i < 2 * kOperationsPerBatch + 1; ++i) {
    operation.sequence = i;
    operation.enqueue_ns = static_cast<std::int64_t>(1000 + i);
    builder_.AddOperation(key_, operation);
  }
  EXPECT_EQ(builder_.oldest_enqueue_ns(), 1000);
  const auto payloads = builder_.Take(7, 6);
  ASSERT_EQ(payloads.size(), 3U);
  EXPECT_EQ(payloads[0].complete_until_ns, 6);
  EXPECT_EQ(payloads[1].complete_until_ns, 6);
  EXPECT_EQ(payloads[2].complete_until_ns, 7);
  EXPECT_EQ(payloads[0].operation_counts.at(0).count, kOperationsPerBatch);
  EXPECT_EQ(Decode(payloads[1]).operations(0).sequence(), kOperationsPerBatch);
  EXPECT_EQ(Decode(payloads[2]).operations_size(), 1);
}

TEST_F(BatchBuilderTest, ManyOtherRecordsAreCutToo) {
  for (std::size_t i = 0; i < 2 * kControlRecordsPerBatch; ++i) {
    builder_.AddLoss("job", 1, "cause", i);
  }
  const auto payloads = builder_.Take(7, 6);
  EXPECT_EQ(payloads.size(), 2U);
  EXPECT_EQ(payloads[0].control_records + payloads[1].control_records, 2 * kControlRecordsPerBatch);
}

TEST_F(BatchBuilderTest, CountsOperationsByRank) {
  builder_.AddOperation(key_, {});
  builder_.AddOperation(key_, {});
  builder_.AddOperation({"job", 4, 1}, {});
  const auto payloads = builder_.Take(0, 0);
  ASSERT_EQ(payloads[0].operation_counts.size(), 2U);
  EXPECT_EQ(payloads[0].operation_counts[0].count, 2U);
  EXPECT_EQ(payloads[0].operation_counts[1].rank, 4);
}

TEST_F(BatchBuilderTest, NothingOfOnePassIsLeftForTheNext) {
  builder_.AddOperation(key_, {});
  builder_.AddRunning(key_, 1);
  builder_.Take(0, 0);
  const auto payloads = builder_.Take(0, 0);
  EXPECT_EQ(payloads[0].Bytes(), 0U);
}

TEST_F(BatchBuilderTest, TextFromOutsideIsCleaned) {
  FileIdentity identity;
  identity.command = "\xff\n";
  CommunicatorInfo communicator;
  communicator.name = "a\x01";
  builder_.AddRank(key_, identity, 1, "");
  builder_.AddCommunicator(key_, communicator);
  const v1::Batch batch = Decode(builder_.Take(0, 0)[0]);
  EXPECT_EQ(batch.ranks(0).command(), "??");
  EXPECT_EQ(batch.communicators(0).name(), "a?");
}

}  // namespace
}  // namespace c4::agent
