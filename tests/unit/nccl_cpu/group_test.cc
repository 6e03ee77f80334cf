// Groups and point-to-point patterns.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/unit/nccl_cpu/gpu.h"
#include "tests/unit/nccl_cpu/rank_processes.h"
#include "tests/unit/nccl_cpu/values.h"

namespace c4::testing {
namespace {

// More than socket buffers hold, so that a sender really depends on its receiver.
constexpr size_t kLarge = 3'000'001;

ncclResult_t Send(Gpu& gpu, const Gpu::Buffer& buffer, int peer, CUstream stream) {
  return ncclSend(buffer.get(), buffer.bytes, ncclUint8, peer, gpu.comm(), stream);
}
ncclResult_t Receive(Gpu& gpu, const Gpu::Buffer& buffer, int peer, CUstream stream) {
  return ncclRecv(buffer.get(), buffer.bytes, ncclUint8, peer, gpu.comm(), stream);
}

C4_SCENARIO(BothSendFirst) {
  Gpu gpu(rank);
  const int n = rank.nranks();
  for (const size_t bytes : {size_t{0}, size_t{1}, kLarge}) {
    const auto send = gpu.Upload(Values(ncclUint8, bytes, rank.rank()));
    std::vector<Gpu::Buffer> received;
    C4_CHECK(ncclGroupStart() == ncclSuccess);
    for (int peer = 0; peer < n; ++peer) {
      C4_CHECK(Send(gpu, send, peer, gpu.stream()) == ncclSuccess);
    }
    for (int peer = 0; peer < n; ++peer) {
      received.push_back(gpu.Allocate(bytes));
      C4_CHECK(Receive(gpu, received.back(), peer, gpu.stream()) == ncclSuccess);
    }
    C4_CHECK(ncclGroupEnd() == ncclSuccess);
    for (int peer = 0; peer < n; ++peer) {
      C4_CHECK(gpu.Download(received[static_cast<size_t>(peer)]) == Values(ncclUint8, bytes, peer));
    }
  }
}

C4_SCENARIO(UngroupedChain) {
  Gpu gpu(rank);
  const auto buffer = gpu.Upload(Values(ncclUint8, kLarge, rank.rank()));
  if (rank.rank() > 0) {
    C4_CHECK(Receive(gpu, buffer, rank.rank() - 1, gpu.stream()) == ncclSuccess);
  }
  if (rank.rank() < rank.nranks() - 1) {
    C4_CHECK(Send(gpu, buffer, rank.rank() + 1, gpu.stream()) == ncclSuccess);
  }
  C4_CHECK(gpu.Download(buffer) == Values(ncclUint8, kLarge, 0));
}

C4_SCENARIO(SeveralMessagesToOnePeerKeepTheirOrder) {
  Gpu gpu(rank);
  const int peer = 1 - rank.rank();
  constexpr int kMessages = 20;
  std::vector<Gpu::Buffer> sent;
  std::vector<Gpu::Buffer> received;
  C4_CHECK(ncclGroupStart() == ncclSuccess);
  for (int i = 0; i < kMessages; ++i) {
    const auto bytes = static_cast<size_t>(i) * 1009;
    sent.push_back(gpu.Upload(Values(ncclUint8, bytes, i)));
    received.push_back(gpu.Allocate(bytes));
    C4_CHECK(Receive(gpu, received.back(), peer, gpu.stream()) == ncclSuccess);
    C4_CHECK(Send(gpu, sent.back(), peer, gpu.stream()) == ncclSuccess);
  }
  C4_CHECK(ncclGroupEnd() == ncclSuccess);
  for (int i = 0; i < kMessages; ++i) {
    const auto& buffer = received[static_cast<size_t>(i)];
    C4_CHECK(gpu.Download(buffer) == Values(ncclUint8, buffer.bytes, i));
  }
}

// One forward, one backward: each stage sends its activation on while it takes a gradient back.
C4_SCENARIO(PipelineOneForwardOneBackward) {
  Gpu gpu(rank);
  const int stage = rank.rank();
  const int last = rank.nranks() - 1;
  constexpr int kMicrobatches = 4;
  const auto activation_in = gpu.Allocate(kLarge);
  const auto gradient_in = gpu.Allocate(kLarge);
  const int warmup = std::min(last - stage, kMicrobatches);
  int forwards = 0;
  int backwards = 0;
  const auto forward = [&] {
    if (stage > 0) {
      C4_CHECK(Receive(gpu, activation_in, stage - 1, gpu.stream()) == ncclSuccess);
      C4_CHECK(gpu.Download(activation_in) == Values(ncclUint8, kLarge, forwards));
    }
    ++forwards;
  };
  const auto backward_check = [&] {
    if (stage < last) {
      C4_CHECK(gpu.Download(gradient_in) == Values(ncclUint8, kLarge, 100 + backwards));
    }
  };
  for (int i = 0; i < warmup; ++i) {
    forward();
    const auto out = gpu.Upload(Values(ncclUint8, kLarge, i));
    C4_CHECK(Send(gpu, out, stage + 1, gpu.stream()) == ncclSuccess);
    C4_CHECK(cuStreamSynchronize(gpu.stream()) == CUDA_SUCCESS);
  }
  while (backwards < kMicrobatches) {
    const bool has_forward = forwards < kMicrobatches;
    if (has_forward) forward();
    const auto activation_out = gpu.Upload(Values(ncclUint8, kLarge, forwards - 1));
    if (stage < last) {
      C4_CHECK(ncclGroupStart() == ncclSuccess);
      if (has_forward) {
        C4_CHECK(Send(gpu, activation_out, stage + 1, gpu.stream()) == ncclSuccess);
      }
      C4_CHECK(Receive(gpu, gradient_in, stage + 1, gpu.stream()) == ncclSuccess);
      C4_CHECK(ncclGroupEnd() == ncclSuccess);
    }
    backward_check();
    if (stage > 0) {
      const auto out = gpu.Upload(Values(ncclUint8, kLarge, 100 + backwards));
      C4_CHECK(Send(gpu, out, stage - 1, gpu.stream()) == ncclSuccess);
      C4_CHECK(cuStreamSynchronize(gpu.stream()) == CUDA_SUCCESS);
    }
    ++backwards;
  }
}

C4_SCENARIO(CollectivesAndMessagesInOneGroup) {
  Gpu gpu(rank);
  const int n = rank.nranks();
  CUstream second = gpu.NewStream();
  const auto values = Values(ncclFloat32, 10'007, rank.rank());
  const auto a = gpu.Upload(values);
  const auto b = gpu.Upload(values);
  const auto gathered = gpu.Allocate(values.size() * static_cast<size_t>(n));
  const auto message = gpu.Allocate(values.size());
  C4_CHECK(cuStreamSynchronize(gpu.stream()) == CUDA_SUCCESS);
  const auto stuck = gpu.LaunchStuck(second);
  C4_CHECK(ncclGroupStart() == ncclSuccess);
  C4_CHECK(ncclAllReduce(a.get(), a.get(), 10'007, ncclFloat32, ncclSum, gpu.comm(),
                         gpu.stream()) == ncclSuccess);
  C4_CHECK(ncclAllGather(b.get(), gathered.get(), 10'007, ncclFloat32, gpu.comm(), second) ==
           ncclSuccess);
  C4_CHECK(Receive(gpu, message, (rank.rank() + 1) % n, gpu.stream()) == ncclSuccess);
  C4_CHECK(Send(gpu, b, (rank.rank() + n - 1) % n, gpu.stream()) == ncclSuccess);
  // Inside the group nothing has been launched.
  C4_CHECK(cuStreamQuery(gpu.stream()) == CUDA_SUCCESS);
  C4_CHECK(ncclGroupEnd() == ncclSuccess);
  // The group is one unit: it waits for the work of all its streams.
  C4_CHECK(cuStreamQuery(gpu.stream()) == CUDA_ERROR_NOT_READY);
  stuck.Release();
  C4_CHECK(cuStreamSynchronize(second) == CUDA_SUCCESS);
  C4_CHECK(gpu.Download(a) == ReducedValues(ncclFloat32, 10'007, n, ncclSum));
  C4_CHECK(gpu.Download(gathered) == Concatenated(ncclFloat32, 10'007, n));
  C4_CHECK(gpu.Download(message) == Values(ncclFloat32, 10'007, (rank.rank() + 1) % n));
}

C4_SCENARIO(GroupErrorsLaunchNothing) {
  Gpu gpu(rank);
  const auto buffer = gpu.Upload(Values(ncclInt32, 8, rank.rank()));
  C4_CHECK(cuStreamSynchronize(gpu.stream()) == CUDA_SUCCESS);
  C4_CHECK(ncclGroupStart() == ncclSuccess);
  C4_CHECK(ncclGroupStart() == ncclSuccess);
  C4_CHECK(ncclAllReduce(buffer.get(), buffer.get(), 8, ncclInt32, ncclSum, gpu.comm(),
                         gpu.stream()) == ncclSuccess);
  C4_CHECK(ncclSend(buffer.get(), 8, ncclInt32, 99, gpu.comm(), gpu.stream()) ==
           ncclInvalidArgument);
  C4_CHECK(ncclGroupEnd() == ncclSuccess);
  C4_CHECK(ncclGroupEnd() == ncclInvalidArgument);
  C4_CHECK(gpu.Download(buffer) == Values(ncclInt32, 8, rank.rank()));
  C4_CHECK(ncclGroupEnd() == ncclInvalidUsage);
  C4_CHECK(Send(gpu, buffer, rank.rank(), gpu.stream()) == ncclInvalidUsage);
  // Simulation forgets the group.
  C4_CHECK(ncclGroupStart() == ncclSuccess);
  C4_CHECK(Send(gpu, buffer, rank.rank(), gpu.stream()) == ncclSuccess);
  C4_CHECK(ncclGroupSimulateEnd(nullptr) == ncclSuccess);
  C4_CHECK(ncclAllReduce(nullptr, nullptr, 8, ncclInt32, ncclSum, nullptr, gpu.stream()) ==
           ncclInvalidArgument);
  C4_CHECK(ncclAllReduce(buffer.get(), buffer.get(), 8, ncclFloat8e4m3, ncclSum, gpu.comm(),
                         gpu.stream()) == ncclInvalidArgument);
  C4_CHECK(std::string(ncclGetLastError(gpu.comm())).find("reduction") != std::string::npos);
}

TEST(Groups, BothSendFirst) {
  for (const int n : {2, 4}) EXPECT_TRUE(RunRanks("BothSendFirst", n)) << n;
}
TEST(Groups, UngroupedChain) { EXPECT_TRUE(RunRanks("UngroupedChain", 4)); }
TEST(Groups, MessagesKeepTheirOrder) {
  EXPECT_TRUE(RunRanks("SeveralMessagesToOnePeerKeepTheirOrder", 2));
}
TEST(Groups, Pipeline) { EXPECT_TRUE(RunRanks("PipelineOneForwardOneBackward", 4)); }
TEST(Groups, CollectivesAndMessages) {
  for (const int n : {2, 3}) EXPECT_TRUE(RunRanks("CollectivesAndMessagesInOneGroup", n)) << n;
}
TEST(Groups, Errors) { EXPECT_TRUE(RunRanks("GroupErrorsLaunchNothing", 2)); }

}  // namespace
}  // namespace c4::testing
