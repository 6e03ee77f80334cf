#include "agent/telemetry/process_watch.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "agent/telemetry/proc_parsers.h"
#include "common/file.h"
#include "gtest/gtest.h"
#include "tests/unit/agent/scratch.h"

namespace c4::agent {
namespace {

// A child that waits to be killed, or until its pipe is closed and then exits with 7.
class Child {
 public:
  Child() {
    EXPECT_EQ(pipe(pipe_), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(pipe_[1]);
      char byte = 0;
      while (read(pipe_[0], &byte, 1) > 0) {
      }
      _exit(7);
    }
    close(pipe_[0]);
    const auto text = ReadFile("/proc/" + std::to_string(pid_) + "/stat", 4096);
    start_ticks_ = ParseStat(*text)->start_ticks;
  }
  ~Child() {
    if (!is_reaped_) {
      kill(pid_, SIGKILL);
      Reap();
    }
  }
  void Exit() {
    close(pipe_[1]);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  void Kill() {
    kill(pid_, SIGKILL);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  void Reap() {
    waitpid(pid_, nullptr, 0);
    is_reaped_ = true;
  }
  pid_t pid() const { return pid_; }
  std::uint64_t start_ticks() const { return start_ticks_; }

 private:
  int pipe_[2];
  pid_t pid_;
  std::uint64_t start_ticks_ = 0;
  bool is_reaped_ = false;
};

TEST(ProcessWatchTest, AnExitStatusIsReadFromTheZombie) {
  Child child;
  const ProcessWatch watch("/proc", child.pid(), child.start_ticks());
  EXPECT_FALSE(watch.HasEnded());
  EXPECT_FALSE(watch.ReadExitStatus().has_value());
  child.Exit();
  EXPECT_TRUE(watch.HasEnded());
  ASSERT_TRUE(watch.ReadExitStatus().has_value());
  EXPECT_EQ(watch.ReadExitStatus()->code, 7);
  EXPECT_EQ(watch.ReadExitStatus()->signal, 0);
}

TEST(ProcessWatchTest, ASignalIsReadFromTheZombie) {
  Child child;
  const ProcessWatch watch("/proc", child.pid(), child.start_ticks());
  child.Kill();
  ASSERT_TRUE(watch.ReadExitStatus().has_value());
  EXPECT_EQ(watch.ReadExitStatus()->code, -1);
  EXPECT_EQ(watch.ReadExitStatus()->signal, SIGKILL);
}

TEST(ProcessWatchTest, TheDescriptorTells) {
  Child child;
  const ProcessWatch watch("/proc", child.pid(), child.start_ticks());
  if (watch.fd() < 0) GTEST_SKIP() << "no pidfd here";
  child.Kill();
  pollfd ended = {.fd = watch.fd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&ended, 1, 60'000), 1);
}

// Linux 6.15 and newer remember it; older ones say nothing rather than something wrong.
TEST(ProcessWatchTest, AfterItsParentHasFetchedIt) {
  Child child;
  const ProcessWatch watch("/proc", child.pid(), child.start_ticks());
  child.Kill();
  child.Reap();
  EXPECT_TRUE(watch.HasEnded());
  if (const auto status = watch.ReadExitStatus()) {
    EXPECT_EQ(status->signal, SIGKILL);
  }
}

TEST(ProcessWatchTest, AnotherProcessWithThisNumberIsNotWatched) {
  Child child;
  const ProcessWatch watch("/proc", child.pid(), child.start_ticks() + 1);
  EXPECT_EQ(watch.fd(), -1);
  EXPECT_TRUE(watch.HasEnded());
  child.Kill();
  EXPECT_FALSE(watch.ReadExitStatus().has_value());
}

TEST(ProcessWatchTest, WithoutADescriptorProcTells) {
  const testing::Scratch proc;
  const auto write = [&](char state) {
    proc.Write("999999/stat", "999999 (a) " + std::string(1, state) +
                                  " 1 1 1 0 -1 1 1 1 1 1 1 1 0 0 20 0 9 0 777 1 1\n");
  };
  write('S');
  const ProcessWatch watch(proc.path(), 999999, 777);
  EXPECT_EQ(watch.fd(), -1);
  EXPECT_FALSE(watch.HasEnded());
  write('Z');
  EXPECT_TRUE(watch.HasEnded());
  proc.Remove("999999");
  EXPECT_TRUE(watch.HasEnded());
}

}  // namespace
}  // namespace c4::agent
