#include "analyzer/api/verdict_proto.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace c4::api {
namespace {

model::Verdict FullVerdict() {
  model::Component component;
  component.kind = model::component_kind::kLink;
  component.node = "n0";
  component.rank = 0;  // zero is a rank, not an absence
  component.gpu = 0;
  component.pci = "0000:1b:00.0";
  component.nic = "mlx5_0";
  component.peer_rank = 8;
  component.peer_node = "n1";
  component.peer_nic = "mlx5_1";
  component.communicator = "dp0";
  model::Verdict verdict;
  verdict.id = "v1";
  verdict.job = "j1";
  verdict.incarnation = 2;
  verdict.verdict_class = model::verdict_class::kCommunicationSlow;
  verdict.severity = model::Severity::kInfo;
  verdict.status = model::Status::kResolved;
  verdict.component = component;
  verdict.suspects = {{component, 0.75}, {model::Component{}, 0.25}};
  verdict.confidence = 0.9;
  verdict.onset = 1;
  verdict.detected = 2;
  verdict.confirmed = 3;
  verdict.acted = 4;
  verdict.resolved = 5;
  verdict.action = model::action::kIsolateRestart;
  verdict.summary = "slow";
  verdict.evidence = {{"flow", 6, "a third of its rate", 0.33, "ratio"}};
  verdict.weakened_by = {"17 records lost"};
  verdict.victims = {1, 2, 3};
  return verdict;
}

TEST(VerdictProto, KeepsEverythingBothWays) {
  const model::Verdict verdict = FullVerdict();
  const v1::Verdict proto = ToProto(verdict);
  const model::Verdict again = FromProto(proto);
  EXPECT_EQ(ToProto(again).SerializeAsString(), proto.SerializeAsString());
  EXPECT_EQ(again.component, verdict.component);
  EXPECT_EQ(again.severity, verdict.severity);
  EXPECT_EQ(again.status, verdict.status);
  EXPECT_EQ(again.suspects[1].component, model::Component{});
  EXPECT_EQ(again.evidence[0].unit, "ratio");
  EXPECT_EQ(again.victims, verdict.victims);
}

TEST(VerdictProto, UsesTheWordsOfTheSchema) {
  const v1::Verdict proto = ToProto(FullVerdict());
  EXPECT_EQ(proto.severity(), "info");
  EXPECT_EQ(proto.status(), "resolved");
  EXPECT_EQ(proto.class_(), "communication_slow");
  EXPECT_TRUE(proto.component().has_rank());
  EXPECT_FALSE(proto.suspects(1).component().has_rank());
}

TEST(VerdictProto, Jobs) {
  model::JobSummary job;
  job.name = "j1";
  job.state = "running";
  job.step = 1'500'000'000;
  job.lost = 7;
  const v1::Job proto = ToProto(job);
  EXPECT_EQ(proto.name(), "j1");
  EXPECT_DOUBLE_EQ(proto.step_seconds(), 1.5);
  EXPECT_EQ(proto.lost(), 7);
  EXPECT_EQ(proto.world_size(), -1);
}

}  // namespace
}  // namespace c4::api
