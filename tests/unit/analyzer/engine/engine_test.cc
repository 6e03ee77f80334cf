#include "analyzer/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/analyzer/engine/synthetic_job.h"

namespace c4::engine::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr model::DurationNs kStep = 420 * model::kMillisecond;
constexpr int kFaultStep = 20;
constexpr model::TimeNs kOnset = kBegin + kFaultStep * kStep;

std::vector<model::Verdict> Analyse(const SyntheticJob& job, model::DurationNs after,
                                    std::vector<model::Record> more = {}) {
  Engine engine;
  std::vector<model::Record> records = job.Records();
  records.insert(records.end(), more.begin(), more.end());
  return RunAll(&engine, records, kOnset + after);
}

SyntheticJob From(int step, int rank, std::function<void(Behaviour*)> change) {
  SyntheticJob job;
  job.change = [=](int at, int who, Behaviour* behaviour) {
    if (at >= step && who == rank) {
      change(behaviour);
    }
  };
  return job;
}

TEST(EngineTest, HealthyJobHasNoVerdict) {
  SyntheticJob job;
  job.steps = 100;
  EXPECT_THAT(Analyse(job, 30 * model::kSecond), IsEmpty());
}

TEST(EngineTest, HostThatNeverCallsIsNamedWithinSixSecondsAndConfirmedAfterAMinute) {
  const auto job = From(kFaultStep, 2, [](Behaviour* b) { b->calls = false; });
  auto verdicts = Analyse(job, 6500 * model::kMillisecond);
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].verdict_class, model::verdict_class::kNonCommunicationHang);
  EXPECT_EQ(verdicts[0].component.kind, model::component_kind::kRank);
  EXPECT_EQ(verdicts[0].component.rank, 2);
  EXPECT_EQ(verdicts[0].status, model::Status::kSuspected);
  EXPECT_LE(verdicts[0].detected - verdicts[0].onset, 6 * model::kSecond);
  EXPECT_THAT(verdicts[0].victims, ::testing::ElementsAre(0, 1, 3));
  verdicts = Analyse(job, 70 * model::kSecond);
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].status, model::Status::kConfirmed);
}

TEST(EngineTest, GpuThatNeverStartsIsToldFromItsHost) {
  const auto verdicts =
      Analyse(From(kFaultStep, 1, [](Behaviour* b) { b->starts = false; }), 20 * model::kSecond);
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].verdict_class, model::verdict_class::kNonCommunicationHang);
  EXPECT_EQ(verdicts[0].component.kind, model::component_kind::kGpu);
  EXPECT_EQ(verdicts[0].component.rank, 1);
  EXPECT_EQ(verdicts[0].status, model::Status::kConfirmed);
}

TEST(EngineTest, AllInsideAndNoneOutIsTheNetworkAndHardwareEvidenceSaysWhichPart) {
  const auto job = From(kFaultStep, 1, [](Behaviour* b) { b->ends = false; });
  model::EventRecord event;
  event.node = "n1";
  event.time = kOnset;
  event.kind = "nic_link_down";
  event.device = "hsn0";
  const auto verdicts = Analyse(job, 20 * model::kSecond, {event});
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].verdict_class, model::verdict_class::kCommunicationHang);
  EXPECT_EQ(verdicts[0].component.kind, model::component_kind::kNic);
  EXPECT_EQ(verdicts[0].component.node, "n1");
  EXPECT_EQ(verdicts[0].component.nic, "hsn0");
}

TEST(EngineTest, EvidenceOnANodeThatTheCollectivesDoNotPointAtConvictsNobody) {
  model::EventRecord event;
  event.node = "n1";
  event.time = kOnset;
  event.kind = "nic_link_down";
  event.device = "hsn0";
  const auto verdicts = Analyse(From(kFaultStep, 0, [](Behaviour* b) { b->starts = false; }),
                                10 * model::kSecond, {event});
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].component.rank, 0);
}

TEST(EngineTest, DeadProcessOutranksTheHangThatFollows) {
  const auto job = From(kFaultStep, 3, [](Behaviour* b) { b->calls = false; });
  const model::ProcessRecord exit{"j", 3, 0, kOnset, "exited", -1, 9};
  const auto verdicts = Analyse(job, 20 * model::kSecond, {exit});
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].verdict_class, model::verdict_class::kProcessFailure);
  EXPECT_EQ(verdicts[0].component.rank, 3);
  EXPECT_EQ(verdicts[0].status, model::Status::kConfirmed);
  EXPECT_LT(verdicts[0].detected - kOnset, model::kSecond);
  EXPECT_TRUE(std::any_of(verdicts[0].evidence.begin(), verdicts[0].evidence.end(),
                          [](const model::Evidence& evidence) {
                            return evidence.text.find("last operation of rank 3: AllReduce #19") !=
                                   std::string::npos;
                          }));
}

TEST(EngineTest, JobThatEndsIsNoFailure) {
  SyntheticJob job;
  job.steps = kFaultStep;
  std::vector<model::Record> exits;
  for (int rank = 0; rank < job.ranks; ++rank) {
    exits.emplace_back(
        model::ProcessRecord{"j", rank, 0, kOnset + rank * model::kSecond, "exited", 0, 0});
  }
  EXPECT_THAT(Analyse(job, 90 * model::kSecond, exits), IsEmpty());
}

TEST(EngineTest, DisagreementIsTheProgramsAndNamesTheOddRank) {
  const auto job = From(kFaultStep, 2, [](Behaviour* b) { b->count = 17; });
  const auto verdicts = Analyse(job, 2 * model::kSecond);
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].verdict_class, model::verdict_class::kMismatchedCollective);
  EXPECT_EQ(verdicts[0].component.kind, model::component_kind::kSoftware);
  EXPECT_EQ(verdicts[0].component.rank, 2);
  EXPECT_EQ(verdicts[0].action, model::action::kAlert);
}

TEST(EngineTest, SlowGpuIsToldFromSlowHost) {
  SyntheticJob job = From(kFaultStep, 1, [](Behaviour* b) { b->compute += b->compute / 5; });
  job.steps = 60;
  auto verdicts = Analyse(job, 6 * model::kSecond);
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].verdict_class, model::verdict_class::kNonCommunicationSlow);
  EXPECT_EQ(verdicts[0].component.kind, model::component_kind::kGpu);
  EXPECT_EQ(verdicts[0].component.rank, 1);
  EXPECT_EQ(verdicts[0].status, model::Status::kConfirmed);
  job.change = [](int step, int rank, Behaviour* b) {
    if (step >= kFaultStep && rank == 1) {
      b->host_late = 100 * model::kMillisecond;
    }
  };
  verdicts = Analyse(job, 6 * model::kSecond);
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].component.kind, model::component_kind::kRank);
  EXPECT_EQ(verdicts[0].component.rank, 1);
}

TEST(EngineTest, PausesThatRotateAreNoFault) {
  SyntheticJob job;
  job.steps = 80;
  job.change = [](int step, int rank, Behaviour* b) {
    if (step % 4 == rank) {
      b->compute += 200 * model::kMillisecond;  // garbage collection, another rank each step
    }
  };
  EXPECT_THAT(Analyse(job, 40 * model::kSecond), IsEmpty());
}

TEST(EngineTest, BeforeTheJobHasARhythmAnAbsentRankIsNoFault) {
  const auto job = From(1, 2, [](Behaviour* b) { b->calls = false; });
  EXPECT_THAT(Analyse(job, 10 * model::kSecond), IsEmpty());
  const auto verdicts = Analyse(job, 1800 * model::kSecond);
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].severity, model::Severity::kInfo);
  EXPECT_EQ(verdicts[0].action, model::action::kWait);
}

std::string Text(const std::vector<model::Verdict>& verdicts) {
  std::string text;
  for (const model::Verdict& v : verdicts) {
    text += v.id + v.verdict_class + v.component.kind +
            std::to_string(v.component.rank.value_or(-1)) + std::to_string(v.onset) + "/" +
            std::to_string(v.detected) + "/" + std::to_string(v.confirmed) + v.summary + "\n";
    for (const model::Evidence& e : v.evidence) {
      text += e.text + std::to_string(e.value) + "\n";
    }
  }
  return text;
}

TEST(EngineTest, OrderDuplicatesAndStrideOfWatermarksDoNotMatter) {
  SyntheticJob job = From(kFaultStep, 1, [](Behaviour* b) { b->compute += b->compute / 4; });
  job.steps = 40;
  std::vector<model::Record> records = job.Records();
  Engine first;
  const std::string expected = Text(RunAll(&first, records, kOnset + 10 * model::kSecond));
  EXPECT_NE(expected, "");
  std::vector<model::Record> shuffled = records;
  shuffled.insert(shuffled.end(), records.begin(), records.end());
  std::mt19937 random(7);
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  Engine second;
  EXPECT_EQ(Text(RunAll(&second, shuffled, kOnset + 10 * model::kSecond, 3 * model::kSecond)),
            expected);
}

TEST(EngineTest, RestoredVerdictKeepsItsIdAndMoments) {
  const auto records = From(kFaultStep, 2, [](Behaviour* b) { b->calls = false; }).Records();
  Engine before;
  const auto open = RunAll(&before, records, kOnset + 8 * model::kSecond);
  ASSERT_THAT(open, SizeIs(1));
  Engine after;
  after.Restore(open);
  const auto again = RunAll(&after, records, kOnset + 70 * model::kSecond);
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].id, open[0].id);
  EXPECT_EQ(again[0].detected, open[0].detected);
  EXPECT_EQ(again[0].status, model::Status::kConfirmed);
}

TEST(EngineTest, JobsAreSummarised) {
  Engine engine;
  RunAll(&engine, SyntheticJob{}.Records(), kBegin + 10 * model::kSecond);
  const auto jobs = engine.Jobs();
  ASSERT_THAT(jobs, SizeIs(1));
  EXPECT_EQ(jobs[0].state, "running");
  EXPECT_EQ(jobs[0].ranks, 4);
  EXPECT_EQ(jobs[0].nodes, 2);
  EXPECT_NEAR(static_cast<double>(jobs[0].step), static_cast<double>(kStep), 0.02 * kStep);
}

}  // namespace
}  // namespace c4::engine::testing
