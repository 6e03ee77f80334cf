#include "agent/uplink/spool.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace c4::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Payload Operations(std::size_t bytes, std::uint64_t count = 1, int rank = 0) {
  Payload payload;
  payload.operations.assign(bytes, 'o');
  payload.operation_counts.push_back({"job", rank, count});
  return payload;
}

Payload Control(const std::string& bytes) {
  Payload payload;
  payload.control = bytes;
  payload.control_records = 1;
  return payload;
}

TEST(SpoolTest, SendsInOrderAndNumbersFromOne) {
  Spool spool;
  EXPECT_EQ(spool.NextToSend(), nullptr);
  spool.Push(Control("a"));
  spool.Push(Control("b"));
  EXPECT_EQ(spool.NextToSend()->sequence, 1U);
  EXPECT_EQ(spool.NextToSend()->sequence, 2U);
  EXPECT_EQ(spool.NextToSend(), nullptr);
  EXPECT_TRUE(spool.Acknowledge(2));
  EXPECT_TRUE(spool.empty());
  EXPECT_EQ(spool.bytes(), 0U);
}

TEST(SpoolTest, ResendsExactlyWhatWasNotAcknowledged) {
  Spool spool;
  for (const char* const text : {"a", "b", "c"}) spool.Push(Control(text));
  while (spool.NextToSend() != nullptr) {
  }
  EXPECT_TRUE(spool.Acknowledge(1));
  spool.Unsend();
  const Spool::Entry* const again = spool.NextToSend();
  EXPECT_EQ(again->sequence, 2U);
  EXPECT_EQ(again->payload.control, "b");
  EXPECT_EQ(again->attempts, 2);
  EXPECT_EQ(spool.NextToSend()->sequence, 3U);
}

TEST(SpoolTest, AcknowledgementsOfWhatWasNeverMadeAreNonsense) {
  Spool spool;
  spool.Push(Control("a"));
  spool.NextToSend();
  EXPECT_FALSE(spool.Acknowledge(2));
  EXPECT_FALSE(spool.Acknowledge(~0ULL));
  EXPECT_TRUE(spool.Acknowledge(1));
  EXPECT_TRUE(spool.Acknowledge(1));  // repeated, harmless
  EXPECT_TRUE(spool.Acknowledge(0));
}

TEST(SpoolTest, OnlySoMuchIsUnderWay) {
  Spool spool({.unacknowledged_bytes_max = 3000});
  for (int i = 0; i < 3; ++i) spool.Push(Operations(1200));
  EXPECT_NE(spool.NextToSend(), nullptr);
  EXPECT_NE(spool.NextToSend(), nullptr);
  EXPECT_EQ(spool.NextToSend(), nullptr);
  spool.Acknowledge(1);
  EXPECT_NE(spool.NextToSend(), nullptr);
}

TEST(SpoolTest, ABatchLargerThanTheWindowStillGoes) {
  Spool spool({.unacknowledged_bytes_max = 100});
  spool.Push(Operations(5000));
  EXPECT_NE(spool.NextToSend(), nullptr);
}

TEST(SpoolTest, DropsTheOldestOperationsAndKeepsTheRest) {
  Spool spool({.bytes_max = 10'000});
  Payload first = Operations(4000, 40, 1);
  first.control = "process exited";
  first.control_records = 1;
  spool.Push(std::move(first));
  spool.Push(Operations(4000, 41, 2));
  spool.Push(Operations(4000, 42, 3));
  EXPECT_THAT(spool.dropped(), ElementsAre(Pair(Pair("job", 1), 40U)));
  EXPECT_LE(spool.bytes(), 10'000U);
  const Spool::Entry* const entry = spool.NextToSend();
  EXPECT_EQ(entry->sequence, 1U);
  EXPECT_EQ(entry->payload.control, "process exited");
  EXPECT_TRUE(entry->payload.operations.empty());
}

TEST(SpoolTest, WithoutOperationsTheOldestRecordsGo) {
  Spool spool({.bytes_max = 2000});
  for (int i = 0; i < 10; ++i) spool.Push(Control(std::string(400, 'c')));
  EXPECT_LE(spool.bytes(), 2000U);
  EXPECT_GT(spool.dropped().at({"", -1}), 0U);
  EXPECT_GT(spool.NextToSend()->sequence, 1U);
}

TEST(SpoolTest, StaysBoundedForEverWithAnAnalyzerThatIsAway) {
  Spool spool({.bytes_max = 100'000});
  for (int i = 0; i < 10'000; ++i) {
    Payload payload = Operations(900, 9);
    payload.control = std::string(20, 'c');
    payload.control_records = 1;
    spool.Push(std::move(payload));
    ASSERT_LE(spool.bytes(), 100'000U);
  }
  EXPECT_GT(spool.dropped().at({"job", 0}), 80'000U);
}

TEST(SpoolTest, DroppingWhatIsUnderWayKeepsTheBooks) {
  Spool spool({.bytes_max = 6000, .unacknowledged_bytes_max = 5000});
  spool.Push(Operations(4000));
  spool.NextToSend();
  spool.Push(Operations(4000));  // drops the operations of the first, which is under way
  EXPECT_EQ(spool.dropped().size(), 1U);
  EXPECT_NE(spool.NextToSend(), nullptr);  // its window is free again
  EXPECT_TRUE(spool.Acknowledge(2));
  EXPECT_EQ(spool.bytes(), 0U);
}

TEST(SpoolTest, ARestartForgetsOperationsAndKeepsRecordsBeforeTheNewOnes) {
  Spool spool;
  Payload mixed = Operations(100);
  mixed.control = "event";
  mixed.control_records = 1;
  mixed.complete_until_ns = 500;
  spool.Push(std::move(mixed));
  spool.Push(Operations(100));
  spool.NextToSend();
  Payload first = Control("ranks");
  first.complete_until_ns = 100;
  spool.Restart(std::move(first));
  const Spool::Entry* entry = spool.NextToSend();
  EXPECT_EQ(entry->payload.control, "event");
  EXPECT_TRUE(entry->payload.operations.empty());
  EXPECT_EQ(entry->payload.complete_until_ns, 0);
  entry = spool.NextToSend();
  EXPECT_EQ(entry->payload.control, "ranks");
  EXPECT_EQ(entry->sequence, 3U);
  EXPECT_EQ(spool.NextToSend(), nullptr);
  EXPECT_THAT(spool.dropped(), IsEmpty());
  EXPECT_TRUE(spool.Acknowledge(3));
  EXPECT_EQ(spool.bytes(), 0U);
}

TEST(SpoolTest, ABatchThatEndsEveryStreamIsDroppedAtLast) {
  Spool spool;
  spool.Push(Operations(10, 7));
  spool.Push(Operations(10, 8));
  for (int i = 0; i < 3; ++i) {
    spool.NextToSend();
    EXPECT_EQ(spool.DropPoison(3), i == 2);
    spool.Unsend();
  }
  EXPECT_THAT(spool.rejected(), ElementsAre(Pair(Pair("job", 0), 7U)));
  EXPECT_EQ(spool.NextToSend()->sequence, 2U);
}

}  // namespace
}  // namespace c4::agent
