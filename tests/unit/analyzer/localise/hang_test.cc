#include "analyzer/localise/hang.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/analyzer/localise/job_builder.h"

namespace c4::localise::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace action = model::action;
namespace kind = model::component_kind;
namespace verdict_class = model::verdict_class;

const std::vector<std::string> kIdle = {"main", "train_step", "queue.get"};

TEST(HangTest, AbsentRankIsNamedWhicheverItIs) {
  for (const int absent : {0, 3, 7}) {
    const model::Finding finding = JobBuilder(2, 4).Hang({absent}).Diagnose(80);
    EXPECT_EQ(finding.verdict_class, verdict_class::kNonCommunicationHang);
    EXPECT_EQ(finding.component.kind, kind::kRank);
    EXPECT_EQ(finding.component.rank, absent);
    EXPECT_EQ(finding.action, action::kRestart);
    EXPECT_NE(finding.confirmed, 0);
    EXPECT_EQ(finding.victims.size(), 7U);
  }
}

TEST(HangTest, WaitsAreFollowedFromCommunicatorToCommunicator) {
  JobBuilder job(2, 2);
  job.Communicator("A", {0, 1}).Communicator("B", {1, 2}).Communicator("C", {2, 3});
  // 0 waits for 1 in A, 1 for 2 in B, 2 for 3 in C.
  job.Op(0, "A", 0, {6, 6}).Op(1, "B", 0, {6, 6}).Op(2, "C", 0, {6, 6});
  const model::Finding finding = job.Diagnose(80);
  EXPECT_EQ(finding.component.rank, 3);
  EXPECT_THAT(finding.victims, ElementsAre(0, 1, 2));
}

TEST(HangTest, CalledAndNotStartedIsTheGpu) {
  JobBuilder job(2, 2);
  job.Hang({2}).Op(2, "W", job.next(), {6});
  const model::Finding finding = job.Diagnose(30);
  EXPECT_EQ(finding.component.kind, kind::kGpu);
  EXPECT_EQ(finding.component.rank, 2);
  EXPECT_EQ(finding.action, action::kIsolateRestart);
}

TEST(HangTest, HostInsideTheLaunchIsTheProcessAndNotItsGpu) {
  JobBuilder job(2, 2);
  job.Hang({2}).Op(2, "W", job.next(), {6});
  job.Host(2, 12, "R", 1, {"ncclAllReduce", "doLaunches", "ncclLocalOpAppend", "sched_yield"});
  const model::Finding finding = job.Diagnose(30);
  EXPECT_EQ(finding.component.kind, kind::kRank);
  EXPECT_EQ(finding.action, action::kRestart);
  EXPECT_THAT(finding.summary, HasSubstr("ncclLocalOpAppend"));
}

model::JobRecord SeenOn(std::vector<std::string> nodes) {
  model::JobRecord record;
  record.job = "j";
  for (const std::string& node : nodes) {
    record.previous_incidents.push_back({node, 1, verdict_class::kNonCommunicationHang, "AllReduce",
                                         "called, not started", "ncclLocalOpAppend"});
  }
  return record;
}

TEST(HangTest, TheSameOnOtherMachinesBeforeIsTheLibrary) {
  JobBuilder job(3, 2);
  job.Hang({2}).Op(2, "W", job.next(), {6}).Job(SeenOn({"n0", "n2"}));
  job.Host(2, 12, "R", 1, {"ncclAllReduce", "ncclLocalOpAppend"});
  model::Finding finding = job.Diagnose(30);
  EXPECT_EQ(finding.component.kind, kind::kSoftware);
  EXPECT_EQ(finding.action, action::kRestart);
  // Another signature is another incident.
  model::JobRecord other = SeenOn({"n0", "n2"});
  for (auto& incident : other.previous_incidents) {
    incident.host = "futex_wait";
  }
  finding = job.Job(other).Diagnose(31);
  EXPECT_EQ(finding.component.kind, kind::kRank);
}

TEST(HangTest, TheSameMachineAgainAndAgainIsTheMachine) {
  JobBuilder job(3, 2);
  job.Hang({2}).Op(2, "W", job.next(), {6}).Job(SeenOn({"n1"}));
  EXPECT_EQ(job.Diagnose(30).component.kind, kind::kGpu);  // once before may be chance
  const model::Finding finding = job.Job(SeenOn({"n1", "n1"})).Diagnose(31);
  EXPECT_EQ(finding.component.kind, kind::kNode);
  EXPECT_EQ(finding.component.node, "n1");
  EXPECT_EQ(finding.action, action::kIsolateRestart);
}

TEST(HangTest, RootXidOnTheAbsentRanksGpuConfirmsAtOnce) {
  JobBuilder job(2, 2);
  job.Hang({1}).Event("n0", 5.9, "xid", JobBuilder::Pci(1), 79, "GPU has fallen off the bus.");
  const model::Finding finding = job.Diagnose(12);
  EXPECT_EQ(finding.component.kind, kind::kGpu);
  EXPECT_EQ(finding.component.rank, 1);
  EXPECT_EQ(finding.confirmed, At(12));
}

TEST(HangTest, CascadesConvictNobodyAndNeitherDoesEvidenceElsewhere) {
  JobBuilder job(2, 2);
  job.Hang({1});
  job.Event("n0", 5.9, "xid", JobBuilder::Pci(1), 45, "Ch 00000004");
  job.Event("n0", 5.9, "xid", JobBuilder::Pci(1), 79, "Ch 1, caused by previous Xid 149");
  job.Event("n1", 5.9, "xid", JobBuilder::Pci(0), 79, "GPU has fallen off the bus.");
  const model::Finding finding = job.Diagnose(80);
  EXPECT_EQ(finding.component.kind, kind::kRank);
  EXPECT_EQ(finding.component.rank, 1);
}

TEST(HangTest, ApplicationXidIsTheProgramsProcess) {
  JobBuilder job(2, 2);
  job.Hang({1}).Event("n0", 5.9, "xid", JobBuilder::Pci(1), 31, "MMU fault");
  const model::Finding finding = job.Diagnose(12);
  EXPECT_EQ(finding.component.kind, kind::kRank);
  EXPECT_EQ(finding.action, action::kRestart);
}

TEST(HangTest, OwnErrorDecidesBetweenAbsentRanksAndAComplaintDoesNot) {
  JobBuilder job(2, 2);
  job.Hang({1, 2});
  job.Error(1, 7, "Watchdog caught collective operation timeout");
  job.Error(2, 5.5, "ValueError: bad batch");
  const model::Finding finding = job.Diagnose(30);
  EXPECT_EQ(finding.component.rank, 2);
  EXPECT_THAT(finding.summary, HasSubstr("bad batch"));
}

TEST(HangTest, AllRanksOfOneMachineAreTheMachine) {
  const model::Finding finding = JobBuilder(3, 2).Hang({2, 3}).Diagnose(80);
  EXPECT_EQ(finding.component.kind, kind::kNode);
  EXPECT_EQ(finding.component.node, "n1");
  // Not when it is the only one: then there is nobody to compare with.
  EXPECT_NE(JobBuilder(1, 4).Hang({2, 3}).Diagnose(80).component.kind, kind::kNode);
}

TEST(HangTest, ManyAbsentOnSeveralMachinesAreNobody) {
  const model::Finding finding = JobBuilder(4, 2).Hang({0, 2, 4, 6}).Diagnose(80);
  EXPECT_EQ(finding.component.kind, kind::kSoftware);
  EXPECT_FALSE(finding.component.rank.has_value());
  EXPECT_EQ(finding.action, action::kRestart);
  EXPECT_LE(finding.confidence, 0.5);
}

TEST(HangTest, BenignAbsenceIsInformationUntilItsLimit) {
  JobBuilder reads(2, 2);
  reads.Hang({1}).Host(1, 12, "R", 0.5, {"main", "read"}, 4e7);
  model::Finding finding = reads.Diagnose(80);
  EXPECT_EQ(finding.severity, model::Severity::kInfo);
  EXPECT_EQ(finding.action, action::kWait);
  EXPECT_EQ(reads.Diagnose(700).severity, model::Severity::kFault);

  JobBuilder saves(2, 2);
  finding = saves.Hang({1}).Phase(5, "checkpoint").Diagnose(80);
  EXPECT_EQ(finding.severity, model::Severity::kInfo);
  JobBuilder trains(2, 2);
  EXPECT_EQ(trains.Hang({1}).Phase(5, "train").Diagnose(80).severity, model::Severity::kFault);

  JobBuilder compiles(2, 2);
  compiles.Hang({1}).Gauge("n0", "host", "compiler_processes", 9, 7);
  EXPECT_EQ(compiles.Diagnose(700).severity, model::Severity::kInfo);
  JobBuilder elsewhere(2, 2);
  elsewhere.Hang({1}).Gauge("n1", "host", "compiler_processes", 9, 7);
  EXPECT_EQ(elsewhere.Diagnose(700).severity, model::Severity::kFault);
}

TEST(HangTest, StartUpIsGivenTimeUnlessTheProcessIsSeenToDoNothing) {
  JobBuilder busy(1, 4, false);
  busy.Hang({3}).Host(3, 40, "R", 1, {"build_index"}, 4e7).Host(3, 1700, "R", 1, {"build_index"});
  EXPECT_EQ(busy.Diagnose(1800, true).severity, model::Severity::kInfo);
  JobBuilder unseen(1, 4, false);
  EXPECT_EQ(unseen.Hang({3}).Diagnose(1800, true).severity, model::Severity::kInfo);
  JobBuilder idle(1, 4, false);
  idle.Hang({3}).Host(3, 20, "S", 0, kIdle).Host(3, 80, "S", 0, kIdle).Host(3, 160, "S", 0, kIdle);
  const model::Finding finding = idle.Diagnose(170, true);
  EXPECT_EQ(finding.severity, model::Severity::kFault);
  EXPECT_EQ(finding.component.rank, 3);
  EXPECT_LE(finding.confidence, 0.6);
}

TEST(HangTest, ProcessBlockedInTheDriverIsItsGpu) {
  JobBuilder job(2, 2);
  job.Hang({1}).Host(1, 12, "D", 0, {"cuCtxSynchronize"}, 0, "os_acquire_rwlock_write");
  EXPECT_EQ(job.Diagnose(30).component.kind, kind::kGpu);
}

TEST(HangTest, ProcessThatLeavesTheLoopIsTheProgram) {
  JobBuilder job(2, 2);
  job.Hang({1}).Host(1, 12, "S", 0, {"main", "destroy_process_group"});
  const model::Finding finding = job.Diagnose(80);
  EXPECT_EQ(finding.verdict_class, verdict_class::kMismatchedCollective);
  EXPECT_EQ(finding.component.kind, kind::kSoftware);
  EXPECT_EQ(finding.component.rank, 1);
}

TEST(HangTest, RankThatHasDoneAnotherNumberOfStepsIsUnevenWork) {
  JobBuilder job(2, 2);
  model::JobRecord record;
  record.steps_done = {{0, 101}, {1, 100}, {2, 101}, {3, 101}};
  model::Finding finding = job.Hang({1}).Job(record).Diagnose(80);
  EXPECT_EQ(finding.verdict_class, verdict_class::kMismatchedCollective);
  EXPECT_EQ(finding.component.kind, kind::kSoftware);
  EXPECT_EQ(finding.component.rank, 1);
  record.steps_done[1] = 101;  // alike: it hangs
  finding = job.Job(record).Diagnose(81);
  EXPECT_EQ(finding.component.kind, kind::kRank);
}

TEST(HangTest, CircleIsTheProgramAndNamesNoRank) {
  JobBuilder job(1, 2);
  job.Communicator("A", {0, 1}).Communicator("B", {0, 1});
  job.Op(0, "A", 0, {6, 6}).Op(1, "B", 0, {6, 6});
  model::JobRecord record;
  record.step_offset = {{1, 7}};
  const model::Finding finding = job.Job(record).Diagnose(12);
  EXPECT_EQ(finding.verdict_class, verdict_class::kMismatchedCollective);
  EXPECT_EQ(finding.component.kind, kind::kSoftware);
  EXPECT_FALSE(finding.component.rank.has_value());
  EXPECT_THAT(finding.evidence.back().text, HasSubstr("rank 1 is at another step"));
}

}  // namespace
}  // namespace c4::localise::testing
