#include "agent/rings/ring_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "gtest/gtest.h"
#include "tests/unit/agent/rings/fake_hook.h"
#include "tests/unit/agent/scratch.h"

namespace c4::agent {
namespace {

using testing::FakeHook;

constexpr std::int64_t kNow = 50'000'000'000;

class RingReaderTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<RingReader>> Open() {
    return RingReader::Open(
        *HookFile::FromDescriptor(open(scratch_.Path("1-1.c4").c_str(), O_RDONLY), "1-1.c4"));
  }
  absl::Status Poll(RingReader* reader) {
    pass_.Clear();
    return reader->Poll(kNow, &pass_);
  }

  testing::Scratch scratch_;
  FakeHook hook_{scratch_.Path("1-1.c4"), {}};
  RingPass pass_;
};

TEST_F(RingReaderTest, GivesIdentityCommunicatorsAndResolvedOperations) {
  hook_.AddCommunicator(0, 11);
  hook_.Run(kNow);
  const auto reader = Open();
  ASSERT_TRUE(reader.ok());
  ASSERT_TRUE(Poll(reader->get()).ok());
  EXPECT_TRUE(pass_.has_identity_changed);
  ASSERT_EQ(pass_.communicators.size(), 1U);
  ASSERT_EQ(pass_.operations.size(), 1U);
  EXPECT_EQ(pass_.operations[0].communicator, 11U);
  ASSERT_TRUE(Poll(reader->get()).ok());
  EXPECT_FALSE(pass_.has_identity_changed);
}

TEST_F(RingReaderTest, IdentityThatBecomesKnownLaterIsGivenAgain) {
  hook_.header().global_rank = -1;
  const auto reader = Open();
  ASSERT_TRUE(Poll(reader->get()).ok());
  hook_.header().global_rank = 5;
  std::string("0000:1b:00.0").copy(hook_.header().gpu_pci, 32);
  ASSERT_TRUE(Poll(reader->get()).ok());
  EXPECT_TRUE(pass_.has_identity_changed);
  EXPECT_EQ((*reader)->identity().global_rank, 5);
  EXPECT_EQ((*reader)->identity().gpu_pci, "0000:1b:00.0");
}

TEST_F(RingReaderTest, OperationsOfUnknownCommunicatorsAreCounted) {
  hook_.AddCommunicator(0, 11);
  hook_.slot(hook_.Run(kNow)).communicator_generation = 9;
  hook_.slot(hook_.Run(kNow)).communicator = 1'000'000;
  hook_.Run(kNow);
  const auto reader = Open();
  ASSERT_TRUE(Poll(reader->get()).ok());
  EXPECT_EQ(pass_.operations.size(), 1U);
  EXPECT_EQ((*reader)->losses().unknown_communicators, 2U);
}

TEST_F(RingReaderTest, AHeaderThatIsNotThereYetIsUnavailable) {
  scratch_.Write("1-1.c4", "");
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(RingReaderTest, AFileShorterThanItsHeaderPromisesIsRefused) {
  ASSERT_EQ(truncate(scratch_.Path("1-1.c4").c_str(), static_cast<off_t>(hook_.file_bytes()) - 1),
            0);
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(RingReaderTest, TruncationBetweenPassesIsAnError) {
  hook_.AddCommunicator(0, 11);
  const auto reader = Open();
  ASSERT_TRUE(Poll(reader->get()).ok());
  ASSERT_EQ(truncate(scratch_.Path("1-1.c4").c_str(), 5000), 0);
  EXPECT_FALSE(Poll(reader->get()).ok());
}

TEST_F(RingReaderTest, AHeadThatGoesBackIsAnError) {
  hook_.AddCommunicator(0, 11);
  hook_.Run(kNow);
  const auto reader = Open();
  ASSERT_TRUE(Poll(reader->get()).ok());
  hook_.header().operation_head = 0;
  EXPECT_FALSE(Poll(reader->get()).ok());
}

TEST_F(RingReaderTest, AHeadBeyondReasonIsAnError) {
  const auto reader = Open();
  hook_.header().operation_head = ~0ULL;
  EXPECT_FALSE(Poll(reader->get()).ok());
}

TEST_F(RingReaderTest, ALayoutOrOwnerThatChangesIsAnError) {
  auto reader = Open();
  hook_.header().operation_capacity = 4;
  EXPECT_FALSE(Poll(reader->get()).ok());
  hook_.header().operation_capacity = 8;
  reader = Open();
  ASSERT_TRUE(Poll(reader->get()).ok());
  hook_.header().pid = 1;
  EXPECT_FALSE(Poll(reader->get()).ok());
}

}  // namespace
}  // namespace c4::agent
