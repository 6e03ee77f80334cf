#include "common/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace c4 {
namespace {

class ReadFileTest : public testing::Test {
 protected:
  ReadFileTest() : directory_(testing::TempDir() + "c4_file_test_" + std::to_string(getpid())) {
    std::filesystem::create_directories(directory_);
  }
  ~ReadFileTest() override { std::filesystem::remove_all(directory_); }
  std::string Path(const std::string& name) const { return directory_ + "/" + name; }

  std::string directory_;
};

TEST_F(ReadFileTest, WholeContentUpToTheLimit) {
  std::ofstream(Path("a")) << std::string(5000, 'x');
  EXPECT_EQ(ReadFile(Path("a"), 5000).value(), std::string(5000, 'x'));
  EXPECT_EQ(ReadFile(Path("a"), 4999).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(ReadFileTest, ProcfsFilesOfUnknownSize) {
  EXPECT_THAT(ReadFile("/proc/self/stat", 4096).value(),
              testing::StartsWith(std::to_string(getpid())));
}

TEST_F(ReadFileTest, ErrorsNameThePath) {
  const absl::Status missing = ReadFile(Path("missing"), 10).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), testing::HasSubstr(Path("missing")));
  EXPECT_EQ(ReadFile(directory_, 10).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ReadFileTest, FifoDoesNotBlock) {
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(ReadFile(Path("fifo"), 10).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace c4
