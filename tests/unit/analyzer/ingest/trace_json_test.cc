#include "analyzer/ingest/trace_json.h"

#include <string>

#include "analyzer/ingest/limits.h"
#include "analyzer/ingest/validate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/analyzer/ingest/records.h"

namespace c4::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Fact>
Fact Parse(std::string_view line) {
  const auto parsed = ParseTraceLine(line);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  if (!parsed.ok()) return {};
  const auto* record = std::get_if<model::Record>(&*parsed);
  EXPECT_NE(record, nullptr) << line;
  if (record == nullptr || !std::holds_alternative<Fact>(*record)) {
    ADD_FAILURE() << "another kind: " << line;
    return {};
  }
  return std::get<Fact>(*record);
}

std::string ErrorOf(std::string_view line) {
  const auto parsed = ParseTraceLine(line);
  return parsed.ok() ? "ok" : std::string(parsed.status().message());
}

TEST(TraceJson, ReadsTheLinesOfTheDocumentation) {
  const auto rank = Parse<model::RankRecord>(
      R"({"rank":{"job":"j1","rank":1,"node":"n0","local_rank":0,"pid":4242,"gpu":0,)"
      R"("gpu_uuid":"GPU-1","pci":"0000:1b:00.0","nic":"mlx5_0"}})");
  EXPECT_EQ(rank.node, "n0");
  EXPECT_EQ(rank.rank, 1);
  EXPECT_EQ(rank.world_size, -1);
  EXPECT_EQ(rank.pci, "0000:1b:00.0");

  const auto op = Parse<model::OperationRecord>(
      R"({"op":{"job":"j1","rank":0,"comm":"tp0","seq":12,"name":"AllReduce","dtype":"bfloat16",)"
      R"("count":4194304,"root":-1,"peer":-1,"group":7,"enqueue":1,"start":2,"end":3}})");
  EXPECT_EQ(op.communicator, "tp0");
  EXPECT_EQ(op.sequence, 12);
  EXPECT_EQ(op.datatype, "bfloat16");
  EXPECT_EQ(op.end, 3);
  EXPECT_EQ(op.returned, 0);

  EXPECT_THAT(
      Parse<model::CommunicatorRecord>(R"({"comm":{"job":"j1","id":"tp0","ranks":[0,-1,2]}})")
          .ranks,
      ElementsAre(0, -1, 2));
  EXPECT_EQ(Parse<model::EventRecord>(
                R"({"event":{"node":"n0","time":5,"kind":"nic_link_down","nic":"mlx5_0"}})")
                .device,
            "mlx5_0");
  EXPECT_EQ(
      Parse<model::ProcessRecord>(R"({"process":{"job":"j1","rank":5,"time":5,"state":"exited"}})")
          .code,
      -1);
  EXPECT_EQ(std::get<Watermark>(*ParseTraceLine(R"({"clock":{"time":6}})")).time, 6);
  EXPECT_EQ(std::get<TraceVersion>(*ParseTraceLine(R"({"c4_trace":1})")).version, 1);
}

TEST(TraceJson, UnknownKeysAreIgnoredAndUnknownKindsNamed) {
  const auto job = Parse<model::JobRecord>(
      R"({"job":{"job":"j1","restarts":0,"step_offset":{"2":7},"previous_incidents":[{"rank":9}]}})");
  EXPECT_EQ(job.job, "j1");
  EXPECT_EQ(std::get<UnknownLine>(*ParseTraceLine(R"({"weather":{"sunny":true}})")).kind,
            "weather");
}

TEST(TraceJson, ReadsWhatAnOperatorAddsToAJob) {
  const auto job = Parse<model::JobRecord>(
      R"({"job":{"job":"j1","step_offset":{"2":7,"x":1,"-1":2},"steps_done":{"0":"many","1":9},)"
      R"("previous_incidents":[{"node":"n2","rank":9,"class":"process_failure","host":"f"},7],)"
      R"("expected_collective_seconds":{"AllReduce":2.5,"Broadcast":40},"dry_run":true,)"
      R"("node_cordoned_by":{"n1":"operator"}}})");
  EXPECT_THAT(job.step_offset, ElementsAre(std::pair<const int, std::int64_t>(2, 7)));
  EXPECT_THAT(job.steps_done, ElementsAre(std::pair<const int, std::int64_t>(1, 9)));
  ASSERT_EQ(job.previous_incidents.size(), 1U);
  EXPECT_EQ(job.previous_incidents[0].node, "n2");
  EXPECT_EQ(job.previous_incidents[0].rank, 9);
  EXPECT_EQ(job.previous_incidents[0].host, "f");
  EXPECT_EQ(job.expected_collective_seconds, 40);
  EXPECT_EQ(job.cordoned_by.at("n1"), "operator");
  EXPECT_TRUE(job.dry_run);
}

TEST(TraceJson, WhatAnOperatorAddedWronglyIsLeftOut) {
  const auto job = Parse<model::JobRecord>(
      R"({"job":{"job":"j1","step_offset":[7],"steps_done":9,"previous_incidents":{"rank":9},)"
      R"("expected_collective_seconds":-4,"dry_run":"yes","node_cordoned_by":7}})");
  EXPECT_TRUE(job.step_offset.empty());
  EXPECT_TRUE(job.steps_done.empty());
  EXPECT_TRUE(job.previous_incidents.empty());
  EXPECT_EQ(job.expected_collective_seconds, 0);
  EXPECT_TRUE(job.cordoned_by.empty());
  EXPECT_FALSE(job.dry_run);
  std::string many = R"({"job":{"job":"j1","previous_incidents":[)";
  for (int i = 0; i < 300; ++i) many += R"({"node":"n"},)";
  many.back() = ']';
  EXPECT_EQ(Parse<model::JobRecord>(many + "}}").previous_incidents.size(),
            limits::kPreviousIncidentsMax);
}

TEST(TraceJson, EveryRecordSurvivesARoundTrip) {
  for (model::Record record : EveryRecord()) {
    ASSERT_TRUE(Normalize(record).ok());
    const std::string line = FormatTraceLine(record);
    EXPECT_THAT(line, ::testing::Not(HasSubstr("\n")));
    const auto again = ParseTraceLine(line);
    ASSERT_TRUE(again.ok()) << line << again.status();
    ASSERT_TRUE(std::holds_alternative<model::Record>(*again)) << line;
    EXPECT_EQ(std::get<model::Record>(*again).index(), record.index()) << line;
    EXPECT_EQ(FormatTraceLine(std::get<model::Record>(*again)), line);
  }
}

TEST(TraceJson, WritesEveryFieldOfAnOperation) {
  EXPECT_EQ(FormatTraceLine(FullOperation()),
            R"({"op":{"job":"j1","rank":5,"incarnation":2,"comm":"00000000deadbeef",)"
            R"("seq":18446744073709551615,"name":"Broadcast","dtype":"bfloat16",)"
            R"("count":1099511627776,"root":3,"peer":1,"group":7,"stream":18446603336221196288,)"
            R"("enqueue":1750000000000000000,"returned":1750000000000000001,)"
            R"("start":1750000000000000002,"end":1750000000000000003,)"
            R"("captured":true,"abandoned":true,"untimed":true}})");
}

TEST(TraceJson, WritesOptionalKeysOnlyWhenSet) {
  model::OperationRecord op;
  op.job = "j";
  op.rank = 0;
  op.communicator = "c";
  op.name = "AllReduce";
  op.enqueue = 9;
  EXPECT_EQ(FormatTraceLine(op),
            R"({"op":{"job":"j","rank":0,"comm":"c","seq":0,"name":"AllReduce","dtype":"",)"
            R"("count":0,"root":-1,"peer":-1,"group":0,"enqueue":9}})");
  EXPECT_EQ(FormatTraceLine(Watermark{6}), R"({"clock":{"time":6}})");
  EXPECT_EQ(FormatTraceLine(TraceVersion{1}), R"({"c4_trace":1})");
  EXPECT_EQ(FormatTraceLine(model::LossRecord{"n", "", -1, "spool_full", 2}),
            R"({"loss":{"node":"n","cause":"spool_full","count":2}})");
  EXPECT_EQ(FormatTraceLine(model::AgentRecord{"n0", 5, false}),
            R"({"agent":{"node":"n0","time":5,"silent":false}})");
}

TEST(TraceJson, ErrorsNameTheFieldAndTheFault) {
  EXPECT_EQ(ErrorOf("{"), "not JSON");
  EXPECT_EQ(ErrorOf("[]"), "not an object with a key");
  EXPECT_EQ(ErrorOf("{}"), "not an object with a key");
  EXPECT_EQ(ErrorOf(R"({"op":7})"), "op: not an object");
  EXPECT_EQ(ErrorOf(R"({"op":{"job":"j"}})"), "op.rank: missing");
  EXPECT_EQ(ErrorOf(R"({"rank":{"job":"j","rank":"1","node":"n"}})"), "rank.rank: not an integer");
  EXPECT_EQ(ErrorOf(R"({"rank":{"job":"j","rank":1.5,"node":"n"}})"), "rank.rank: not an integer");
  EXPECT_EQ(ErrorOf(R"({"rank":{"job":"j","rank":-2,"node":"n"}})"),
            "rank.rank: -2 is not in 0…1048575");
  EXPECT_EQ(ErrorOf(R"({"rank":{"job":"j","rank":1048576,"node":"n"}})"),
            "rank.rank: 1048576 is not in 0…1048575");
  EXPECT_EQ(ErrorOf(R"({"rank":{"job":"j","rank":4294967296,"node":"n"}})"),
            "rank.rank: not in -2147483648…2147483647");
  EXPECT_EQ(ErrorOf(R"({"rank":{"job":"","rank":1,"node":"n"}})"), "rank.job: missing");
  EXPECT_EQ(ErrorOf(R"({"rank":{"job":"a\u001bb","rank":1,"node":"n"}})"),
            "rank.job: has control characters");
  EXPECT_EQ(ErrorOf(R"({"comm":{"job":"j","id":"c","ranks":[1,1]}})"),
            "comm.ranks: 1 is there twice");
  EXPECT_EQ(ErrorOf(R"({"comm":{"job":"j","id":"c","ranks":[18446744073709551615]}})"),
            "comm.ranks: an element is not an integer");
  EXPECT_EQ(ErrorOf(R"({"comm":{"job":"j","id":"c","ranks":[]}})"),
            "comm.ranks: length: 0 is not in 1…1048576");
  EXPECT_THAT(ErrorOf(R"({"clock":{"time":-1}})"), HasSubstr("clock.time: -1 is not in"));
  EXPECT_THAT(ErrorOf(R"({"clock":{"time":9223372036854775807}})"), HasSubstr("clock.time:"));
  EXPECT_EQ(ErrorOf(R"({"c4_trace":"one"})"), "c4_trace: not a version number");
  EXPECT_THAT(ErrorOf(R"({"loss":{"node":"n","cause":"x","count":-1}})"), HasSubstr("loss.count"));
}

TEST(TraceJson, RefusesTimesThatCannotBe) {
  const std::string head =
      R"({"op":{"job":"j","rank":0,"comm":"c","seq":0,"name":"AllReduce","enqueue":5000000000,)";
  EXPECT_EQ(ErrorOf(head + R"("start":4500000000}})"), "ok");
  EXPECT_THAT(ErrorOf(head + R"("start":3500000000}})"), HasSubstr("1 s before op.enqueue"));
  EXPECT_THAT(ErrorOf(head + R"("start":-1}})"), HasSubstr("op.start: -1"));
  EXPECT_THAT(ErrorOf(head + R"("start":9000000000,"end":7000000000}})"),
              HasSubstr("1 s before op.start"));
  EXPECT_EQ(Parse<model::OperationRecord>(head + R"("start":6000000000,"end":5999999999}})").end,
            6'000'000'000);
}

TEST(TraceJson, CutsLongTextsAtACharacter) {
  std::string text(limits::kTextBytesMax - 1, 'x');
  text += "é and more";
  const auto error = Parse<model::ErrorRecord>(R"({"error":{"job":"j","rank":0,"time":1,"text":")" +
                                               text + R"("}})");
  EXPECT_EQ(error.text, std::string(limits::kTextBytesMax - 1, 'x'));
}

TEST(TraceJson, LatestTimeIsThatOfTheLastMoment) {
  EXPECT_EQ(LatestTime(FullOperation()), kNow + 3);
  EXPECT_EQ(LatestTime(model::PhaseRecord{"j", 7, "eval"}), 7);
  EXPECT_EQ(LatestTime(FullJob()), 0);
}

}  // namespace
}  // namespace c4::ingest
