// What the hook leaves behind when things go wrong.
#include <gtest/gtest.h>

#include "tests/unit/nccl_hook/probe_run.h"

namespace c4::hook {
namespace {

TEST(PreloadTrouble, ShowsTheCallThatAKilledProcessWasIn) {
  ProbeRun run({ProbeProgram(), "stuck_call"}, {});
  ASSERT_TRUE(run.WaitReady());
  run.File(
      [](const HookFile& f) { return f.operations.size() == 2 && f.operations[1].start_ns != 0; });
  run.Kill();
  EXPECT_EQ(run.Wait(), -9);
  const HookFile file = run.File();
  EXPECT_EQ(file.state, abi::WriterState::kRecording);
  const SeenOperation& stuck = file.operations[1];
  EXPECT_TRUE(stuck.is_in_flight);
  EXPECT_EQ(stuck.count, 2U);
  EXPECT_EQ(stuck.result, -1);  // never came back
  EXPECT_EQ(stuck.return_ns, 0);
  EXPECT_GT(stuck.enqueue_ns, 0);
}

TEST(PreloadTrouble, CountsWhatItCouldNotRecord) {
  ProbeRun run({ProbeProgram(), "pool_exhausted"}, {});
  ASSERT_TRUE(run.WaitReady());
  const HookFile file = run.File();
  constexpr std::uint64_t kCalls = 18000;
  constexpr std::uint64_t kEvents = 1024;
  EXPECT_EQ(file.head, kCalls);
  EXPECT_EQ(file.dropped, kEvents);  // their slots are still in flight in the second lap
  EXPECT_EQ(file.untimed, kCalls - 2 * kEvents);
  EXPECT_EQ(file.communicators[0].collectives, kCalls);  // numbers go on regardless
  EXPECT_EQ(file.operations[0].position, 0U);
  EXPECT_TRUE(file.operations[0].is_in_flight);
  EXPECT_EQ(file.operations.back().sequence, kCalls - 1);
  run.Go();
  EXPECT_EQ(run.Wait(), 0);
}

TEST(PreloadTrouble, GoesOnWithoutCuda) {
  ProbeRun run({ProbeProgram(), "cuda_dies"}, {});
  ASSERT_TRUE(run.WaitReady());
  run.File([](const HookFile& f) { return f.disarm_reason == abi::DisarmReason::kCudaError; });
  run.Go();
  ASSERT_TRUE(run.WaitReady());
  const HookFile file = run.File();
  ASSERT_EQ(file.operations.size(), 2U);
  EXPECT_TRUE(file.operations[0].is_in_flight);  // the truth: it never ended
  EXPECT_EQ(file.operations[1].flags, abi::kOperationUntimed);
  EXPECT_EQ(file.operations[1].result, 0);
  run.Go();
  EXPECT_EQ(run.Wait(), 0);
}

TEST(PreloadTrouble, SurvivesForks) {
  ProbeRun run({ProbeProgram(), "forks"}, {});
  ASSERT_EQ(run.Wait(), 0) << run.output();
  const std::vector<std::string> paths = run.Files();
  ASSERT_EQ(paths.size(), 2U);  // the parent's and the early child's
  int parents = 0;
  for (const std::string& path : paths) {
    const auto file = ReadHookFile(path);
    ASSERT_TRUE(file.has_value());
    if (file->communicators[0].rank == 1) {
      ++parents;
      ASSERT_EQ(file->operations.size(), 2U);  // nothing of the late child's
      EXPECT_EQ(file->operations[0].count, 1U);
      EXPECT_EQ(file->operations[1].count, 4U);
      EXPECT_EQ(file->communicators.size(), 1U);
      EXPECT_EQ(file->state, abi::WriterState::kExited);
    } else {
      EXPECT_EQ(file->communicators[0].rank, 3);
      EXPECT_EQ(file->operations.size(), 1U);
    }
  }
  EXPECT_EQ(parents, 1);
}

TEST(PreloadTrouble, KeepsItsHeartbeat) {
  ProbeRun run({ProbeProgram(), "stuck_stream"}, {});
  ASSERT_TRUE(run.WaitReady());
  const std::int64_t first =
      run.File([](const HookFile& f) { return f.heartbeat_ns != 0; }).heartbeat_ns;
  run.File([first](const HookFile& f) { return f.heartbeat_ns > first; });
}

}  // namespace
}  // namespace c4::hook
