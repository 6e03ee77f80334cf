// Communicators through the preloaded hook.
#include <gtest/gtest.h>

#include <cstring>

#include "nccl_hook/comm_hash.h"
#include "tests/unit/nccl_hook/probe_run.h"

namespace c4::hook {
namespace {

using State = abi::CommunicatorState;

TEST(PreloadCommunicators, TakeRankAndJobFromTheEnvironment) {
  ProbeRun::Options options;
  options.environment = {{"C4_JOB_ID", "llama"},
                         {"RANK", "5"},
                         {"WORLD_SIZE", "16"},
                         {"LOCAL_RANK", "1"},
                         {"C4_NODE_NAME", "n3"}};
  const HookFile file = RunScenario("collectives", options);
  EXPECT_EQ(file.job, "llama");
  EXPECT_EQ(file.node, "n3");
  EXPECT_EQ(file.global_rank, 5);
  EXPECT_EQ(file.world_size, 16);
}

TEST(PreloadCommunicators, OfInitAllAreOnTheirDevices) {
  const HookFile file = RunScenario("init_all");
  ASSERT_EQ(file.communicators.size(), 2U);
  EXPECT_EQ(file.communicators[0].id, file.communicators[1].id);
  EXPECT_EQ(file.communicators[0].nccl_hash, file.communicators[1].nccl_hash);
  EXPECT_EQ(file.communicators[0].device, 3);
  EXPECT_EQ(file.communicators[1].device, 1);
  EXPECT_EQ(file.communicators[0].rank, 0);
  EXPECT_EQ(file.communicators[1].rank, 1);
  EXPECT_EQ(file.communicators[0].rank_count, 2);
  EXPECT_EQ(file.communicators[0].state, State::kDestroyed);
  EXPECT_EQ(file.communicators[1].state, State::kReady);
  // The id is the one that the library made for itself.
  UniqueId id = {};
  const std::uint64_t first = 0x1122334455667788;
  std::memcpy(id.internal, &first, sizeof(first));
  EXPECT_EQ(file.communicators[0].id, RootId(&id, 1, 2, 0));
  EXPECT_EQ(file.communicators[0].nccl_hash, NcclRootHash(22809, id));
  ASSERT_EQ(file.operations.size(), 2U);
  EXPECT_EQ(file.operations[0].flags, 0);
  EXPECT_EQ(file.operations[1].flags, 0);
}

TEST(PreloadCommunicators, DeriveTheirChildrensIds) {
  const HookFile file = RunScenario("splits");
  ASSERT_EQ(file.communicators.size(), 4U);
  const SeenCommunicator& world = file.communicators[0];
  const SeenCommunicator& first = file.communicators[1];
  const SeenCommunicator& grouped = file.communicators[2];
  const SeenCommunicator& failed = file.communicators[3];
  EXPECT_EQ(world.name, "world");
  EXPECT_EQ(world.rank, 5);
  EXPECT_EQ(world.parent_id, 0U);
  EXPECT_EQ(first.id, SplitId(world.id, 1, 1));
  EXPECT_EQ(first.nccl_hash, NcclSplitHash(22809, world.nccl_hash, 1, 1));
  EXPECT_EQ(first.parent_id, world.id);
  EXPECT_EQ(first.split_color, 1);
  EXPECT_EQ(first.name, "world");  // inherited, as in NCCL
  EXPECT_EQ(first.rank, 2);        // as the library says
  EXPECT_EQ(first.rank_count, 4);
  EXPECT_EQ(first.state, State::kFinalizing);
  // The split without a colour was the parent's second.
  EXPECT_EQ(grouped.id, SplitId(world.id, 3, 0));
  EXPECT_EQ(grouped.state, State::kReady);
  EXPECT_EQ(failed.id, SplitId(world.id, 4, 2));
  EXPECT_EQ(failed.state, State::kFailed);
  ASSERT_EQ(file.operations.size(), 2U);
  EXPECT_EQ(file.operations[0].communicator, 1U);
  EXPECT_EQ(file.operations[1].communicator, 2U);
  EXPECT_EQ(file.unknown_communicator, 0U);
}

TEST(PreloadCommunicators, MayBecomeReadyLater) {
  ProbeRun run({ProbeProgram(), "non_blocking"}, {});
  ASSERT_TRUE(run.WaitReady());
  const HookFile file = run.File(
      [](const HookFile& f) { return f.operations.size() == 1 && !f.operations[0].is_in_flight; });
  ASSERT_EQ(file.communicators.size(), 2U);
  EXPECT_EQ(file.communicators[0].state, State::kReady);
  EXPECT_EQ(file.communicators[1].state, State::kReady);
  EXPECT_EQ(file.communicators[1].async_error, 6);
  const SeenOperation& operation = file.operations[0];
  EXPECT_EQ(operation.communicator, 1U);
  EXPECT_EQ(operation.result, 7);
  EXPECT_GT(operation.start_ns, 0);
  EXPECT_GE(operation.end_ns, operation.start_ns);
  EXPECT_EQ(operation.flags, 0);
  run.Go();
  EXPECT_EQ(run.Wait(), 0);
}

TEST(PreloadCommunicators, AbandonTheirOperationsWhenAborted) {
  ProbeRun run({ProbeProgram(), "aborted"}, {});
  ASSERT_TRUE(run.WaitReady());
  HookFile file = run.File(
      [](const HookFile& f) { return f.operations.size() == 2 && !f.operations[0].is_in_flight; });
  EXPECT_EQ(file.communicators[0].state, State::kAborted);
  EXPECT_EQ(file.communicators[1].state, State::kReady);
  EXPECT_EQ(file.operations[0].flags, abi::kOperationAbandoned);
  EXPECT_TRUE(file.operations[1].is_in_flight);
  EXPECT_EQ(file.operations[1].flags, 0);
  // The launcher said nothing: the larger communicator names the rank.
  EXPECT_EQ(file.global_rank, 1);
  EXPECT_EQ(file.world_size, 4);
  run.Go();
  ASSERT_TRUE(run.WaitReady());
  file = run.File([](const HookFile& f) { return !f.operations[1].is_in_flight; });
  EXPECT_GT(file.operations[1].end_ns, 0);
  EXPECT_EQ(file.operations[0].end_ns, 0);
  run.Go();
  EXPECT_EQ(run.Wait(), 0);
}

TEST(PreloadCommunicators, MayBeManyMoreThanTheTableHolds) {
  const HookFile file = RunScenario("second_life");
  ASSERT_EQ(file.communicators.size(), abi::kCommunicatorCapacity);
  EXPECT_EQ(file.communicators_dropped, 300U - abi::kCommunicatorCapacity);
  EXPECT_EQ(file.unknown_communicator, 300U - abi::kCommunicatorCapacity);
  ASSERT_EQ(file.operations.size(), 300U + abi::kCommunicatorCapacity);
  EXPECT_EQ(file.operations[0].generation, 1U);
  EXPECT_EQ(file.operations[256].communicator, 0U);
  EXPECT_EQ(file.operations[256].generation, 2U);
  EXPECT_EQ(file.operations[256].sequence, 0U);
  EXPECT_EQ(file.disarm_reason, abi::DisarmReason::kTooManyCommunicators);
  EXPECT_EQ(file.state, abi::WriterState::kExited);
}

}  // namespace
}  // namespace c4::hook
