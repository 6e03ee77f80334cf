// What ends a wait: abort, or nothing: a lost peer, a mismatch and a dropped link block for ever.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <thread>

#include "tests/unit/nccl_cpu/gpu.h"
#include "tests/unit/nccl_cpu/rank_processes.h"

namespace c4::testing {
namespace {

constexpr int kFlagEnqueued = 0;
constexpr int kFlagDone = 1;

C4_SCENARIO(AbortEndsAStuckCollective) {
  Gpu gpu(rank);
  const auto buffer = gpu.Allocate(4000);
  if (rank.rank() == 0) {
    // One plan is running, one waits for its turn on another stream, one behind a stuck kernel.
    CUstream second = gpu.NewStream();
    CUstream third = gpu.NewStream();
    const auto stuck = gpu.LaunchStuck(third);
    for (CUstream stream : {gpu.stream(), second, third}) {
      C4_CHECK(ncclAllReduce(buffer.get(), buffer.get(), 1000, ncclFloat32, ncclSum, gpu.comm(),
                             stream) == ncclSuccess);
    }
    CUevent end = gpu.Record(gpu.stream());
    C4_CHECK(cuEventQuery(end) == CUDA_ERROR_NOT_READY);
    std::thread watchdog([&] { C4_CHECK(ncclCommAbort(gpu.comm()) == ncclSuccess); });
    C4_CHECK(cuEventSynchronize(end) == CUDA_SUCCESS);
    C4_CHECK(cuStreamSynchronize(second) == CUDA_SUCCESS);
    watchdog.join();
    stuck.Release();
    C4_CHECK(cuStreamSynchronize(third) == CUDA_SUCCESS);
    rank.Set(kFlagDone);
  } else {
    rank.WaitFor(kFlagDone);
    C4_CHECK(ncclCommAbort(gpu.comm()) == ncclSuccess);
  }
  gpu.ForgetComm();
}

// Rank 1 goes away, by exit or by signal; rank 0's collective stays stuck, and only the
// asynchronous error tells.
void CheckLostPeer(Rank& rank, const std::function<void()>& leave) {
  Gpu gpu(rank);
  if (rank.rank() == 1) {
    rank.WaitFor(kFlagEnqueued);
    leave();
  }
  const auto buffer = gpu.Allocate(4);
  C4_CHECK(ncclAllReduce(buffer.get(), buffer.get(), 1, ncclInt32, ncclSum, gpu.comm(),
                         gpu.stream()) == ncclSuccess);
  CUevent end = gpu.Record(gpu.stream());
  rank.Set(kFlagEnqueued);
  ncclResult_t error = ncclSuccess;
  while (error == ncclSuccess) {
    C4_CHECK(ncclCommGetAsyncError(gpu.comm(), &error) == ncclSuccess);
    std::this_thread::yield();
  }
  C4_CHECK(error == ncclRemoteError);
  C4_CHECK(cuEventQuery(end) == CUDA_ERROR_NOT_READY);
  C4_CHECK(ncclAllReduce(buffer.get(), buffer.get(), 1, ncclInt32, ncclSum, gpu.comm(),
                         gpu.stream()) == ncclRemoteError);
  C4_CHECK(ncclCommAbort(gpu.comm()) == ncclSuccess);
  gpu.ForgetComm();
  C4_CHECK(cuEventSynchronize(end) == CUDA_SUCCESS);
}

C4_SCENARIO(PeerExits) {
  CheckLostPeer(rank, [] { _exit(0); });
}
C4_SCENARIO(PeerIsKilled) {
  CheckLostPeer(rank, [] { raise(SIGKILL); });
}

C4_SCENARIO(ExitInsideACollective) {
  static auto& gpu = *new Gpu(rank);
  if (rank.rank() != 0) {
    rank.WaitFor(kFlagDone);
    return;
  }
  // Leaked like the rest: freeing memory waits for the device.
  static const auto& buffer = *new Gpu::Buffer(gpu.Allocate(4));
  C4_CHECK(ncclAllReduce(buffer.get(), buffer.get(), 1, ncclInt32, ncclSum, gpu.comm(),
                         gpu.stream()) == ncclSuccess);
  C4_CHECK(cuStreamQuery(gpu.stream()) == CUDA_ERROR_NOT_READY);
  std::atexit([] { Rank::FromEnvironment().Set(kFlagDone); });
}

// Rank 0 calls with fewer elements: rank 1 waits for bytes that never come, and nothing outside
// either's buffer is touched.
C4_SCENARIO(MismatchedCountsBlock) {
  Gpu gpu(rank);
  const size_t count = rank.rank() == 0 ? 1000 : 2000;
  constexpr size_t kGuard = 4096;
  const auto buffer = gpu.Allocate(count * sizeof(int32_t) + kGuard);
  gpu.Fill(buffer, 0x55);
  C4_CHECK(ncclAllReduce(buffer.get(), buffer.get(), count, ncclInt32, ncclMax, gpu.comm(),
                         gpu.stream()) == ncclSuccess);
  CUevent end = gpu.Record(gpu.stream());
  if (rank.rank() == 0) {
    C4_CHECK(cuEventSynchronize(end) == CUDA_SUCCESS);
    rank.Set(kFlagDone);
  } else {
    rank.WaitFor(kFlagDone);
    C4_CHECK(cuEventQuery(end) == CUDA_ERROR_NOT_READY);
  }
  rank.Barrier();
  C4_CHECK(ncclCommAbort(gpu.comm()) == ncclSuccess);
  gpu.ForgetComm();
  const Bytes after = gpu.Download(buffer);
  C4_CHECK(Bytes(after.end() - kGuard, after.end()) == Bytes(kGuard, 0x55));
}

// Rank 0 sends nothing to rank 1 after two operations: all hang in the third.
C4_SCENARIO(DroppedLinkHangs) {
  Gpu gpu(rank);
  const auto buffer = gpu.Allocate(4000);
  const auto reduce = [&] {
    C4_CHECK(ncclAllReduce(buffer.get(), buffer.get(), 1000, ncclInt32, ncclSum, gpu.comm(),
                           gpu.stream()) == ncclSuccess);
  };
  for (int i = 0; i < 2; ++i) reduce();
  C4_CHECK(cuStreamSynchronize(gpu.stream()) == CUDA_SUCCESS);
  reduce();
  rank.Barrier();
  // The only sleep: long enough to be likely to catch a collective that ends, and no more.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  C4_CHECK(cuStreamQuery(gpu.stream()) == CUDA_ERROR_NOT_READY);
  ncclResult_t error = ncclRemoteError;
  C4_CHECK(ncclCommGetAsyncError(gpu.comm(), &error) == ncclSuccess && error == ncclSuccess);
  rank.Barrier();
  C4_CHECK(ncclCommAbort(gpu.comm()) == ncclSuccess);
  gpu.ForgetComm();
}

TEST(Endings, Abort) {
  for (const int n : {2, 4}) EXPECT_TRUE(RunRanks("AbortEndsAStuckCollective", n)) << n;
}
TEST(Endings, PeerExits) { EXPECT_TRUE(RunRanks("PeerExits", 2)); }
TEST(Endings, PeerIsKilled) {
  const auto statuses = RunRanksForStatus("PeerIsKilled", 2);
  ASSERT_EQ(statuses.size(), 2u);
  EXPECT_EQ(statuses[0], 0);
  EXPECT_EQ(statuses[1], SIGKILL);
}
TEST(Endings, ExitInsideACollective) { EXPECT_TRUE(RunRanks("ExitInsideACollective", 2)); }
TEST(Endings, MismatchedCounts) { EXPECT_TRUE(RunRanks("MismatchedCountsBlock", 2)); }
TEST(Endings, DroppedLink) {
  EXPECT_TRUE(RunRanks("DroppedLinkHangs", 3, [](int rank) -> Environment {
    if (rank != 0) return {};
    return {{"C4_CPU_FAULT", "drop-link:peer=1:after=2"}};
  }));
}

}  // namespace
}  // namespace c4::testing
