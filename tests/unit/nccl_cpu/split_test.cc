// Splits, and several communicators or streams at once.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "tests/unit/nccl_cpu/gpu.h"
#include "tests/unit/nccl_cpu/rank_processes.h"
#include "tests/unit/nccl_cpu/values.h"

namespace c4::testing {
namespace {

void CheckSum(Gpu& gpu, ncclComm_t comm, const std::vector<int>& members, int my_world_rank) {
  int32_t sum = std::accumulate(members.begin(), members.end(), 0);
  Bytes mine(sizeof(int32_t));
  std::memcpy(mine.data(), &my_world_rank, sizeof(my_world_rank));
  Bytes expected(sizeof(int32_t));
  std::memcpy(expected.data(), &sum, sizeof(sum));
  const auto buffer = gpu.Upload(mine);
  C4_CHECK(ncclAllReduce(buffer.get(), buffer.get(), 1, ncclInt32, ncclSum, comm, gpu.stream()) ==
           ncclSuccess);
  C4_CHECK(gpu.Download(buffer) == expected);
}

// Colours 0, 1, 2 by rank, the last rank stays out; keys reverse the order.
C4_SCENARIO(Split) {
  Gpu gpu(rank);
  const int n = rank.nranks();
  const bool stays_out = rank.rank() == n - 1;
  const int color = stays_out ? NCCL_SPLIT_NOCOLOR : rank.rank() % 3;
  std::vector<int> members;
  for (int i = n - 2; i >= 0; --i) {
    if (i % 3 == color) members.push_back(i);
  }
  ncclComm_t child = gpu.comm();
  C4_CHECK(ncclCommSplit(gpu.comm(), color, -rank.rank(), &child, nullptr) == ncclSuccess);
  C4_CHECK((child == nullptr) == stays_out);
  if (!stays_out) {
    int count = 0;
    int place = -1;
    int device = -1;
    C4_CHECK(ncclCommCount(child, &count) == ncclSuccess);
    C4_CHECK(ncclCommUserRank(child, &place) == ncclSuccess);
    C4_CHECK(ncclCommCuDevice(child, &device) == ncclSuccess);
    C4_CHECK(static_cast<size_t>(count) == members.size());
    C4_CHECK(members[static_cast<size_t>(place)] == rank.rank());
    C4_CHECK(device == rank.rank());
    CheckSum(gpu, child, members, rank.rank());
    // A split of the split, in a group: the handle comes with the group's end.
    ncclComm_t alone = child;
    C4_CHECK(ncclGroupStart() == ncclSuccess);
    C4_CHECK(ncclCommSplit(child, place, 0, &alone, nullptr) == ncclSuccess);
    C4_CHECK(alone == nullptr);
    C4_CHECK(ncclGroupEnd() == ncclSuccess);
    CheckSum(gpu, alone, {rank.rank()}, rank.rank());
    C4_CHECK(ncclCommDestroy(alone) == ncclSuccess);
    C4_CHECK(ncclCommFinalize(child) == ncclSuccess);
    C4_CHECK(ncclCommDestroy(child) == ncclSuccess);
  }
  ncclComm_t none = nullptr;
  C4_CHECK(ncclCommSplit(gpu.comm(), -2, 0, &none, nullptr) == ncclInvalidArgument);
  // The parent goes on.
  std::vector<int> everyone(static_cast<size_t>(n));
  std::iota(everyone.begin(), everyone.end(), 0);
  CheckSum(gpu, gpu.comm(), everyone, rank.rank());
}

// Two communicators made in one group, in opposite orders on even and odd ranks; then the second
// works while the first is held up.
C4_SCENARIO(TwoCommunicatorsOnTwoStreams) {
  Gpu gpu(rank);
  CUstream second_stream = gpu.NewStream();
  const ncclUniqueId ids[2] = {rank.UniqueId(1), rank.UniqueId(2)};
  ncclComm_t comms[2] = {};
  C4_CHECK(ncclGroupStart() == ncclSuccess);
  for (int i = 0; i < 2; ++i) {
    const int which = (i + rank.rank()) % 2;
    C4_CHECK(ncclCommInitRank(&comms[which], rank.nranks(), ids[which], rank.rank()) ==
             ncclSuccess);
    int count = 0;  // the handle is there, but not usable yet
    C4_CHECK(comms[which] != nullptr && ncclCommCount(comms[which], &count) == ncclInvalidArgument);
  }
  C4_CHECK(ncclGroupEnd() == ncclSuccess);
  const auto values = Values(ncclInt32, 5003, rank.rank());
  const auto a = gpu.Upload(values);
  const auto b = gpu.Upload(values);
  C4_CHECK(cuStreamSynchronize(gpu.stream()) == CUDA_SUCCESS);
  const auto reduce = [&](const Gpu::Buffer& buffer, ncclComm_t comm, CUstream stream) {
    C4_CHECK(ncclAllReduce(buffer.get(), buffer.get(), 5003, ncclInt32, ncclSum, comm, stream) ==
             ncclSuccess);
  };
  if (rank.rank() != 0) reduce(a, comms[0], gpu.stream());  // rank 0 comes when the other is over
  reduce(b, comms[1], second_stream);
  C4_CHECK(cuStreamSynchronize(second_stream) == CUDA_SUCCESS);
  rank.Barrier();
  if (rank.rank() == 0) reduce(a, comms[0], gpu.stream());
  const auto expected = ReducedValues(ncclInt32, 5003, rank.nranks(), ncclSum);
  C4_CHECK(gpu.Download(a) == expected);
  C4_CHECK(gpu.Download(b) == expected);
  for (ncclComm_t comm : comms) C4_CHECK(ncclCommDestroy(comm) == ncclSuccess);
}

// Operations of one communicator run in launch order even on different streams.
C4_SCENARIO(OneCommunicatorOnTwoStreams) {
  Gpu gpu(rank);
  CUstream second = gpu.NewStream();
  const auto values = Values(ncclInt32, 1009, rank.rank());
  const auto a = gpu.Upload(values);
  const auto b = gpu.Upload(values);
  C4_CHECK(cuStreamSynchronize(gpu.stream()) == CUDA_SUCCESS);
  const auto stuck = gpu.LaunchStuck(gpu.stream());
  C4_CHECK(ncclAllReduce(a.get(), a.get(), 1009, ncclInt32, ncclSum, gpu.comm(), gpu.stream()) ==
           ncclSuccess);
  C4_CHECK(ncclAllReduce(b.get(), b.get(), 1009, ncclInt32, ncclMax, gpu.comm(), second) ==
           ncclSuccess);
  C4_CHECK(cuStreamQuery(second) == CUDA_ERROR_NOT_READY);
  stuck.Release();
  C4_CHECK(cuStreamSynchronize(second) == CUDA_SUCCESS);
  C4_CHECK(gpu.Download(a) == ReducedValues(ncclInt32, 1009, rank.nranks(), ncclSum));
  C4_CHECK(gpu.Download(b) == ReducedValues(ncclInt32, 1009, rank.nranks(), ncclMax));
}

TEST(Communicators, Split) {
  for (const int n : {2, 4, 8}) EXPECT_TRUE(RunRanks("Split", n)) << n;
}
TEST(Communicators, TwoOnTwoStreams) { EXPECT_TRUE(RunRanks("TwoCommunicatorsOnTwoStreams", 3)); }
TEST(Communicators, OneOnTwoStreams) { EXPECT_TRUE(RunRanks("OneCommunicatorOnTwoStreams", 3)); }

}  // namespace
}  // namespace c4::testing
