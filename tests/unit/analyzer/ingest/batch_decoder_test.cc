#include "analyzer/ingest/batch_decoder.h"

#include <limits>
#include <string>

#include "analyzer/ingest/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace c4::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr model::TimeNs kNow = 1'750'000'000'000'000'000;
constexpr model::TimeNs kTimeMax = kNow + limits::kFutureMax;

DecodedBatch Decode(v1::Batch batch) { return DecodeBatch(std::move(batch), "n0", kTimeMax); }

v1::Operation& AddOperation(v1::Batch& batch) {
  v1::Operation& op = *batch.add_operations();
  op.set_job("j1");
  op.set_rank(3);
  op.set_communicator(0xdeadbeef);
  op.set_name("AllReduce");
  op.set_root(-1);
  op.set_peer(-1);
  op.set_enqueue(kNow);
  return op;
}

v1::Communicator& AddCommunicator(v1::Batch& batch, int member, int size) {
  v1::Communicator& communicator = *batch.add_communicators();
  communicator.set_job("j1");
  communicator.set_rank(7);
  communicator.set_id(0xabc);
  communicator.set_member(member);
  communicator.set_size(size);
  return communicator;
}

TEST(BatchDecoder, TakesEveryFieldOfAnOperation) {
  v1::Batch batch;
  batch.set_sequence(9);
  batch.set_complete_until(kNow);
  v1::Operation& op = AddOperation(batch);
  op.set_incarnation(2);
  op.set_sequence(11);
  op.set_datatype("bfloat16");
  op.set_count(4096);
  op.set_root(1);
  op.set_peer(2);
  op.set_group(5);
  op.set_stream(0xfe);
  op.set_returned(kNow + 1);
  op.set_start(kNow + 2);
  op.set_end(kNow + 3);
  op.set_captured(true);
  op.set_abandoned(true);
  op.set_untimed(true);
  const DecodedBatch decoded = Decode(batch);
  EXPECT_EQ(decoded.sequence, 9);
  EXPECT_EQ(decoded.complete_until, kNow);
  ASSERT_THAT(decoded.records, SizeIs(1));
  const auto& record = std::get<model::OperationRecord>(decoded.records[0]);
  EXPECT_EQ(record.job, "j1");
  EXPECT_EQ(record.rank, 3);
  EXPECT_EQ(record.incarnation, 2);
  EXPECT_EQ(record.communicator, "00000000deadbeef");
  EXPECT_EQ(record.sequence, 11);
  EXPECT_EQ(record.name, "AllReduce");
  EXPECT_EQ(record.datatype, "bfloat16");
  EXPECT_EQ(record.count, 4096);
  EXPECT_EQ(record.root, 1);
  EXPECT_EQ(record.peer, 2);
  EXPECT_EQ(record.group, 5);
  EXPECT_EQ(record.stream, 0xfe);
  EXPECT_EQ(record.enqueue, kNow);
  EXPECT_EQ(record.returned, kNow + 1);
  EXPECT_EQ(record.start, kNow + 2);
  EXPECT_EQ(record.end, kNow + 3);
  EXPECT_TRUE(record.captured && record.abandoned && record.untimed);
}

TEST(BatchDecoder, FactsAboutANodeAreAboutTheStreamsNode) {
  v1::Batch batch;
  v1::Rank& rank = *batch.add_ranks();
  rank.set_job("j1");
  rank.set_nccl_version(22809);
  rank.set_started_at(17);
  v1::Event& event = *batch.add_events();
  event.set_kind("xid");
  event.set_device("0000:1b:00.0");
  event.set_code(79);
  event.set_time(kNow);
  v1::Gauge& gauge = *batch.add_gauges();
  gauge.set_name("rate_gbps");
  gauge.set_value(400);
  v1::Loss& loss = *batch.add_losses();
  loss.set_cause("spool_full");
  loss.set_rank(-1);
  loss.set_count(4);
  const DecodedBatch decoded = Decode(batch);
  ASSERT_THAT(decoded.ranks, SizeIs(1));
  EXPECT_EQ(decoded.ranks[0].rank.node, "n0");
  EXPECT_EQ(decoded.ranks[0].nccl_version, "2.28.9");
  EXPECT_EQ(decoded.ranks[0].started_at, 17);
  ASSERT_THAT(decoded.records, SizeIs(3));
  EXPECT_EQ(std::get<model::EventRecord>(decoded.records[0]).node, "n0");
  EXPECT_EQ(std::get<model::GaugeRecord>(decoded.records[1]).node, "n0");
  EXPECT_EQ(std::get<model::LossRecord>(decoded.records[2]).node, "n0");
}

TEST(BatchDecoder, ProcessesHostStatesErrorsAndFlows) {
  v1::Batch batch;
  v1::Process& process = *batch.add_processes();
  process.set_job("j1");
  process.set_rank(1);
  process.set_state("exited");
  process.set_code(-1);
  process.set_signal(9);
  v1::HostState& host = *batch.add_host_states();
  host.set_job("j1");
  host.set_state("D");
  for (int i = 0; i < 100; ++i) host.add_stack("frame");
  v1::Error& error = *batch.add_errors();
  error.set_job("j1");
  error.set_text("oops");
  v1::Flow& flow = *batch.add_flows();
  flow.set_job("j1");
  flow.set_communicator(1);
  flow.set_from(1);
  flow.set_to(2);
  const DecodedBatch decoded = Decode(batch);
  ASSERT_THAT(decoded.records, SizeIs(4));
  EXPECT_EQ(std::get<model::FlowRecord>(decoded.records[0]).communicator, "0000000000000001");
  EXPECT_EQ(std::get<model::ProcessRecord>(decoded.records[1]).signal, 9);
  EXPECT_THAT(std::get<model::HostStateRecord>(decoded.records[2]).stack,
              SizeIs(limits::kStackFramesMax));
  EXPECT_EQ(std::get<model::ErrorRecord>(decoded.records[3]).text, "oops");
}

TEST(BatchDecoder, ARecordThatCannotBeCostsOnlyItself) {
  v1::Batch batch;
  AddOperation(batch);
  AddOperation(batch).set_rank(-1);
  AddOperation(batch).set_rank(limits::kRanksMax);
  AddOperation(batch).set_enqueue(-5);
  AddOperation(batch).set_end(1);
  AddOperation(batch).set_enqueue(kTimeMax + 1);
  AddOperation(batch).set_job("");
  AddOperation(batch).set_name(std::string(5000, 'x'));
  AddOperation(batch).set_job("a\nb");
  const DecodedBatch decoded = Decode(batch);
  EXPECT_THAT(decoded.records, SizeIs(1));
  EXPECT_THAT(decoded.rejected.by_cause(),
              ElementsAre(Pair("bad_name", 3), Pair("out_of_range", 5)));
  EXPECT_THAT(decoded.rejected.first(), HasSubstr("op.rank: -1"));
}

TEST(BatchDecoder, ChecksMemberships) {
  v1::Batch batch;
  AddCommunicator(batch, 0, 4).set_state("ready");
  AddCommunicator(batch, 1, 4).set_state("destroyed");
  AddCommunicator(batch, 4, 4);
  AddCommunicator(batch, -1, 4);
  AddCommunicator(batch, 0, 0);
  AddCommunicator(batch, 0, limits::kRanksMax + 1);
  AddCommunicator(batch, 0, 4).set_rank(-1);
  AddCommunicator(batch, 0, 4).set_time(-1);
  const DecodedBatch decoded = Decode(batch);
  ASSERT_THAT(decoded.memberships, SizeIs(2));
  EXPECT_EQ(decoded.memberships[0].id, "0000000000000abc");
  EXPECT_FALSE(decoded.memberships[0].gone);
  EXPECT_TRUE(decoded.memberships[1].gone);
  EXPECT_THAT(decoded.rejected.by_cause(), ElementsAre(Pair("out_of_range", 6)));
}

TEST(BatchDecoder, TooManyRecordsAreCountedAndTheRestIsKept) {
  v1::Batch batch;
  for (int i = 0; i < limits::kRecordsPerBatchMax + 10; ++i) AddOperation(batch);
  const DecodedBatch decoded = Decode(batch);
  EXPECT_THAT(decoded.records, SizeIs(limits::kRecordsPerBatchMax));
  EXPECT_THAT(decoded.rejected.by_cause(), ElementsAre(Pair("limit", 10)));
}

TEST(BatchDecoder, ANonsenseWatermarkIsNoWatermark) {
  for (const model::TimeNs time : {model::TimeNs{-1}, model::TimeNs{0}, kTimeMax + 1,
                                   std::numeric_limits<model::TimeNs>::max()}) {
    v1::Batch batch;
    batch.set_complete_until(time);
    EXPECT_EQ(Decode(batch).complete_until, 0);
  }
}

TEST(BatchDecoder, NcclVersions) {
  EXPECT_EQ(NcclVersion(0), "");
  EXPECT_EQ(NcclVersion(2708), "2.7.8");
  EXPECT_EQ(NcclVersion(21403), "2.14.3");
  EXPECT_EQ(NcclVersion(22809), "2.28.9");
}

}  // namespace
}  // namespace c4::ingest
