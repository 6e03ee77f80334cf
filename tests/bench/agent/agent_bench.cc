// What an operation costs the agent: reading it from the ring, encoding it, framing the batch.
#include <fcntl.h>

#include <memory>

#include "agent/app/batch_builder.h"
#include "agent/rings/ring_reader.h"
#include "agent/uplink/frame.h"
#include "benchmark/benchmark.h"
#include "common/check.h"
#include "common/clock.h"
#include "tests/unit/agent/rings/fake_hook.h"
#include "tests/unit/agent/scratch.h"

namespace c4::agent {
namespace {

constexpr std::int64_t kNow = 50'000'000'000;

struct Ring {
  Ring() : hook(scratch.Path("1-1.c4"), {.operation_capacity = abi::kOperationCapacity}) {
    hook.AddCommunicator(0, 11);
    auto opened = RingReader::Open(
        *HookFile::FromDescriptor(open(scratch.Path("1-1.c4").c_str(), O_RDONLY), "1-1.c4"));
    C4_CHECK(opened.ok());
    reader = *std::move(opened);
  }
  testing::Scratch scratch;
  testing::FakeHook hook;
  std::unique_ptr<RingReader> reader;
  RingPass pass;
};

// As in a steady job: 200 new operations in a pass (1,000/s), all ended.
void BM_ReadRing(benchmark::State& state) {
  Ring ring;
  const auto count = static_cast<int>(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    for (int i = 0; i < count; ++i) ring.hook.Run(kNow);
    ring.pass.Clear();
    state.ResumeTiming();
    C4_CHECK(ring.reader->Poll(kNow, &ring.pass).ok());
  }
  state.SetItemsProcessed(state.iterations() * count);
}
BENCHMARK(BM_ReadRing)->Arg(200)->Arg(abi::kOperationCapacity);

// A pass over a ring where nothing happens.
void BM_ReadIdleRing(benchmark::State& state) {
  Ring ring;
  for (auto _ : state) {
    ring.pass.Clear();
    C4_CHECK(ring.reader->Poll(kNow, &ring.pass).ok());
  }
}
BENCHMARK(BM_ReadIdleRing);

// A hung rank: many operations in flight, looked at in every pass.
void BM_ReadInFlight(benchmark::State& state) {
  Ring ring;
  for (int i = 0; i < state.range(0); ++i) ring.hook.Begin(kNow);
  for (auto _ : state) {
    ring.pass.Clear();
    C4_CHECK(ring.reader->Poll(kNow, &ring.pass).ok());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_ReadInFlight)->Arg(1000);

OperationInfo Operation(std::uint64_t i) {
  OperationInfo operation;
  operation.communicator = 0x1234567890abcdef;
  operation.sequence = i;
  operation.count = 1 << 22;
  operation.stream = 0x7f0012345678;
  operation.kind = abi::OperationKind::kAllReduce;
  operation.datatype = 9;
  operation.enqueue_ns = kNow;
  operation.return_ns = kNow + 5'000;
  operation.start_ns = kNow + 20'000;
  operation.end_ns = kNow + 900'000;
  return operation;
}

void BM_Encode(benchmark::State& state) {
  const ManualClock clock;
  BatchBuilder builder{NodeTime(clock)};
  const RankKey key{"train-20260101", 1234, 0};
  std::size_t bytes = 0;
  for (auto _ : state) {
    for (std::uint64_t i = 0; i < 1600; ++i) builder.AddOperation(key, Operation(i));
    bytes = builder.Take(0, 0)[0].operations.size();
  }
  state.SetItemsProcessed(state.iterations() * 1600);
  state.counters["bytes_per_operation"] = static_cast<double>(bytes) / 1600;
}
BENCHMARK(BM_Encode);

void BM_Frame(benchmark::State& state) {
  const ManualClock clock;
  BatchBuilder builder{NodeTime(clock)};
  for (std::uint64_t i = 0; i < 1600; ++i) {
    builder.AddOperation({"train-20260101", 1234, 0}, Operation(i));
  }
  Spool::Entry entry;
  entry.sequence = 1;
  entry.payload = builder.Take(0, 0)[0];
  for (auto _ : state) {
    benchmark::DoNotOptimize(BatchFrame(entry));
  }
  state.SetItemsProcessed(state.iterations() * 1600);
}
BENCHMARK(BM_Frame);

}  // namespace
}  // namespace c4::agent
