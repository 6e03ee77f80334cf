#include "agent/app/loss_ledger.h"

#include "common/clock.h"
#include "gtest/gtest.h"

namespace c4::agent {
namespace {

class LossLedgerTest : public ::testing::Test {
 protected:
  v1::Batch Write() {
    ledger_.Write(&builder_);
    v1::Batch batch;
    EXPECT_TRUE(batch.ParseFromString(builder_.Take(0, 0)[0].control));
    return batch;
  }

  BatchBuilder builder_{NodeTime(ManualClock())};
  LossLedger ledger_;
};

TEST_F(LossLedgerTest, TellsTotalsOnceUntilTheyGrow) {
  ledger_.Set("file", "job", 3, "ring_overwritten", 5);
  EXPECT_EQ(Write().losses(0).count(), 5U);
  EXPECT_EQ(Write().losses_size(), 0);
  ledger_.Set("file", "job", 3, "ring_overwritten", 9);
  EXPECT_EQ(Write().losses(0).count(), 9U);
  ledger_.Rewind();
  EXPECT_EQ(Write().losses(0).count(), 9U);
}

TEST_F(LossLedgerTest, SourcesOfOneRankAddUpAndOutliveTheirFiles) {
  ledger_.Set("old", "job", 3, "bad_record", 5);
  ledger_.Forget("old");
  ledger_.Set("new", "job", 3, "bad_record", 2);
  EXPECT_EQ(Write().losses(0).count(), 7U);
}

TEST_F(LossLedgerTest, NothingLostIsNothingToTell) {
  ledger_.Set("file", "job", 3, "bad_record", 0);
  EXPECT_EQ(Write().losses_size(), 0);
}

}  // namespace
}  // namespace c4::agent
