// Who waits for whom, operation by operation.
#include <gtest/gtest.h>
#include <time.h>

#include <functional>

#include "tests/unit/nccl_cpu/gpu.h"
#include "tests/unit/nccl_cpu/rank_processes.h"
#include "tests/unit/nccl_cpu/values.h"

namespace c4::testing {
namespace {

constexpr int kFlagEnqueued = 0;
constexpr int kSlotRelease = 0;

int64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

// An anchor on a stream: no event of that stream that is later than it by x lies later than ns + x.
struct Anchor {
  CUevent event;
  int64_t ns;
};

Anchor MakeAnchor(Gpu& gpu, CUstream stream) {
  CUevent event = gpu.Record(stream);
  C4_CHECK(cuEventSynchronize(event) == CUDA_SUCCESS);
  return {event, NowNs()};
}

int64_t LatestTime(const Anchor& anchor, CUevent event) {
  float ms = 0;
  C4_CHECK(cuEventElapsedTime(&ms, anchor.event, event) == CUDA_SUCCESS);
  return anchor.ns + static_cast<int64_t>(static_cast<double>(ms) * 1e6);
}

using Call = std::function<ncclResult_t(Gpu&, const Gpu::Buffer& send, const Gpu::Buffer& receive,
                                        size_t count)>;

// The last rank's stream is held by a kernel until all others have enqueued and seen that they are
// not done; nobody's end may precede the moment that kernel was released.
void CheckNobodyLeavesBeforeTheLastOne(Rank& rank, Gpu& gpu, const Call& call, size_t count) {
  const size_t bytes = count * sizeof(float) * static_cast<size_t>(rank.nranks());
  const auto send = gpu.Allocate(bytes);
  const auto receive = gpu.Allocate(bytes);
  gpu.Fill(send, 0);
  const Anchor anchor = MakeAnchor(gpu, gpu.stream());
  const bool late = rank.rank() == rank.nranks() - 1;
  rank.Set(kFlagEnqueued, 0);
  rank.Barrier();
  Gpu::Stuck stuck{};
  if (late) stuck = gpu.LaunchStuck(gpu.stream());
  CUevent start = gpu.Record(gpu.stream());
  C4_CHECK(call(gpu, send, receive, count) == ncclSuccess);
  CUevent end = gpu.Record(gpu.stream());
  C4_CHECK(cuEventQuery(end) == CUDA_ERROR_NOT_READY);
  if (late) {
    // Enqueued, not started.
    C4_CHECK(cuEventQuery(start) == CUDA_ERROR_NOT_READY);
    rank.WaitFor(kFlagEnqueued, static_cast<uint32_t>(rank.nranks() - 1));
    rank.Store(kSlotRelease, NowNs());
    stuck.Release();
  } else {
    // Started, not ended.
    C4_CHECK(cuEventSynchronize(start) == CUDA_SUCCESS);
    C4_CHECK(cuEventQuery(end) == CUDA_ERROR_NOT_READY);
    rank.Add(kFlagEnqueued);
  }
  C4_CHECK(cuEventSynchronize(end) == CUDA_SUCCESS);
  float ms = -1;
  C4_CHECK(cuEventElapsedTime(&ms, start, end) == CUDA_SUCCESS && ms >= 0);
  // Elapsed times are floats of milliseconds: allow for their rounding over a long run.
  constexpr int64_t kRoundingNs = 50'000;
  C4_CHECK(LatestTime(anchor, end) + kRoundingNs >= rank.Load(kSlotRelease));
  rank.Barrier();
}

C4_SCENARIO(NobodyLeavesBeforeTheLastOne) {
  Gpu gpu(rank);
  using Buffer = Gpu::Buffer;
  const Call calls[] = {
      [](Gpu& g, const Buffer& s, const Buffer& r, size_t n) {
        return ncclAllReduce(s.get(), r.get(), n, ncclFloat32, ncclSum, g.comm(), g.stream());
      },
      [](Gpu& g, const Buffer& s, const Buffer& r, size_t n) {
        return ncclReduceScatter(s.get(), r.get(), n, ncclFloat32, ncclSum, g.comm(), g.stream());
      },
      [](Gpu& g, const Buffer& s, const Buffer& r, size_t n) {
        return ncclAllGather(s.get(), r.get(), n, ncclFloat32, g.comm(), g.stream());
      },
      [](Gpu& g, const Buffer& s, const Buffer& r, size_t n) {
        return ncclAlltoAll(s.get(), r.get(), n, ncclFloat32, g.comm(), g.stream());
      },
  };
  for (const Call& call : calls) {
    for (const size_t count : {size_t{1}, size_t{100'003}}) {
      CheckNobodyLeavesBeforeTheLastOne(rank, gpu, call, count);
    }
  }
}

// Rank 0 sends to rank 1, which is late: a small message does not vanish into a buffer.
C4_SCENARIO(SendAndRecvWaitForEachOther) {
  Gpu gpu(rank);
  const Call call = [&](Gpu& g, const Gpu::Buffer& s, const Gpu::Buffer& r, size_t n) {
    return rank.rank() == 0 ? ncclSend(s.get(), n, ncclFloat32, 1, g.comm(), g.stream())
                            : ncclRecv(r.get(), n, ncclFloat32, 0, g.comm(), g.stream());
  };
  for (const size_t count : {size_t{1}, size_t{100'003}}) {
    CheckNobodyLeavesBeforeTheLastOne(rank, gpu, call, count);
  }
}

// Each step would block for ever if the rank that may leave early waited for the others.
C4_SCENARIO(SomeMayLeaveEarly) {
  Gpu gpu(rank);
  const auto buffer = gpu.Upload(Values(ncclInt32, 100, rank.rank()));
  const auto all = gpu.Allocate(400 * static_cast<size_t>(rank.nranks()));
  using Step = std::function<ncclResult_t()>;
  const auto early = [&](int who, int flag, const Step& step) {
    if (rank.rank() != who) rank.WaitFor(flag);
    C4_CHECK(step() == ncclSuccess);
    C4_CHECK(cuStreamSynchronize(gpu.stream()) == CUDA_SUCCESS);
    if (rank.rank() == who) rank.Set(flag);
    rank.Barrier();
  };
  early(0, 10, [&] {  // the root of a Broadcast
    return ncclBroadcast(buffer.get(), buffer.get(), 100, ncclInt32, 0, gpu.comm(), gpu.stream());
  });
  early(1, 12, [&] {  // the start of the chain of a Reduce
    return ncclReduce(buffer.get(), all.get(), 100, ncclInt32, ncclSum, 0, gpu.comm(),
                      gpu.stream());
  });
}

// Nobody ends a Broadcast before the root has started, nor the root a Reduce before all have.
C4_SCENARIO(RootsBind) {
  Gpu gpu(rank);
  const auto buffer = gpu.Upload(Values(ncclInt32, 100, rank.rank()));
  C4_CHECK(cuStreamSynchronize(gpu.stream()) == CUDA_SUCCESS);
  const auto late = [&](int flag, int who, bool waits, const std::function<ncclResult_t()>& call) {
    if (rank.rank() == who) rank.WaitFor(flag, static_cast<uint32_t>(rank.nranks() - 1));
    C4_CHECK(call() == ncclSuccess);
    if (rank.rank() != who) {
      if (waits) C4_CHECK(cuStreamQuery(gpu.stream()) == CUDA_ERROR_NOT_READY);
      rank.Add(flag);
    }
    C4_CHECK(cuStreamSynchronize(gpu.stream()) == CUDA_SUCCESS);
    rank.Barrier();
  };
  late(20, 0, true, [&] {
    return ncclBroadcast(buffer.get(), buffer.get(), 100, ncclInt32, 0, gpu.comm(), gpu.stream());
  });
  late(21, 1, rank.rank() == 0, [&] {
    return ncclReduce(buffer.get(), buffer.get(), 100, ncclInt32, ncclSum, 0, gpu.comm(),
                      gpu.stream());
  });
}

TEST(Dependencies, NobodyLeavesBeforeTheLastOne) {
  for (const int n : {2, 4, 8}) EXPECT_TRUE(RunRanks("NobodyLeavesBeforeTheLastOne", n)) << n;
}
TEST(Dependencies, SendAndRecv) { EXPECT_TRUE(RunRanks("SendAndRecvWaitForEachOther", 2)); }
TEST(Dependencies, SomeMayLeaveEarly) { EXPECT_TRUE(RunRanks("SomeMayLeaveEarly", 4)); }
TEST(Dependencies, RootsBind) { EXPECT_TRUE(RunRanks("RootsBind", 3)); }

}  // namespace
}  // namespace c4::testing
