#include "agent/rings/operation_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/agent/rings/fake_hook.h"
#include "tests/unit/agent/scratch.h"

namespace c4::agent {
namespace {

using ::testing::ElementsAre;
using testing::FakeHook;
using ::testing::IsEmpty;

constexpr std::int64_t kNow = 50 * kSecondNs;

class OperationReaderTest : public ::testing::Test {
 protected:
  OperationReaderTest() {
    hook_.AddCommunicator(0, 11);
    HeaderBytes bytes;
    EXPECT_TRUE(file_.ReadAt(0, bytes).ok());
    reader_.emplace(*ParseLayout(bytes));
  }
  HookFile OpenFile() const {
    return *HookFile::FromDescriptor(open(scratch_.Path("1-1.c4").c_str(), O_RDONLY), "1-1.c4");
  }
  // Positions of what one pass gives.
  std::vector<std::uint64_t> Poll(std::int64_t now_ns = kNow) {
    given_.clear();
    EXPECT_TRUE(reader_->Poll(file_, hook_.header().operation_head, now_ns, &given_).ok());
    std::vector<std::uint64_t> positions;
    for (const OperationInfo& operation : given_) positions.push_back(operation.position);
    return positions;
  }

  testing::Scratch scratch_;
  FakeHook hook_{scratch_.Path("1-1.c4"), {.operation_capacity = 8}};
  HookFile file_ = OpenFile();
  std::optional<OperationReader> reader_;
  std::vector<OperationInfo> given_;
};

TEST_F(OperationReaderTest, GivesEachOperationOnce) {
  hook_.Run(kNow - 100);
  hook_.Run(kNow - 50);
  EXPECT_THAT(Poll(), ElementsAre(0, 1));
  EXPECT_EQ(given_[0].end_ns, kNow + 100);
  EXPECT_EQ(given_[0].count, 1024U);
  EXPECT_THAT(Poll(), IsEmpty());
  hook_.Run(kNow);
  EXPECT_THAT(Poll(), ElementsAre(2));
  EXPECT_EQ(reader_->losses().overwritten, 0U);
}

TEST_F(OperationReaderTest, GivesAnOperationAgainWheneverItHasChanged) {
  const auto position = hook_.Begin(kNow);
  EXPECT_THAT(Poll(), ElementsAre(0));
  EXPECT_EQ(given_[0].end_ns, 0);
  EXPECT_FALSE(given_[0].is_update);
  EXPECT_THAT(Poll(), IsEmpty());
  hook_.slot(position).start_ns = kNow + 5;
  EXPECT_THAT(Poll(), ElementsAre(0));
  EXPECT_EQ(given_[0].start_ns, kNow + 5);
  EXPECT_TRUE(given_[0].is_update);
  hook_.End(position, kNow + 5, kNow + 9);
  EXPECT_THAT(Poll(), ElementsAre(0));
  EXPECT_EQ(given_[0].end_ns, kNow + 9);
  EXPECT_THAT(Poll(), IsEmpty());
  EXPECT_EQ(reader_->in_flight(), 0U);
}

TEST_F(OperationReaderTest, FollowsTheRingRoundManyTimes) {
  for (std::uint64_t i = 0; i < 100; i += 4) {
    for (int j = 0; j < 4; ++j) hook_.Run(kNow);
    EXPECT_THAT(Poll(), ElementsAre(i, i + 1, i + 2, i + 3));
  }
  EXPECT_EQ(reader_->losses().overwritten, 0U);
}

TEST_F(OperationReaderTest, CountsWhatWasOverwritten) {
  hook_.Run(kNow);
  Poll();
  for (int i = 0; i < 20; ++i) hook_.Run(kNow);  // positions 1 … 20; 13 … 20 are still there
  EXPECT_THAT(Poll(), ElementsAre(13, 14, 15, 16, 17, 18, 19, 20));
  EXPECT_EQ(reader_->losses().overwritten, 12U);
}

TEST_F(OperationReaderTest, AnAgentThatComesLateHasLostNothing) {
  for (int i = 0; i < 20; ++i) hook_.Run(kNow);
  EXPECT_EQ(Poll().size(), 8U);
  EXPECT_EQ(reader_->losses().overwritten, 0U);
}

TEST_F(OperationReaderTest, ASkippedPositionIsNoLossAndDoesNotHoldBack) {
  const auto stuck = hook_.Begin(kNow);
  for (int i = 0; i < 7; ++i) hook_.Run(kNow);
  Poll();
  hook_.Claim();  // position 8: its slot is in flight, the hook skips it and counts that
  hook_.Run(kNow);
  EXPECT_THAT(Poll(), ElementsAre(9));
  EXPECT_EQ(reader_->hold_ns(), 0);
  EXPECT_EQ(reader_->losses().overwritten, 0U);
  hook_.End(stuck, kNow, kNow + 1);
  EXPECT_THAT(Poll(), ElementsAre(0));
}

TEST_F(OperationReaderTest, FindsTheOperationThatIsStuckForLongerThanALap) {
  hook_.Begin(kNow - kSecondNs);
  for (int i = 0; i < 7; ++i) hook_.Run(kNow);
  hook_.Claim();
  hook_.Run(kNow);
  EXPECT_THAT(Poll(), ElementsAre(2, 3, 4, 5, 6, 7, 0, 9));
  EXPECT_EQ(reader_->in_flight(), 1U);
  EXPECT_THAT(Poll(), IsEmpty());
}

TEST_F(OperationReaderTest, APositionBeingWrittenIsWaitedForAndHoldsBack) {
  const auto position = hook_.Claim();
  hook_.slot(position).ticket = 0;
  hook_.Run(kNow);
  EXPECT_THAT(Poll(kNow), ElementsAre(1));
  EXPECT_EQ(reader_->hold_ns(), kNow);
  EXPECT_THAT(Poll(kNow + kMillisecondNs), IsEmpty());
  EXPECT_EQ(reader_->hold_ns(), kNow);
  hook_.Publish(position, kNow - 5);
  EXPECT_THAT(Poll(kNow + 2 * kMillisecondNs), ElementsAre(0));
  EXPECT_EQ(reader_->hold_ns(), 0);
}

TEST_F(OperationReaderTest, NobodyIsWaitedForForEver) {
  hook_.Claim();
  Poll(kNow);
  Poll(kNow + kPendingHoldNs);
  EXPECT_EQ(reader_->hold_ns(), 0);
  Poll(kNow + kPendingGiveUpNs);
  hook_.Publish(0, kNow);
  EXPECT_THAT(Poll(kNow + kPendingGiveUpNs + 1), IsEmpty());
}

TEST_F(OperationReaderTest, AnEndThatWasOverwrittenMakesTheOperationUntimed) {
  const auto position = hook_.Begin(kNow);
  Poll();
  hook_.End(position, kNow, kNow + 1);
  for (int i = 0; i < 8; ++i) hook_.Run(kNow);
  const auto positions = Poll();
  ASSERT_EQ(positions.size(), 9U);
  EXPECT_EQ(positions[0], position);
  EXPECT_NE(given_[0].flags & abi::kOperationUntimed, 0);
  EXPECT_EQ(given_[0].count, 1024U);
}

TEST_F(OperationReaderTest, RewindGivesEverythingThatTheRingHolds) {
  for (int i = 0; i < 10; ++i) hook_.Run(kNow);
  const auto open_position = hook_.Begin(kNow);
  Poll();
  reader_->Rewind();
  EXPECT_THAT(Poll(), ElementsAre(3, 4, 5, 6, 7, 8, 9, open_position));
  hook_.End(open_position, kNow, kNow + 1);
  EXPECT_THAT(Poll(), ElementsAre(open_position));
  EXPECT_EQ(reader_->losses().overwritten, 0U);
}

TEST_F(OperationReaderTest, ImpossibleValuesCostTheRecordAlone) {
  hook_.Run(kNow);
  hook_.slot(hook_.Run(kNow)).kind = 200;
  hook_.slot(hook_.Run(kNow)).root = -7;
  hook_.slot(hook_.Run(kNow)).enqueue_ns = kNow + 10 * kSecondNs;
  hook_.slot(hook_.Run(kNow)).end_ns = kNow - 5 * kSecondNs;
  hook_.slot(hook_.Run(kNow)).enqueue_ns = -1;
  hook_.slot(hook_.Run(kNow)).ticket = 3;  // belongs to another slot
  hook_.Run(kNow);
  EXPECT_THAT(Poll(), ElementsAre(0, 7));
  EXPECT_EQ(reader_->losses().bad_records, 6U);
}

TEST_F(OperationReaderTest, ATruncatedFileIsAnError) {
  hook_.Run(kNow);
  ASSERT_EQ(truncate(scratch_.Path("1-1.c4").c_str(), 4096), 0);
  EXPECT_FALSE(reader_->Poll(file_, 1, kNow, &given_).ok());
}

}  // namespace
}  // namespace c4::agent
