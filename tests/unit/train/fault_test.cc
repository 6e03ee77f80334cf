// The words of a fault, and the trigger file.
#include "tests/train/fault.h"

#include <gtest/gtest.h>

#include <fstream>

namespace c4::train {
namespace {

TEST(FaultWords, SetWhatTheyName) {
  Fault fault;
  ASSERT_TRUE(ApplyFaultWords("fault=slow-gpu rank=5 step=30\npercent=40 ms=7 kind=op", &fault));
  EXPECT_EQ(fault.kind, Fault::Kind::kSlowGpu);
  EXPECT_EQ(fault.rank, 5);
  EXPECT_EQ(fault.step, 30);
  EXPECT_EQ(fault.percent, 40);
  EXPECT_EQ(fault.ms, 7);
  EXPECT_EQ(fault.mismatch_kind, Fault::MismatchKind::kOperation);
}

TEST(FaultWords, NothingChangesWhenOneIsWrong) {
  for (const char* words :
       {"rank=5 fault=melt", "rank=-1", "rank=5x", "rank", "colour=red", "kind=length", "step="}) {
    Fault fault;
    EXPECT_FALSE(ApplyFaultWords(words, &fault)) << words;
    EXPECT_EQ(fault, Fault()) << words;
  }
}

TEST(Fault, BeginsAtItsStepAndStays) {
  Fault fault;
  EXPECT_FALSE(fault.ActiveAt(100)) << "no fault";
  ASSERT_TRUE(ApplyFaultWords("fault=dead-rank step=30", &fault));
  EXPECT_FALSE(fault.ActiveAt(29));
  EXPECT_TRUE(fault.ActiveAt(30));
  EXPECT_TRUE(fault.ActiveAt(31));
}

TEST(Trigger, SaysNothingUntilItIsWhole) {
  const std::string path = testing::TempDir() + "c4_train_trigger";
  std::remove(path.c_str());
  EXPECT_FALSE(ReadTrigger(path).has_value()) << "absent";
  std::ofstream(path) << "fault=hang-";
  EXPECT_FALSE(ReadTrigger(path).has_value()) << "half written";
  std::ofstream(path) << "fault=hang-host rank=3 step=9\n";
  const std::optional<Fault> fault = ReadTrigger(path);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, Fault::Kind::kHangHost);
  EXPECT_EQ(fault->rank, 3);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace c4::train
