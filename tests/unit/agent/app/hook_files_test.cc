#include "agent/app/hook_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "agent/limits.h"
#include "common/clock.h"
#include "gtest/gtest.h"
#include "tests/unit/agent/rings/fake_hook.h"
#include "tests/unit/agent/scratch.h"

namespace c4::agent {
namespace {

using testing::FakeHook;

class HookFilesTest : public ::testing::Test {
 protected:
  HookFilesTest() { std::filesystem::create_directories(root_.Path("run")); }

  // A process in the fixture's /proc. Numbers above any real pid, so that no real pidfd is of use.
  void WriteProcess(int pid, char state = 'S') {
    root_.Write(
        "proc/" + std::to_string(pid) + "/stat",
        std::to_string(pid) + " (a) " + state +
            " 1 1 1 0 -1 1 1 1 1 1 1 1 0 0 20 0 9 0 777 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 "
            "1 1 1 1 1 1 1 1 1 1 9\n");
  }
  std::unique_ptr<FakeHook> AddRank(int pid, int rank, bool has_process = true,
                                    std::int64_t created_ns = 1'000'000) {
    if (has_process) WriteProcess(pid);
    auto hook = std::make_unique<FakeHook>(root_.Path("run/" + Name(pid)),
                                           FakeHook::Options{.pid = pid, .rank = rank});
    hook->header().anchor_monotonic_ns = created_ns;
    hook->header().heartbeat_ns = clock_.MonotonicNs();
    hook->AddCommunicator(0, 11);
    hook->Run(clock_.MonotonicNs());
    return hook;
  }
  static std::string Name(int pid) { return std::to_string(pid) + "-777.c4"; }
  bool IsThere(int pid) const { return std::filesystem::exists(root_.Path("run/" + Name(pid))); }

  v1::Batch Pass(std::int64_t advance_ns = 200 * kMillisecondNs) {
    clock_.Advance(advance_ns);
    directory_.Refresh();
    files_.Sync(clock_.MonotonicNs());
    files_.Poll(clock_.MonotonicNs(), &builder_, &losses_);
    losses_.Write(&builder_);
    v1::Batch all;
    for (const Payload& payload : builder_.Take(0, 0)) {
      all.MergeFromString(payload.control + payload.operations);
    }
    return all;
  }

  testing::Scratch root_;
  ManualClock clock_{10'000 * kSecondNs};
  RunDirectory directory_{root_.Path("run")};
  HookFiles files_{&directory_, root_.Path("proc"), [](int, bool) {}};
  BatchBuilder builder_{NodeTime(clock_)};
  LossLedger losses_;
};

TEST_F(HookFilesTest, TellsRankCommunicatorsAndOperations) {
  const auto hook = AddRank(9'000'001, 3);
  v1::Batch batch = Pass();
  ASSERT_EQ(batch.ranks_size(), 1);
  EXPECT_EQ(batch.ranks(0).job(), "job1");
  EXPECT_EQ(batch.ranks(0).rank(), 3);
  EXPECT_EQ(batch.ranks(0).pid(), 9'000'001);
  EXPECT_EQ(batch.communicators(0).id(), 11U);
  EXPECT_EQ(batch.operations_size(), 1);
  EXPECT_EQ(batch.processes(0).state(), "running");
  batch = Pass();
  EXPECT_EQ(batch.ByteSizeLong(), 0U);
}

TEST_F(HookFilesTest, AFileIsWaitedForUntilItsHeaderIsThere) {
  WriteProcess(9'000'001);
  FakeHook hook(root_.Path("run/" + Name(9'000'001)), {.pid = 9'000'001, .is_published = false});
  EXPECT_EQ(Pass().ranks_size(), 0);
  hook.header().state = static_cast<std::uint32_t>(abi::WriterState::kRecording);
  EXPECT_EQ(Pass().ranks_size(), 1);
}

TEST_F(HookFilesTest, NothingIsToldBeforeTheRankIsKnownAndNothingIsLost) {
  const auto hook = AddRank(9'000'001, -1);
  EXPECT_EQ(Pass().operations_size(), 0);
  hook->header().global_rank = 3;
  const v1::Batch batch = Pass();
  EXPECT_EQ(batch.ranks(0).rank(), 3);
  EXPECT_EQ(batch.communicators_size(), 1);
  EXPECT_EQ(batch.operations_size(), 1);
}

TEST_F(HookFilesTest, TheLastWordsOfAProcessComeBeforeItsEnd) {
  const auto hook = AddRank(9'000'001, 3);
  Pass();
  hook->Run(clock_.MonotonicNs());
  WriteProcess(9'000'001, 'Z');
  v1::Batch batch = Pass();
  EXPECT_EQ(batch.operations_size(), 1);
  ASSERT_EQ(batch.processes_size(), 1);
  EXPECT_EQ(batch.processes(0).state(), "exited");
  EXPECT_EQ(batch.processes(0).signal(), 9);
}

TEST_F(HookFilesTest, AFileOfALongDeadProcessIsRemovedUnread) {
  const auto hook = AddRank(9'000'001, 3, false);
  hook->header().heartbeat_ns = clock_.MonotonicNs() - 2 * kEndedFileGraceNs;
  EXPECT_EQ(Pass().ranks_size(), 0);
  Pass();
  EXPECT_FALSE(IsThere(9'000'001));
}

TEST_F(HookFilesTest, AFileOfAnEarlierBootIsRemovedUnread) {
  const auto hook = AddRank(9'000'001, 3, false);
  hook->header().heartbeat_ns = clock_.MonotonicNs() + 1000 * kSecondNs;
  EXPECT_EQ(Pass().ranks_size(), 0);
  Pass();
  EXPECT_FALSE(IsThere(9'000'001));
}

TEST_F(HookFilesTest, ARecentlyDeadProcessIsStillTold) {
  const auto hook = AddRank(9'000'001, 3, false);
  const std::int64_t heartbeat_ns = clock_.MonotonicNs() - 30 * kSecondNs;
  hook->header().heartbeat_ns = heartbeat_ns;
  const v1::Batch batch = Pass();
  EXPECT_EQ(batch.operations_size(), 1);
  ASSERT_EQ(batch.processes_size(), 1);
  EXPECT_EQ(batch.processes(0).state(), "exited");
  EXPECT_EQ(batch.processes(0).time(), builder_.time().Unix(heartbeat_ns));
  EXPECT_EQ(batch.processes(0).code(), -1);
}

TEST_F(HookFilesTest, AProcessThatHasJustEndedIsToldOnceItsHeartbeatIsOld) {
  const auto hook = AddRank(9'000'001, 3, false);
  EXPECT_EQ(Pass().ranks_size(), 0);
  const v1::Batch batch = Pass(4 * kSecondNs);
  EXPECT_EQ(batch.ranks_size(), 1);
  EXPECT_EQ(batch.processes(0).state(), "exited");
}

TEST_F(HookFilesTest, AProcessOutOfSightIsReadAndNeverDeclaredDead) {
  const auto hook = AddRank(9'000'001, 3, false);
  EXPECT_EQ(Pass().ranks_size(), 0);
  hook->header().heartbeat_ns = clock_.MonotonicNs();
  v1::Batch batch = Pass();
  EXPECT_EQ(batch.ranks_size(), 1);
  EXPECT_EQ(batch.operations_size(), 1);
  EXPECT_EQ(batch.processes(0).state(), "running");
  EXPECT_TRUE(files_.Living().empty());
  EXPECT_EQ(Pass(100 * kSecondNs).processes_size(), 0);
  EXPECT_EQ(Pass(kEndedFileGraceNs).processes_size(), 0);
  EXPECT_TRUE(IsThere(9'000'001));
  Pass(kEndedFileGraceNs + kSecondNs);
  EXPECT_FALSE(IsThere(9'000'001));
}

TEST_F(HookFilesTest, AnEndThatIsNotToldYetHoldsThePassBack) {
  const auto hook = AddRank(9'000'001, 3);
  Pass();
  root_.Remove("proc/9000001");
  clock_.Advance(kSecondNs);
  const std::int64_t ended_ns = clock_.MonotonicNs();
  EXPECT_EQ(files_.Poll(ended_ns, &builder_, &losses_), ended_ns);
  clock_.Advance(200 * kMillisecondNs);
  EXPECT_EQ(files_.Poll(clock_.MonotonicNs(), &builder_, &losses_), ended_ns);
  clock_.Advance(kSecondNs);
  EXPECT_EQ(files_.Poll(clock_.MonotonicNs(), &builder_, &losses_), 0);
}

TEST_F(HookFilesTest, TheFileStaysForItsGraceAndGoesThen) {
  const auto hook = AddRank(9'000'001, 3);
  Pass();
  root_.Remove("proc/9000001");
  EXPECT_EQ(Pass().processes_size(), 0);  // how it ended may still become known
  EXPECT_EQ(Pass(kSecondNs).processes(0).state(), "exited");
  Pass(kEndedFileGraceNs - 10 * kSecondNs);
  EXPECT_TRUE(IsThere(9'000'001));
  Pass(20 * kSecondNs);
  EXPECT_FALSE(IsThere(9'000'001));
}

TEST_F(HookFilesTest, TheFilesOfCrashingJobsAreBounded) {
  std::vector<std::unique_ptr<FakeHook>> hooks;
  const int count = static_cast<int>(kEndedFilesMax) + 3;
  for (int i = 0; i < count; ++i) {
    hooks.push_back(AddRank(9'000'001 + i, i, false));
    hooks.back()->header().heartbeat_ns = clock_.MonotonicNs() - 10 * kSecondNs;
    Pass(kMillisecondNs);
  }
  Pass();
  for (int i = 0; i < count; ++i) EXPECT_EQ(IsThere(9'000'001 + i), i >= 3) << i;
}

TEST_F(HookFilesTest, TooManyLivingFilesAreCountedNotRead) {
  std::vector<std::unique_ptr<FakeHook>> hooks;
  for (std::size_t i = 0; i < kLiveFilesMax + 2; ++i) {
    hooks.push_back(AddRank(9'000'001 + static_cast<int>(i), static_cast<int>(i)));
  }
  const v1::Batch batch = Pass();
  EXPECT_EQ(batch.ranks_size(), static_cast<int>(kLiveFilesMax));
  EXPECT_EQ(batch.losses(0).cause(), "too_many_files");
}

TEST_F(HookFilesTest, ABadFileIsCountedOnceAndLeftAlone) {
  root_.Write("run/1-1.c4", std::string(8192, 'x'));
  ASSERT_EQ(mkfifo(root_.Path("run/2-2.c4").c_str(), 0600), 0);
  ASSERT_EQ(symlink("/etc/passwd", root_.Path("run/3-3.c4").c_str()), 0);
  const auto good = AddRank(9'000'001, 3);
  const v1::Batch batch = Pass();
  EXPECT_EQ(batch.ranks_size(), 1);
  EXPECT_EQ(batch.losses(0).cause(), "bad_file");
  EXPECT_EQ(batch.losses(0).count(), 3U);
  EXPECT_EQ(Pass().losses_size(), 0);
  EXPECT_TRUE(std::filesystem::exists(root_.Path("run/1-1.c4")));
}

TEST_F(HookFilesTest, AFileThatIsTruncatedCostsItselfAlone) {
  const auto bad = AddRank(9'000'001, 3);
  const auto good = AddRank(9'000'002, 4);
  Pass();
  ASSERT_EQ(truncate(root_.Path("run/" + Name(9'000'001)).c_str(), 100), 0);
  good->Run(clock_.MonotonicNs());
  const v1::Batch batch = Pass();
  EXPECT_EQ(batch.operations_size(), 1);
  EXPECT_EQ(batch.losses(0).cause(), "bad_file");
}

TEST_F(HookFilesTest, SomebodyElseMayNotSpeakForAProcess) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to change an owner";
  const auto hook = AddRank(9'000'001, 3);
  const std::string path = root_.Path("run/" + Name(9'000'001));
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  EXPECT_EQ(Pass().ranks_size(), 0);
}

TEST_F(HookFilesTest, ANewAnalyzerIsToldEverythingAgain) {
  const auto hook = AddRank(9'000'001, 3);
  const auto dead = AddRank(9'000'002, 4, false);
  Pass();
  Pass(4 * kSecondNs);
  files_.Rewind();
  const v1::Batch batch = Pass();
  EXPECT_EQ(batch.ranks_size(), 2);
  EXPECT_EQ(batch.operations_size(), 2);
  EXPECT_EQ(batch.processes_size(), 2);
}

TEST_F(HookFilesTest, AnEarlierProcessOfTheSameRankIsNotToldAgain) {
  const auto dead = AddRank(9'000'001, 3, false, 1'000'000);
  Pass();
  Pass(4 * kSecondNs);
  const auto alive = AddRank(9'000'002, 3, true, 2'000'000);
  Pass();
  files_.Rewind();
  const v1::Batch batch = Pass();
  ASSERT_EQ(batch.ranks_size(), 1);
  EXPECT_EQ(batch.ranks(0).pid(), 9'000'002);
  ASSERT_EQ(batch.processes_size(), 1);
  EXPECT_EQ(batch.processes(0).state(), "running");
}

TEST_F(HookFilesTest, WhatTheHookLostIsALoss) {
  const auto hook = AddRank(9'000'001, 3);
  hook->header().operations_dropped = 12;
  const v1::Batch batch = Pass();
  ASSERT_EQ(batch.losses_size(), 1);
  EXPECT_EQ(batch.losses(0).cause(), "hook_dropped");
  EXPECT_EQ(batch.losses(0).rank(), 3);
  EXPECT_EQ(batch.losses(0).count(), 12U);
}

TEST_F(HookFilesTest, ACallThatNcclRefusedIsAnErrorNotAnOperation) {
  const auto hook = AddRank(9'000'001, 3);
  Pass();
  hook->slot(hook->Run(clock_.MonotonicNs())).flags = abi::kOperationFailed;
  const v1::Batch batch = Pass();
  EXPECT_EQ(batch.operations_size(), 0);
  ASSERT_EQ(batch.errors_size(), 1);
  EXPECT_EQ(batch.errors(0).rank(), 3);
}

}  // namespace
}  // namespace c4::agent
