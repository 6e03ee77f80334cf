// A writer at full speed against the reader: every slot that is given must be consistent, and every
// position given, skipped or counted. Not for ThreadSanitizer: the two share memory through the
// kernel, as two processes do.
#include <fcntl.h>

#include <atomic>
#include <set>
#include <thread>

#include "agent/rings/ring_reader.h"
#include "gtest/gtest.h"
#include "tests/unit/agent/rings/fake_hook.h"
#include "tests/unit/agent/scratch.h"

namespace c4::agent {
namespace {

constexpr std::int64_t kNow = 50'000'000'000;
constexpr std::uint64_t kOperations = 200'000;

TEST(ConcurrentWriterTest, NothingTornNothingUncounted) {
  const testing::Scratch scratch;
  testing::FakeHook hook(scratch.Path("1-1.c4"), {.operation_capacity = 512});
  hook.AddCommunicator(0, 11);
  auto reader = RingReader::Open(
      *HookFile::FromDescriptor(open(scratch.Path("1-1.c4").c_str(), O_RDONLY), "1-1.c4"));
  ASSERT_TRUE(reader.ok());

  // From the beginning on: what was written before the first pass is no loss of the reader.
  RingPass pass;
  ASSERT_TRUE((*reader)->Poll(kNow, &pass).ok());

  std::atomic<bool> is_done{false};
  std::thread writer([&] {
    for (std::uint64_t i = 0; i < kOperations; ++i) {
      // Fields that tell whether they belong together: enqueue says which position.
      hook.Run(kNow - static_cast<std::int64_t>(kOperations) + static_cast<std::int64_t>(i));
    }
    is_done = true;
  });
  std::set<std::uint64_t> seen;
  for (bool is_last = false; !is_last;) {
    is_last = is_done;
    pass.Clear();
    ASSERT_TRUE((*reader)->Poll(kNow, &pass).ok());
    for (const OperationInfo& operation : pass.operations) {
      seen.insert(operation.position);
      ASSERT_EQ(operation.sequence, operation.position);
      ASSERT_EQ(operation.enqueue_ns, kNow - static_cast<std::int64_t>(kOperations) +
                                          static_cast<std::int64_t>(operation.position));
      if (operation.end_ns != 0) {
        ASSERT_EQ(operation.end_ns, operation.enqueue_ns + 200);
      }
    }
  }
  writer.join();
  const ReadLosses losses = (*reader)->losses();
  EXPECT_EQ(losses.bad_records, 0U);
  // One whose end was overwritten is both given and counted.
  EXPECT_GE(seen.size() + losses.overwritten, kOperations)
      << "unpublished " << losses.unpublished << ", unknown communicators "
      << losses.unknown_communicators << ", last " << *seen.rbegin() << ", head "
      << hook.header().operation_head;
  EXPECT_GT(seen.size(), 512U);
  EXPECT_EQ((*reader)->in_flight(), 0U);
}

}  // namespace
}  // namespace c4::agent
