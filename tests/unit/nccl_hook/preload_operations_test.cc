// Operations and groups through the preloaded hook.
#include <gtest/gtest.h>

#include "tests/unit/nccl_hook/probe_run.h"

namespace c4::hook {
namespace {

using Kind = abi::OperationKind;

TEST(PreloadOperations, AreRecordedAsTheyWereCalled) {
  const HookFile file = RunScenario("collectives");
  const Kind kinds[] = {Kind::kAllReduce, Kind::kAllGather, Kind::kReduceScatter, Kind::kBroadcast,
                        Kind::kReduce,    Kind::kAlltoAll,  Kind::kGather,        Kind::kScatter};
  const int roots[] = {-1, -1, -1, 3, 2, -1, 1, 0};
  const int reductions[] = {2, -1, 2, -1, 2, -1, -1, -1};
  ASSERT_EQ(file.operations.size(), std::size(kinds));
  for (std::size_t i = 0; i < std::size(kinds); ++i) {
    const SeenOperation& operation = file.operations[i];
    EXPECT_EQ(operation.kind, kinds[i]) << i;
    EXPECT_EQ(operation.sequence, i);
    EXPECT_EQ(operation.count, 10 + i);
    EXPECT_EQ(operation.datatype, 7);
    EXPECT_EQ(operation.root, roots[i]) << i;
    EXPECT_EQ(operation.peer, -1);
    EXPECT_EQ(operation.reduction, reductions[i]) << i;
    EXPECT_EQ(operation.stream, 256U);
    EXPECT_EQ(operation.result, 0);
    EXPECT_EQ(operation.group, 0U);
    EXPECT_GE(operation.return_ns, operation.enqueue_ns);
  }
  EXPECT_EQ(file.communicators.size(), 1U);
  EXPECT_EQ(file.communicators[0].collectives, std::size(kinds));
  EXPECT_EQ(file.state, abi::WriterState::kExited);
  EXPECT_EQ(file.nccl_version, 22809U);
  EXPECT_EQ(file.command, "hook_probe");
}

TEST(PreloadOperations, GetTimesFromTheGpu) {
  ProbeRun run({ProbeProgram(), "stuck_stream"}, {});
  ASSERT_TRUE(run.WaitReady());
  HookFile file = run.File([](const HookFile& f) { return f.operations.size() == 2; });
  EXPECT_EQ(file.timing_mode, abi::TimingMode::kEvents);
  EXPECT_EQ(file.device, 0);
  EXPECT_EQ(file.gpu_pci, "0000:1b:00.0");
  EXPECT_EQ(file.gpu_uuid, "GPU-abababab-abab-abab-abab-ababababab00");
  EXPECT_TRUE(file.operations[0].is_in_flight);
  EXPECT_EQ(file.operations[0].start_ns, 0);
  EXPECT_EQ(file.operations[0].result, 0);  // the call has returned: the GPU has not begun
  run.Go();
  ASSERT_TRUE(run.WaitReady());
  file = run.File([](const HookFile& f) { return f.operations[0].start_ns != 0; });
  EXPECT_TRUE(file.operations[0].is_in_flight);
  EXPECT_EQ(file.operations[0].end_ns, 0);
  EXPECT_EQ(file.operations[1].start_ns, 0);
  run.Go();
  ASSERT_TRUE(run.WaitReady());
  file = run.File([](const HookFile& f) { return !f.operations[0].is_in_flight; });
  const SeenOperation& operation = file.operations[0];
  EXPECT_LT(operation.enqueue_ns, operation.start_ns);
  EXPECT_LT(operation.start_ns, operation.end_ns);
  EXPECT_TRUE(file.operations[1].is_in_flight);
  run.Go();
  EXPECT_EQ(run.Wait(), 0);
}

TEST(PreloadOperations, AreTimedByPollingWhenOneQueueServesTheDevice) {
  ProbeRun::Options options;
  options.environment = {{"CUDA_DEVICE_MAX_CONNECTIONS", "1"}};
  ProbeRun run({ProbeProgram(), "stuck_stream"}, options);
  ASSERT_TRUE(run.WaitReady());
  run.Go();
  ASSERT_TRUE(run.WaitReady());
  HookFile file = run.File([](const HookFile& f) { return f.operations[0].start_ns != 0; });
  EXPECT_EQ(file.timing_mode, abi::TimingMode::kProgress);
  EXPECT_TRUE(file.operations[0].is_in_flight);
  run.Go();
  ASSERT_TRUE(run.WaitReady());
  file = run.File([](const HookFile& f) { return !f.operations[0].is_in_flight; });
  EXPECT_LT(file.operations[0].start_ns, file.operations[0].end_ns);
  run.Go();
  EXPECT_EQ(run.Wait(), 0);
}

TEST(PreloadOperations, NeedNoGpuInHostMode) {
  ProbeRun::Options options;
  options.environment = {{"C4_TIMING", "host"}};
  const HookFile file = RunScenario("collectives", options);
  EXPECT_EQ(file.timing_mode, abi::TimingMode::kHost);
  ASSERT_EQ(file.operations.size(), 8U);
  for (const SeenOperation& operation : file.operations) {
    EXPECT_FALSE(operation.is_in_flight);
    EXPECT_EQ(operation.start_ns, 0);
    EXPECT_EQ(operation.end_ns, 0);
    EXPECT_EQ(operation.flags, abi::kOperationUntimed);
  }
  EXPECT_EQ(file.untimed, 0U);  // as asked: nothing was missed
}

TEST(PreloadGroups, ShareTheirNumberAndInterval) {
  const HookFile file = RunScenario("groups");
  ASSERT_EQ(file.operations.size(), 3U + 8U + 3U);
  const SeenOperation& send = file.operations[0];
  const SeenOperation& receive = file.operations[1];
  const SeenOperation& second_send = file.operations[2];
  EXPECT_EQ(send.group, 1U);
  EXPECT_EQ(receive.group, 1U);  // the inner group is part of the outer
  EXPECT_EQ(send.kind, Kind::kSend);
  EXPECT_EQ(send.peer, 2);
  EXPECT_EQ(receive.kind, Kind::kRecv);
  EXPECT_EQ(receive.peer, 0);
  // Per peer and direction.
  EXPECT_EQ(send.sequence, 0U);
  EXPECT_EQ(receive.sequence, 0U);
  EXPECT_EQ(second_send.sequence, 1U);
  EXPECT_EQ(send.return_ns, second_send.return_ns);
  // The second group: an empty one in between has no number.
  for (std::size_t i = 3; i < 11; ++i) {
    EXPECT_EQ(file.operations[i].group, 2U);
    EXPECT_EQ(file.operations[i].sequence, i - 3);
    EXPECT_EQ(file.operations[i].flags, i < 9 ? 0 : abi::kOperationUntimed) << i;
  }
  EXPECT_EQ(file.untimed, 2U);
  // Simulated operations give their numbers back.
  EXPECT_EQ(file.operations[11].flags & abi::kOperationFailed, abi::kOperationFailed);
  EXPECT_EQ(file.operations[12].flags & abi::kOperationFailed, abi::kOperationFailed);
  EXPECT_FALSE(file.operations[12].is_in_flight);
  EXPECT_EQ(file.operations[13].sequence, 8U);
  EXPECT_EQ(file.operations[13].group, 0U);
}

TEST(PreloadErrors, PassThroughAndGiveNumbersBack) {
  const HookFile file = RunScenario("refused");
  ASSERT_EQ(file.operations.size(), 6U);
  const int results[] = {0, 4, 4, 4, 4, 0};
  const std::uint64_t sequences[] = {0, 1, 0, 1, 2, 1};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(file.operations[i].result, results[i]) << i;
    EXPECT_EQ(file.operations[i].sequence, sequences[i]) << i;
    EXPECT_EQ(file.operations[i].flags, results[i] == 0 ? 0 : abi::kOperationFailed) << i;
  }
  EXPECT_FALSE(file.operations[1].is_in_flight);
  EXPECT_FALSE(file.operations[4].is_in_flight);
  EXPECT_EQ(file.communicators[0].collectives, 2U);
  EXPECT_EQ(file.unknown_communicator, 1U);
}

TEST(PreloadCapture, GetsNoEvents) {
  const HookFile file = RunScenario("captured");
  ASSERT_EQ(file.operations.size(), 3U);
  EXPECT_EQ(file.operations[0].flags, abi::kOperationCaptured);
  EXPECT_EQ(file.operations[1].flags, abi::kOperationCaptured);
  EXPECT_EQ(file.operations[2].flags, 0);
  EXPECT_FALSE(file.operations[0].is_in_flight);
  EXPECT_EQ(file.captured, 2U);
  EXPECT_EQ(file.untimed, 0U);
}

TEST(PreloadNested, CountsWhatTheApplicationCalled) {
  const HookFile file = RunScenario("nested");
  ASSERT_EQ(file.operations.size(), 4U);
  EXPECT_EQ(file.operations[0].kind, Kind::kBroadcast);
  EXPECT_EQ(file.operations[0].root, 2);
  EXPECT_EQ(file.operations[1].kind, Kind::kSend);
  EXPECT_EQ(file.operations[1].group, 0U);  // the library's own group is not the application's
  EXPECT_EQ(file.operations[2].kind, Kind::kRecv);
  EXPECT_EQ(file.operations[3].sequence, 1U);
}

}  // namespace
}  // namespace c4::hook
