#include "analyzer/ingest/watermark_tracker.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace c4::ingest {
namespace {

using model::kSecond;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

MATCHER_P2(Agent, node, silent, "") { return arg.node == node && arg.silent == silent; }

// Agents' clocks, the analyzer's realtime and monotonic clocks all tick together; each has its own
// epoch.
class WatermarkTrackerTest : public ::testing::Test {
 protected:
  static constexpr model::TimeNs kEpoch = 1'750'000'000 * kSecond;

  // The tracker as the owner uses it: an update every 100 ms.
  void Run(model::DurationNs until, const std::vector<std::string>& talking) {
    while (now_ < until) {
      now_ += kSecond / 10;
      for (const std::string& node : talking) Hear(node);
      Update();
    }
  }
  void Hear(const std::string& node) { tracker_.Heard(node, kEpoch + now_, kBoot + now_); }
  void Update() {
    change_ = tracker_.Update(kBoot + now_, kEpoch + now_);
    for (const auto& agent : change_.agents) changes_.push_back(agent);
  }
  // Relative to the epoch.
  model::TimeNs watermark() const { return change_.watermark - kEpoch; }

  static constexpr std::int64_t kBoot = 77 * kSecond;
  WatermarkTracker tracker_;
  model::DurationNs now_ = 0;
  WatermarkTracker::Change change_;
  std::vector<model::AgentRecord> changes_;
};

TEST_F(WatermarkTrackerTest, NothingIsJudgedBeforeAnybodyCameAndSettled) {
  Run(10 * kSecond, {});
  EXPECT_EQ(change_.watermark, 0);
  Run(12 * kSecond, {"n0"});
  EXPECT_EQ(change_.watermark, 0) << "others may be on their way";
  Run(14 * kSecond, {"n0", "n1"});
  EXPECT_EQ(watermark(), 14 * kSecond);
}

TEST_F(WatermarkTrackerTest, IsTheMinimumOfTheLiving) {
  Run(5 * kSecond, {"n0", "n1"});
  Run(7 * kSecond, {"n0"});
  EXPECT_EQ(watermark(), 5 * kSecond);
  EXPECT_THAT(changes_, IsEmpty());
}

TEST_F(WatermarkTrackerTest, ASilentAgentStopsHoldingItBackAndIsNamed) {
  Run(5 * kSecond, {"n0", "n1"});
  Run(8 * kSecond, {"n0"});
  EXPECT_EQ(watermark(), 5 * kSecond);
  Run(9 * kSecond, {"n0"});
  EXPECT_THAT(changes_, ElementsAre(Agent("n1", true)));
  EXPECT_EQ(changes_[0].time, kEpoch + 5 * kSecond + 1) << "just after its last word";
  EXPECT_EQ(watermark(), 9 * kSecond);

  Run(10 * kSecond, {"n0", "n1"});
  EXPECT_THAT(changes_, ElementsAre(Agent("n1", true), Agent("n1", false)));
  EXPECT_GT(changes_[1].time, changes_[0].time);
  EXPECT_EQ(watermark(), 10 * kSecond);
}

TEST_F(WatermarkTrackerTest, ChangesAreLaterThanWhatIsJudged) {
  Run(5 * kSecond, {"n0", "n1"});
  model::TimeNs before = change_.watermark;
  for (int i = 0; i < 100; ++i) {
    now_ += kSecond / 10;
    Hear("n0");
    if (i > 60) Hear("n1");
    Update();
    for (const auto& agent : change_.agents) {
      EXPECT_GT(agent.time, before);
      EXPECT_LE(agent.time, change_.watermark);
    }
    before = change_.watermark;
  }
  EXPECT_THAT(changes_, ElementsAre(Agent("n1", true), Agent("n1", false)));
}

TEST_F(WatermarkTrackerTest, WithNobodyAliveItFollowsTheAnalyzersClock) {
  Run(5 * kSecond, {"n0"});
  Run(7 * kSecond, {});
  EXPECT_EQ(watermark(), 5 * kSecond);
  Run(20 * kSecond, {});
  EXPECT_THAT(changes_, ElementsAre(Agent("n0", true)));
  EXPECT_EQ(watermark(), 17 * kSecond) << "the grace behind";
}

TEST_F(WatermarkTrackerTest, NeverMovesBack) {
  Run(5 * kSecond, {"n0"});
  tracker_.Heard("n1", kEpoch + 1 * kSecond, kBoot + now_);
  Update();
  EXPECT_EQ(watermark(), 5 * kSecond);
}

TEST_F(WatermarkTrackerTest, AnAgentFarBehindIsNotWaitedFor) {
  Run(100 * kSecond, {"n0"});
  for (int i = 0; i < 20; ++i) {
    now_ += kSecond / 10;
    Hear("n0");
    tracker_.Heard("lost-its-clock", kEpoch - 3600 * kSecond, kBoot + now_);
    Update();
  }
  EXPECT_EQ(watermark(), 102 * kSecond);
  EXPECT_THAT(changes_, IsEmpty()) << "it is alive";
}

TEST_F(WatermarkTrackerTest, AClockInTheFutureDoesNotPullIt) {
  Run(5 * kSecond, {"n0"});
  for (int i = 0; i < 20; ++i) {
    now_ += kSecond / 10;
    Hear("n0");
    tracker_.Heard("future", kEpoch + 3600 * kSecond, kBoot + now_);
    Update();
  }
  EXPECT_EQ(watermark(), 7 * kSecond);
  // Alone, it gets as far as its clock may be trusted.
  Run(20 * kSecond, {});
  for (int i = 0; i < 20; ++i) {
    now_ += kSecond / 10;
    tracker_.Heard("future", kEpoch + 7200 * kSecond, kBoot + now_);
    Update();
  }
  EXPECT_LE(watermark(), now_ + 10 * kSecond);
}

TEST_F(WatermarkTrackerTest, OurOwnPauseIsNotTheAgentsSilence) {
  Run(5 * kSecond, {"n0", "n1"});
  now_ += 60 * kSecond;  // stopped, or starved
  Update();
  EXPECT_THAT(changes_, IsEmpty());
  Run(now_ + 2 * kSecond, {"n0"});
  EXPECT_THAT(changes_, IsEmpty());
  Run(now_ + 2 * kSecond, {"n0"});
  EXPECT_THAT(changes_, ElementsAre(Agent("n1", true)));
}

TEST_F(WatermarkTrackerTest, AnAgentThatHasSaidNothingYetIsNotWaitedFor) {
  Run(5 * kSecond, {"n0"});
  now_ += kSecond;
  Hear("n0");
  tracker_.Heard("n1", 0, kBoot + now_);
  Update();
  EXPECT_EQ(watermark(), 6 * kSecond);
}

}  // namespace
}  // namespace c4::ingest
