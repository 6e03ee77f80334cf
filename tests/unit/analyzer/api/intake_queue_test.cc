#include "analyzer/api/intake_queue.h"

#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/analyzer/api/fake_link.h"

namespace c4::api {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

Intake BatchOf(std::shared_ptr<AgentLink> link, std::size_t size_bytes) {
  Intake intake;
  intake.link = std::move(link);
  ingest::DecodedBatch batch;
  batch.size_bytes = size_bytes;
  intake.message = std::move(batch);
  return intake;
}

TEST(IntakeQueue, AStreamPausesWhenTheQueueIsFullAndIsResumed) {
  IntakeQueue queue({.messages_max = 2, .bytes_max = 1000});
  const auto first = std::make_shared<FakeLink>();
  const auto second = std::make_shared<FakeLink>();
  EXPECT_TRUE(queue.Push(BatchOf(first, 1)));
  EXPECT_FALSE(queue.Push(BatchOf(second, 1)));
  EXPECT_EQ(queue.paused(), 1);
  EXPECT_THAT(queue.TakeAll(absl::ZeroDuration()), SizeIs(2)) << "nothing is dropped";
  EXPECT_EQ(first->resumed(), 0);
  EXPECT_EQ(second->resumed(), 1);
  EXPECT_TRUE(queue.Push(BatchOf(second, 1)));
}

TEST(IntakeQueue, BytesCountAsWell) {
  IntakeQueue queue({.messages_max = 100, .bytes_max = 1000});
  const auto link = std::make_shared<FakeLink>();
  EXPECT_TRUE(queue.Push(BatchOf(link, 900)));
  EXPECT_FALSE(queue.Push(BatchOf(link, 900)));
}

TEST(IntakeQueue, AStreamThatEndsWhilePausedIsForgotten) {
  IntakeQueue queue({.messages_max = 1, .bytes_max = 1000});
  auto link = std::make_shared<FakeLink>();
  EXPECT_FALSE(queue.Push(BatchOf(link, 1)));
  link.reset();
  auto taken = queue.TakeAll(absl::ZeroDuration());
  EXPECT_THAT(taken, SizeIs(1));
}

TEST(IntakeQueue, StopEndsAWait) {
  IntakeQueue queue;
  std::thread stopper([&] { queue.Stop(); });
  EXPECT_THAT(queue.TakeAll(absl::InfiniteDuration()), IsEmpty());
  stopper.join();
}

}  // namespace
}  // namespace c4::api
