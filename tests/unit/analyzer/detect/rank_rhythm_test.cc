#include "analyzer/detect/rank_rhythm.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace c4::detect {
namespace {

using model::TimeNs;

constexpr TimeNs kBegin = 1'750'000'000 * model::kSecond;

// One rank of four; calls are made and settled at once.
class OneRank {
 public:
  explicit OneRank(int rank = 0) : rank_(rank), job_("j", 0) {
    job_.Apply(model::CommunicatorRecord{"j", 0, "world", "", {0, 1, 2, 3}});
    job_.Apply(model::CommunicatorRecord{"j", 0, "pair", "", {0, 1}});
    job_.Apply(model::CommunicatorRecord{"j", 0, "experts", "", {0, 1, 2, 3}});
  }

  void Call(const std::string& communicator, const std::string& name, double gap_ms,
            double duration_ms, int peer = -1, std::uint32_t group = 0) {
    now_ += static_cast<TimeNs>(gap_ms * 1e6);
    model::OperationRecord op;
    op.job = "j";
    op.rank = rank_;
    op.communicator = communicator;
    op.sequence =
        sequences_[peer < 0 ? communicator : communicator + name + std::to_string(peer)]++;
    op.name = name;
    op.peer = peer;
    op.group = group;
    op.enqueue = now_ - 1000;
    op.start = now_;
    op.end = now_ + static_cast<TimeNs>(duration_ms * 1e6);
    now_ = group == 0 ? op.end : now_;
    job_.Apply(op);
    job_.AdvanceTo(op.end);
    for (const model::Operation* operation : job_.TakeEnqueued()) {
      rhythm_.Add(job_, *operation);
    }
    for (const model::Operation* operation : job_.TakeSettled()) {
      rhythm_.Settle(*operation);
    }
    rhythm_.Advance(op.end);
    for (RankStep& step : rhythm_.Take()) {
      steps_.push_back(std::move(step));
    }
  }
  void Wait(double ms) { now_ += static_cast<TimeNs>(ms * 1e6); }

  RankRhythm& rhythm() { return rhythm_; }
  std::vector<RankStep>& steps() { return steps_; }

 private:
  const int rank_;
  model::JobModel job_;
  RankRhythm rhythm_;
  TimeNs now_ = kBegin;
  std::map<std::string, std::uint64_t> sequences_;
  std::vector<RankStep> steps_;
};

void TrainStep(OneRank* rank) {
  for (int layer = 0; layer < 3; ++layer) {
    rank->Call("pair", "AllReduce", 20, 1);
  }
  rank->Call("world", "ReduceScatter", 10, 5);
  rank->Call("world", "AllGather", 2, 5);
}

TEST(RankRhythmTest, StepHoldsTheOperationsOfAllChains) {
  OneRank rank;
  for (int step = 0; step < 20; ++step) {
    TrainStep(&rank);
  }
  ASSERT_TRUE(rank.rhythm().found());
  ASSERT_GE(rank.steps().size(), 10U);
  // Before the longer repeat is seen, shorter ones count as steps.
  rank.steps().erase(rank.steps().begin(), rank.steps().end() - 10);
  for (const RankStep& step : rank.steps()) {
    EXPECT_EQ(step.samples.size(), 5U);
    EXPECT_NEAR(static_cast<double>(step.span()), 85e6, 1e5);
    for (const Sample& sample : step.samples) {
      EXPECT_TRUE(sample.known());
    }
  }
  // Two chains: three operations of the pair, two of the world, in whichever order.
  EXPECT_EQ(rank.rhythm().offsets().size(), 3U);
}

TEST(RankRhythmTest, RanksThatDoTheSameHaveTheSameRoleAndKeys) {
  OneRank a(0);
  OneRank b(1);
  OneRank other(2);
  for (int step = 0; step < 20; ++step) {
    TrainStep(&a);
    b.Wait(1);
    TrainStep(&b);
    other.Call("world", "ReduceScatter", 70, 5);
    other.Call("world", "AllGather", 2, 5);
  }
  EXPECT_EQ(a.rhythm().role(), b.rhythm().role());
  EXPECT_NE(a.rhythm().role(), other.rhythm().role());
  ASSERT_FALSE(a.steps().empty());
  ASSERT_EQ(a.steps().size(), b.steps().size());
  EXPECT_EQ(a.steps().back().key, b.steps().back().key);
}

TEST(RankRhythmTest, StepWithMoreInItIsLeftOutAndTheNextIsNot) {
  OneRank rank;
  for (int step = 0; step < 20; ++step) {
    TrainStep(&rank);
  }
  const std::size_t before = rank.steps().size();
  rank.Call("pair", "AllReduce", 5000, 1);  // an evaluation
  rank.Call("pair", "AllReduce", 10, 1);
  for (int step = 0; step < 6; ++step) {
    TrainStep(&rank);
  }
  ASSERT_TRUE(rank.rhythm().found());
  EXPECT_GE(rank.steps().size(), before + 3);
  for (const RankStep& step : rank.steps()) {
    EXPECT_LT(step.span(), 100 * model::kMillisecond);
  }
}

TEST(RankRhythmTest, ExchangeWithManyPeersIsOneOperation) {
  OneRank rank;
  std::uint32_t group = 1;
  for (int step = 0; step < 30; ++step) {
    for (int exchange = 0; exchange < 2; ++exchange) {
      rank.Wait(15);
      for (int peer = 1; peer < 4; ++peer) {
        rank.Call("experts", "Send", 0, 4, peer, group);
        rank.Call("experts", "Recv", 0, 4, peer, group);
      }
      rank.Wait(4);
      ++group;
    }
    rank.Call("world", "AllReduce", 30, 2);
  }
  ASSERT_TRUE(rank.rhythm().found());
  ASSERT_FALSE(rank.steps().empty());
  EXPECT_EQ(rank.steps().back().samples.size(), 3U);
  EXPECT_TRUE(rank.rhythm().below().empty()) << "an exchange is no pipeline";
}

TEST(RankRhythmTest, PipelineStagesBelowAreThoseItReceivesFrom) {
  OneRank rank(1);
  for (int step = 0; step < 12; ++step) {
    rank.Call("pair", "Recv", 20, 3, 0);
    rank.Call("pair", "Send", 20, 1, 0);
    rank.Call("world", "AllReduce", 20, 1);
  }
  EXPECT_EQ(rank.rhythm().below(), std::set<int>{0});
}

TEST(RankRhythmTest, CommunicatorsThatComeAndGoAreBounded) {
  model::JobModel job("j", 0);
  RankRhythm rhythm;
  for (int i = 0; i < 3 * static_cast<int>(RankRhythm::kChainsMax); ++i) {
    const std::string id = "c" + std::to_string(i);
    job.Apply(model::CommunicatorRecord{"j", 0, id, "", {0, 1}});
    model::OperationRecord op;
    op.job = "j";
    op.rank = 0;
    op.communicator = id;
    op.name = "AllReduce";
    op.enqueue = kBegin + i;
    job.Apply(op);
    job.AdvanceTo(op.enqueue);
    for (const model::Operation* operation : job.TakeEnqueued()) {
      rhythm.Add(job, *operation);
    }
  }
  rhythm.Advance(kBegin + model::kSecond);
  EXPECT_FALSE(rhythm.found());
}

}  // namespace
}  // namespace c4::detect
