// The program itself: c4-analyzer as a process, started and stopped as a service manager would.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace c4::app {
namespace {

using ::testing::HasSubstr;

class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest()
      : directory_(std::filesystem::path(::testing::TempDir()) /
                   fmt::format("program_{}", ::getpid())) {
    std::filesystem::create_directories(directory_);
  }
  ~ProgramTest() override { std::filesystem::remove_all(directory_); }

  pid_t Start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), C4_ANALYZER_PROGRAM);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    const std::string log = directory_ / "log";
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t pid = -1;
    EXPECT_EQ(posix_spawn(&pid, C4_ANALYZER_PROGRAM, &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
  }
  static int ExitStatus(pid_t pid) {
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  // The file appears when the program listens.
  bool AwaitFile(const std::string& path) {
    const absl::Time deadline = absl::Now() + absl::Seconds(30);
    while (!std::filesystem::exists(path)) {
      if (absl::Now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }
  std::string Log() const {
    std::ostringstream text;
    text << std::ifstream(directory_ / "log").rdbuf();
    return text.str();
  }
  const std::filesystem::path directory_;
};

TEST_F(ProgramTest, StopsCleanlyOnSigterm) {
  const std::string port_file = directory_ / "port";
  const pid_t pid = Start({"--listen", "127.0.0.1:0", "--port-file", port_file, "--store",
                           directory_ / "analyzer.db", "--record", directory_ / "run.jsonl"});
  ASSERT_TRUE(AwaitFile(port_file));
  kill(pid, SIGTERM);
  EXPECT_EQ(ExitStatus(pid), 0);
  EXPECT_THAT(Log(), HasSubstr("stopping on signal 15"));
}

TEST_F(ProgramTest, RefusesToBeReachableWithoutInsecure) {
  const pid_t pid = Start({"--listen", "0.0.0.0:0", "--store", ":memory:"});
  EXPECT_EQ(ExitStatus(pid), 2);
  EXPECT_THAT(Log(), HasSubstr("pass --insecure"));
}

TEST_F(ProgramTest, ADamagedStoreEndsItWithTheFilesName) {
  const std::string path = directory_ / "analyzer.db";
  std::ofstream(path) << std::string(10'000, 'x');
  const pid_t pid = Start({"--listen", "127.0.0.1:0", "--store", path});
  EXPECT_EQ(ExitStatus(pid), 1);
  EXPECT_THAT(Log(), HasSubstr(path));
}

}  // namespace
}  // namespace c4::app
