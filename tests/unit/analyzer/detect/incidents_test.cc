// mismatch, process, stall, startup.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "analyzer/detect/mismatch.h"
#include "analyzer/detect/process.h"
#include "analyzer/detect/startup.h"

namespace c4::detect {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr model::TimeNs kBegin = 1'750'000'000 * model::kSecond;
model::TimeNs At(double seconds) { return kBegin + static_cast<model::TimeNs>(seconds * 1e9); }

struct Job {
  explicit Job(int ranks) : model("j", 0) {
    std::vector<int> members;
    for (int rank = 0; rank < ranks; ++rank) {
      model::RankRecord record;
      record.job = "j";
      record.rank = rank;
      record.node = "n" + std::to_string(rank / 2);
      record.pid = 4000 + rank;
      model.Apply(record);
      members.push_back(rank);
    }
    model.Apply(model::CommunicatorRecord{"j", 0, "W", "", members});
  }
  model::OperationRecord Op(int rank, std::uint64_t sequence, double start, double end = -1) {
    model::OperationRecord op;
    op.job = "j";
    op.rank = rank;
    op.communicator = "W";
    op.sequence = sequence;
    op.name = "AllReduce";
    op.datatype = "float32";
    op.count = 1024;
    op.enqueue = op.start = At(start);
    op.end = end < 0 ? 0 : At(end);
    return op;
  }
  void All(std::uint64_t sequence, double start, double end = -1) {
    for (const auto& [rank, info] : std::map(model.ranks())) {
      model.Apply(Op(rank, sequence, start, end));
    }
  }
  // What the mismatch detector says to operations as they come.
  std::optional<model::Finding> Mismatch(double now) {
    model.AdvanceTo(At(now));
    std::optional<model::Finding> last;
    for (model::Operation* operation : model.TakeEnqueued()) {
      if (auto found = DetectMismatch(model, *operation, At(now)); found.has_value()) {
        last = std::move(found);
      }
    }
    return last;
  }
  std::vector<model::Finding> Gone(double now) {
    model.AdvanceTo(At(now));
    return DetectProcessFailure(model, nodes, At(now));
  }
  void Exit(int rank, double time, int code, int signal = 0) {
    model.Apply(model::ProcessRecord{"j", rank, 0, At(time), "exited", code, signal});
  }
  model::JobModel model;
  model::NodeFacts nodes;
};

TEST(MismatchTest, EachPropertyCounts) {
  const auto with = [](auto change) {
    Job job(4);
    for (int rank = 0; rank < 4; ++rank) {
      model::OperationRecord op = job.Op(rank, 7, 1);
      if (rank == 2) {
        change(&op);
      }
      job.model.Apply(op);
    }
    return job.Mismatch(2);
  };
  EXPECT_FALSE(with([](auto*) {}).has_value());
  EXPECT_FALSE(with([](auto* op) { op->stream = 7; }).has_value());
  for (const auto& found :
       {with([](auto* op) { op->count = 7; }), with([](auto* op) { op->datatype = "int64"; }),
        with([](auto* op) { op->name = "AllGather"; }), with([](auto* op) { op->root = 1; })}) {
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->component.kind, model::component_kind::kSoftware);
    EXPECT_EQ(found->component.rank, 2);
    EXPECT_EQ(found->action, model::action::kAlert);
  }
}

TEST(MismatchTest, ATieNamesNobody) {
  Job job(4);
  for (int rank = 0; rank < 4; ++rank) {
    model::OperationRecord op = job.Op(rank, 7, 1);
    op.name = rank < 2 ? "AllReduce" : "AllGather";
    job.model.Apply(op);
  }
  const auto found = job.Mismatch(2);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->component.rank.has_value());
}

TEST(ProcessTest, ExitCountsOnlyWhileOthersWait) {
  Job job(4);
  job.All(0, 1, 2);
  job.Exit(3, 2.5, 1);
  EXPECT_THAT(job.Gone(3), IsEmpty());
  for (const int rank : {0, 1, 2}) {
    job.model.Apply(job.Op(rank, 1, 3.5));
  }
  const auto gone = job.Gone(4);
  ASSERT_THAT(gone, SizeIs(1));
  EXPECT_EQ(gone[0].verdict_class, model::verdict_class::kProcessFailure);
  EXPECT_EQ(gone[0].component.rank, 3);
  EXPECT_EQ(gone[0].action, model::action::kRestart);
  EXPECT_THAT(gone[0].victims, ElementsAre(0, 1, 2));
}

TEST(ProcessTest, CleanExitIsUnevenWorkAfterAGrace) {
  Job job(2);
  job.Exit(1, 2.5, 0);
  job.model.Apply(job.Op(0, 0, 3));
  EXPECT_THAT(job.Gone(4), IsEmpty());
  const auto gone = job.Gone(8);
  ASSERT_THAT(gone, SizeIs(1));
  EXPECT_EQ(gone[0].verdict_class, model::verdict_class::kMismatchedCollective);
  EXPECT_EQ(gone[0].component.kind, model::component_kind::kSoftware);
}

TEST(ProcessTest, TheFirstToGoIsTheCause) {
  Job job(4);
  for (const int rank : {0, 3}) {
    job.model.Apply(job.Op(rank, 0, 1));
  }
  job.Exit(1, 3, -1, 15);
  job.Exit(2, 2, 1);
  const auto gone = job.Gone(4);
  ASSERT_THAT(gone, SizeIs(2));
  EXPECT_EQ(gone[0].component.rank, 2);
}

TEST(ProcessTest, KernelThatKilledItForMemoryIsAnExit) {
  Job job(4);
  for (const int rank : {0, 1, 3}) {
    job.model.Apply(job.Op(rank, 0, 1));
  }
  job.nodes.Apply({"n1", At(2), "oom_kill", "", 0, "", 0, "Killed process 40021 (python3)"});
  EXPECT_THAT(job.Gone(3), IsEmpty());  // another process
  job.nodes.Apply({"n1", At(2), "oom_kill", "", 0, "", 0, "Killed process 4002 (python3)"});
  const auto gone = job.Gone(4);
  ASSERT_THAT(gone, SizeIs(1));
  EXPECT_EQ(gone[0].component.rank, 2);
  EXPECT_THAT(gone[0].summary, HasSubstr("for memory"));
}

TEST(ProcessTest, RankThatCameBackAloneIsStillTheFailureOfItsOldProcess) {
  Job job(4);
  for (const int rank : {0, 1, 3}) {
    job.model.Apply(job.Op(rank, 899, 1));
  }
  job.Exit(2, 1.2, 1);
  job.model.Apply(model::CommunicatorRecord{"j", 0, "W2", "", {0, 1, 2, 3}});
  model::OperationRecord setup = job.Op(2, 0, 9);
  setup.communicator = "W2";
  job.model.Apply(setup);
  EXPECT_FALSE(job.Mismatch(10).has_value());
  const auto gone = job.Gone(10);
  ASSERT_THAT(gone, SizeIs(1));
  EXPECT_EQ(gone[0].verdict_class, model::verdict_class::kProcessFailure);
  EXPECT_EQ(gone[0].component.rank, 2);
  EXPECT_THAT(gone[0].summary, HasSubstr("started again alone"));
}

TEST(StallTest, OnlyAfterTheRhythmAllows) {
  Job job(2);
  job.All(0, 1, 2);
  job.All(1, 3, 4);
  job.model.AdvanceTo(At(60));
  EXPECT_FALSE(DetectStall(job.model, At(60)).has_value());  // two are no rhythm
  job.All(2, 61, 62);
  for (double now = 60; now <= 62; now += 0.25) {
    job.model.AdvanceTo(At(now));
  }
  EXPECT_FALSE(DetectStall(job.model, At(66.9)).has_value());
  const auto stall = DetectStall(job.model, At(67.1));
  ASSERT_TRUE(stall.has_value());
  EXPECT_EQ(stall->onset, At(62));
  StallOptions patient;
  patient.quiet_min = 80 * model::kSecond;
  EXPECT_FALSE(DetectStall(job.model, At(130), patient).has_value());
}

TEST(StartupTest, OnlyBeforeTheRhythmAndOnlyOnceSomethingWasCalled) {
  Job job(2);
  job.model.AdvanceTo(At(100));
  EXPECT_FALSE(DetectStartupStall(job.model, At(100)).has_value());
  job.model.Apply(job.Op(0, 0, 101));
  job.model.AdvanceTo(At(140));
  EXPECT_FALSE(DetectStartupStall(job.model, At(130)).has_value());
  EXPECT_TRUE(DetectStartupStall(job.model, At(132)).has_value());
  Job steady(2);
  for (std::uint64_t k = 0; k < 3; ++k) {
    steady.All(k, 1 + static_cast<double>(k), 1.5 + static_cast<double>(k));
  }
  steady.model.AdvanceTo(At(200));
  EXPECT_FALSE(DetectStartupStall(steady.model, At(200)).has_value());
}

}  // namespace
}  // namespace c4::detect
