// Every collective, with every type and operation, on sizes that divide badly, checked on every
// rank.
#include <gtest/gtest.h>

#include "tests/unit/nccl_cpu/gpu.h"
#include "tests/unit/nccl_cpu/rank_processes.h"
#include "tests/unit/nccl_cpu/values.h"

namespace c4::testing {
namespace {

constexpr ncclDataType_t kTypes[] = {ncclInt8,    ncclUint8,   ncclInt32,   ncclUint32,
                                     ncclInt64,   ncclUint64,  ncclFloat16, ncclFloat32,
                                     ncclFloat64, ncclBfloat16};
constexpr ncclRedOp_t kOps[] = {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg};
// 100,003 elements cross several chunks and socket buffers.
constexpr size_t kCounts[] = {0, 1, 7, 1000, 100'003};

// Large messages are about chunks and buffers, not arithmetic: three element sizes are enough.
bool Skip(size_t count, ncclDataType_t type) {
  return count > 1000 && type != ncclInt8 && type != ncclFloat32 && type != ncclBfloat16;
}

template <typename Visit>
void ForEachCase(Visit visit) {
  for (const size_t count : kCounts) {
    for (const ncclDataType_t type : kTypes) {
      for (const ncclRedOp_t op : kOps) {
        if (Skip(count, type) || (count > 1000 && op != ncclSum && op != ncclAvg)) continue;
        visit(count, type, op);
      }
    }
  }
}

C4_SCENARIO(AllReduceEverything) {
  Gpu gpu(rank);
  ForEachCase([&](size_t count, ncclDataType_t type, ncclRedOp_t op) {
    const auto mine = Values(type, count, rank.rank());
    const auto send = gpu.Upload(mine);
    const auto receive = gpu.Allocate(mine.size());
    C4_CHECK(ncclAllReduce(send.get(), receive.get(), count, type, op, gpu.comm(), gpu.stream()) ==
             ncclSuccess);
    C4_CHECK(ncclAllReduce(send.get(), send.get(), count, type, op, gpu.comm(), gpu.stream()) ==
             ncclSuccess);
    const auto expected = ReducedValues(type, count, rank.nranks(), op);
    C4_CHECK(Same(type, gpu.Download(receive), expected));
    C4_CHECK(Same(type, gpu.Download(send), expected));
  });
}

C4_SCENARIO(ReduceScatterEverything) {
  Gpu gpu(rank);
  const auto n = static_cast<size_t>(rank.nranks());
  ForEachCase([&](size_t count, ncclDataType_t type, ncclRedOp_t op) {
    const auto mine = Values(type, count * n, rank.rank());
    const auto send = gpu.Upload(mine);
    const size_t block = mine.size() / n;
    const auto receive = gpu.Allocate(block);
    char* in_place = send.get() + block * static_cast<size_t>(rank.rank());
    C4_CHECK(ncclReduceScatter(send.get(), receive.get(), count, type, op, gpu.comm(),
                               gpu.stream()) == ncclSuccess);
    C4_CHECK(ncclReduceScatter(send.get(), in_place, count, type, op, gpu.comm(), gpu.stream()) ==
             ncclSuccess);
    const auto all = ReducedValues(type, count * n, rank.nranks(), op);
    const auto expected = Block(all, rank.rank(), block);
    C4_CHECK(Same(type, gpu.Download(receive), expected));
    C4_CHECK(Same(type, Block(gpu.Download(send), rank.rank(), block), expected));
  });
}

C4_SCENARIO(ReduceEverything) {
  Gpu gpu(rank);
  int root = 0;
  ForEachCase([&](size_t count, ncclDataType_t type, ncclRedOp_t op) {
    root = (root + 1) % rank.nranks();
    const auto mine = Values(type, count, rank.rank());
    const auto send = gpu.Upload(mine);
    const auto receive = gpu.Allocate(mine.size());
    // The receive buffer of the others may be absent.
    void* result = rank.rank() == root ? receive.get() : nullptr;
    C4_CHECK(ncclReduce(send.get(), result, count, type, op, root, gpu.comm(), gpu.stream()) ==
             ncclSuccess);
    if (rank.rank() == root) {
      C4_CHECK(Same(type, gpu.Download(receive), ReducedValues(type, count, rank.nranks(), op)));
    }
    C4_CHECK(gpu.Download(send) == mine);
  });
}

C4_SCENARIO(AllGatherEverything) {
  Gpu gpu(rank);
  const auto n = static_cast<size_t>(rank.nranks());
  for (const size_t count : kCounts) {
    for (const ncclDataType_t type : kTypes) {
      if (Skip(count, type)) continue;
      const auto mine = Values(type, count, rank.rank());
      const auto send = gpu.Upload(mine);
      const auto receive = gpu.Allocate(mine.size() * n);
      C4_CHECK(ncclAllGather(send.get(), receive.get(), count, type, gpu.comm(), gpu.stream()) ==
               ncclSuccess);
      const auto expected = Concatenated(type, count, rank.nranks());
      C4_CHECK(gpu.Download(receive) == expected);
      // In place: the rank's own block is where it belongs already.
      gpu.Fill(receive, 0);
      char* own = receive.get() + mine.size() * static_cast<size_t>(rank.rank());
      gpu.CopyOnStream(own, send.get(), mine.size());
      C4_CHECK(ncclAllGather(own, receive.get(), count, type, gpu.comm(), gpu.stream()) ==
               ncclSuccess);
      C4_CHECK(gpu.Download(receive) == expected);
    }
  }
}

C4_SCENARIO(BroadcastEverything) {
  Gpu gpu(rank);
  for (const size_t count : kCounts) {
    for (const ncclDataType_t type : kTypes) {
      if (Skip(count, type)) continue;
      for (int root = 0; root < rank.nranks(); ++root) {
        const auto mine = Values(type, count, rank.rank());
        const auto send = gpu.Upload(mine);
        const auto receive = gpu.Allocate(mine.size());
        C4_CHECK(ncclBroadcast(send.get(), receive.get(), count, type, root, gpu.comm(),
                               gpu.stream()) == ncclSuccess);
        C4_CHECK(ncclBcast(send.get(), count, type, root, gpu.comm(), gpu.stream()) == ncclSuccess);
        C4_CHECK(gpu.Download(receive) == Values(type, count, root));
        C4_CHECK(gpu.Download(send) == Values(type, count, root));
      }
    }
  }
}

C4_SCENARIO(AlltoAllGatherScatter) {
  Gpu gpu(rank);
  const int n = rank.nranks();
  const auto blocks = static_cast<size_t>(n);
  for (const size_t count : kCounts) {
    const auto mine = Values(ncclInt32, count * blocks, rank.rank());
    const size_t block = mine.size() / blocks;
    const auto send = gpu.Upload(mine);
    const auto receive = gpu.Allocate(mine.size());
    C4_CHECK(ncclAlltoAll(send.get(), receive.get(), count, ncclInt32, gpu.comm(), gpu.stream()) ==
             ncclSuccess);
    auto result = gpu.Download(receive);
    for (int i = 0; i < n; ++i) {
      const auto theirs = Values(ncclInt32, count * blocks, i);
      C4_CHECK(Block(result, i, block) == Block(theirs, rank.rank(), block));
    }
    for (int root = 0; root < n; ++root) {
      const bool is_root = rank.rank() == root;
      gpu.Fill(receive, 0);
      C4_CHECK(ncclGather(send.get(), is_root ? receive.get() : nullptr, count, ncclInt32, root,
                          gpu.comm(), gpu.stream()) == ncclSuccess);
      result = gpu.Download(receive);
      for (int i = 0; i < n && is_root; ++i) {
        const auto theirs = Values(ncclInt32, count * blocks, i);
        C4_CHECK(Block(result, i, block) == Block(theirs, 0, block));
      }
      C4_CHECK(ncclScatter(is_root ? send.get() : nullptr, receive.get(), count, ncclInt32, root,
                           gpu.comm(), gpu.stream()) == ncclSuccess);
      const auto roots = Values(ncclInt32, count * blocks, root);
      C4_CHECK(Block(gpu.Download(receive), 0, block) == Block(roots, rank.rank(), block));
    }
  }
}

TEST(Collectives, AllReduce) {
  for (const int n : {3, 8}) EXPECT_TRUE(RunRanks("AllReduceEverything", n)) << n;
}
TEST(Collectives, ReduceScatter) {
  for (const int n : {2, 5}) EXPECT_TRUE(RunRanks("ReduceScatterEverything", n)) << n;
}
TEST(Collectives, Reduce) {
  for (const int n : {2, 5}) EXPECT_TRUE(RunRanks("ReduceEverything", n)) << n;
}
TEST(Collectives, AllGather) {
  for (const int n : {2, 8}) EXPECT_TRUE(RunRanks("AllGatherEverything", n)) << n;
}
TEST(Collectives, Broadcast) {
  for (const int n : {2, 5}) EXPECT_TRUE(RunRanks("BroadcastEverything", n)) << n;
}
TEST(Collectives, AlltoAllGatherScatter) {
  for (const int n : {2, 5}) EXPECT_TRUE(RunRanks("AlltoAllGatherScatter", n)) << n;
}
TEST(Collectives, SingleRank) {
  for (const char* scenario :
       {"AllReduceEverything", "ReduceScatterEverything", "ReduceEverything", "AllGatherEverything",
        "BroadcastEverything", "AlltoAllGatherScatter"}) {
    EXPECT_TRUE(RunRanks(scenario, 1)) << scenario;
  }
}

}  // namespace
}  // namespace c4::testing
