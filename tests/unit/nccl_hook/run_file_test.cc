#include "nccl_hook/run_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tests/unit/nccl_hook/hook_file.h"

namespace c4::hook {
namespace {

class RunFileTest : public testing::Test {
 protected:
  RunFileTest() {
    std::string name = testing::TempDir() + "c4-run-file-XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~RunFileTest() override { std::filesystem::remove_all(directory_); }

  std::string OnlyFile() const {
    std::string path;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      EXPECT_EQ(path, "");
      path = entry.path();
    }
    return path;
  }

  std::string directory_;
};

TEST_F(RunFileTest, IsReadableOnlyOncePublished) {
  Identity identity;
  CopyLabel(identity.job, sizeof(identity.job), "j1");
  identity.global_rank = 3;
  RunFile file;
  ASSERT_TRUE(CreateRunFile(directory_.c_str(), identity, &file));
  EXPECT_FALSE(ReadHookFile(OnlyFile()).has_value());
  PublishRunFile(&file);
  const auto seen = ReadHookFile(OnlyFile());
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->state, abi::WriterState::kRecording);
  EXPECT_EQ(seen->pid, getpid());
  EXPECT_EQ(seen->job, "j1");
  EXPECT_EQ(seen->global_rank, 3);
  EXPECT_EQ(seen->device, -1);
  char host[64] = {};
  gethostname(host, sizeof(host) - 1);
  EXPECT_EQ(seen->node, host);
  munmap(file.header, abi::kFileBytes);
}

TEST_F(RunFileTest, IsPrivateAndWhollyAllocated) {
  RunFile file;
  ASSERT_TRUE(CreateRunFile(directory_.c_str(), Identity{}, &file));
  struct stat status;
  ASSERT_EQ(stat(OnlyFile().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(static_cast<std::uint64_t>(status.st_size), abi::kFileBytes);
  // A full file system must show itself here and not as SIGBUS in the middle of training.
  EXPECT_GE(static_cast<std::uint64_t>(status.st_blocks) * 512, abi::kFileBytes);
  munmap(file.header, abi::kFileBytes);
}

TEST_F(RunFileTest, NeverTouchesAFileThatIsThere) {
  RunFile file;
  ASSERT_TRUE(CreateRunFile(directory_.c_str(), Identity{}, &file));
  RunFile again;
  EXPECT_FALSE(CreateRunFile(directory_.c_str(), Identity{}, &again));
  munmap(file.header, abi::kFileBytes);
}

TEST_F(RunFileTest, FailsQuietlyWhereItCannotWrite) {
  RunFile file;
  EXPECT_FALSE(CreateRunFile("/proc/c4", Identity{}, &file));
  EXPECT_FALSE(CreateRunFile("/dev/null", Identity{}, &file));
  EXPECT_EQ(file.header, nullptr);
}

TEST(ParseStartTicks, FindsTheField) {
  EXPECT_EQ(ParseStartTicks("12 (a b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20"),
            987654U);
  EXPECT_EQ(ParseStartTicks("12 (a) S 1 2"), 0U);
  EXPECT_EQ(ParseStartTicks(""), 0U);
}

}  // namespace
}  // namespace c4::hook
