#include "agent/rings/hook_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "gtest/gtest.h"
#include "tests/unit/agent/scratch.h"

namespace c4::agent {
namespace {

class HookFileTest : public ::testing::Test {
 protected:
  HookFileTest() : directory_(open(scratch_.path().c_str(), O_RDONLY | O_DIRECTORY)) {}
  ~HookFileTest() override { close(directory_); }
  absl::StatusCode Open(const std::string& name) {
    return HookFile::Open(directory_, name).status().code();
  }

  testing::Scratch scratch_;
  int directory_;
};

TEST_F(HookFileTest, ReadsWhatIsThere) {
  scratch_.Write("a.c4", "0123456789");
  const auto file = HookFile::Open(directory_, "a.c4");
  ASSERT_TRUE(file.ok());
  std::array<std::byte, 4> bytes{};
  ASSERT_TRUE(file->ReadAt(3, bytes).ok());
  EXPECT_EQ(bytes[0], std::byte{'3'});
  EXPECT_EQ(*file->SizeBytes(), 10U);
  EXPECT_EQ(file->owner(), geteuid());
}

TEST_F(HookFileTest, ReadingBehindTheEndIsAnError) {
  scratch_.Write("a.c4", "0123456789");
  const auto file = HookFile::Open(directory_, "a.c4");
  std::array<std::byte, 4> bytes{};
  EXPECT_EQ(file->ReadAt(8, bytes).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(file->ReadAt(1ULL << 40, bytes).code(), absl::StatusCode::kOutOfRange);
  EXPECT_FALSE(file->ReadAt(~0ULL, bytes).ok());
}

TEST_F(HookFileTest, TruncationWhileReadingIsAnErrorAndNothingElse) {
  scratch_.Write("a.c4", std::string(100'000, 'x'));
  const auto file = HookFile::Open(directory_, "a.c4");
  std::array<std::byte, 4> bytes{};
  ASSERT_TRUE(file->ReadAt(90'000, bytes).ok());
  ASSERT_EQ(truncate(scratch_.Path("a.c4").c_str(), 10), 0);
  EXPECT_EQ(file->ReadAt(90'000, bytes).code(), absl::StatusCode::kOutOfRange);
}

TEST_F(HookFileTest, SymbolicLinksAreNotFollowed) {
  scratch_.Write("a.c4", "x");
  ASSERT_EQ(symlink("a.c4", scratch_.Path("b.c4").c_str()), 0);
  EXPECT_EQ(Open("b.c4"), absl::StatusCode::kFailedPrecondition);
}

TEST_F(HookFileTest, FifosAndDirectoriesAreRefusedWithoutBlocking) {
  ASSERT_EQ(mkfifo(scratch_.Path("fifo.c4").c_str(), 0600), 0);
  ASSERT_EQ(mkdir(scratch_.Path("folder.c4").c_str(), 0700), 0);
  EXPECT_EQ(Open("fifo.c4"), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Open("folder.c4"), absl::StatusCode::kFailedPrecondition);
}

TEST_F(HookFileTest, MissingIsNotFound) { EXPECT_EQ(Open("a.c4"), absl::StatusCode::kNotFound); }

}  // namespace
}  // namespace c4::agent
