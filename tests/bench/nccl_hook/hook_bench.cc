// What a collective costs more because the hook is there: the wrapper over a NCCL and a CUDA that
// do nothing, minus the bare call, in host time of the calling thread. Budget (DESIGN section 3):
// 100 ns median, 250 ns p99.
//
// The program starts itself again under LD_PRELOAD, once per timing mode. Every call is timed
// alone, between two readings of the clock whose own cost is measured on the bare call and taken
// off, so the 99th percentile is of calls and not of averages. In events mode the calls come in
// bursts that fit the pool of events, as in a training step, with a pause in which the poller
// catches up.
#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "nccl_hook/clock.h"
#include "tests/bench/nccl_hook/noop_api.h"

namespace c4::hook {
namespace {

constexpr int kBurst = 64;  // of the 1,024 events; with 8 threads half of them
constexpr DataType kFloat = 7;

bool IsEventsMode() {
  const char* timing = std::getenv("C4_TIMING");
  return timing != nullptr && std::strcmp(timing, "events") == 0;
}

void LetThePollerCatchUp() {
  if (IsEventsMode()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

double Percentile(std::vector<std::int64_t>* samples, double fraction) {
  const auto nth = samples->begin() +
                   static_cast<std::ptrdiff_t>(fraction * static_cast<double>(samples->size() - 1));
  std::nth_element(samples->begin(), nth, samples->end());
  return static_cast<double>(*nth);
}

template <typename Call>
void TimeBurst(Call call, std::vector<std::int64_t>* samples) {
  for (int i = 0; i < kBurst; ++i) {
    const std::int64_t before_ns = NowNs();
    call();
    samples->push_back(NowNs() - before_ns);
  }
}

// Runs bursts of both calls in turn and reports what the first costs above the second.
template <typename Hooked, typename Bare>
void Compare(benchmark::State& state, Hooked hooked, Bare bare) {
  std::vector<std::int64_t> hooked_ns;
  std::vector<std::int64_t> bare_ns;
  for (auto _ : state) {
    const std::size_t done = hooked_ns.size();
    TimeBurst(bare, &bare_ns);
    TimeBurst(hooked, &hooked_ns);
    std::int64_t sum_ns = 0;
    for (std::size_t i = done; i < hooked_ns.size(); ++i) {
      sum_ns += hooked_ns[i] - bare_ns[i];
    }
    state.SetIterationTime(static_cast<double>(std::max<std::int64_t>(sum_ns, 1)) / kBurst / 1e9);
    LetThePollerCatchUp();
  }
  const double base_ns = Percentile(&bare_ns, 0.5);
  using benchmark::Counter;
  state.counters["own_median_ns"] =
      Counter(Percentile(&hooked_ns, 0.5) - base_ns, Counter::kAvgThreads);
  state.counters["own_p99_ns"] =
      Counter(Percentile(&hooked_ns, 0.99) - base_ns, Counter::kAvgThreads);
}

void BM_AllReduce(benchmark::State& state) {
  const CommHandle communicator = MakeNoopCommunicator();
  const auto stream = reinterpret_cast<Stream>(communicator);  // its own, as in PyTorch
  Compare(
      state, [=] { ncclAllReduce(nullptr, nullptr, 1024, kFloat, 0, communicator, stream); },
      [=] { pncclAllReduce(nullptr, nullptr, 1024, kFloat, 0, communicator, stream); });
}

void BM_GroupOfTwoSends(benchmark::State& state) {
  const CommHandle communicator = MakeNoopCommunicator();
  const auto stream = reinterpret_cast<Stream>(communicator);
  Compare(
      state,
      [=] {
        ncclGroupStart();
        ncclSend(nullptr, 1024, kFloat, 1, communicator, stream);
        ncclSend(nullptr, 1024, kFloat, 2, communicator, stream);
        ncclGroupEnd();
      },
      [=] {
        pncclGroupStart();
        pncclSend(nullptr, 1024, kFloat, 1, communicator, stream);
        pncclSend(nullptr, 1024, kFloat, 2, communicator, stream);
        pncclGroupEnd();
      });
}

constexpr int kIterations = 500;
BENCHMARK(BM_AllReduce)->ThreadRange(1, 8)->UseManualTime()->Iterations(kIterations);
BENCHMARK(BM_GroupOfTwoSends)->Threads(1)->UseManualTime()->Iterations(kIterations);

int RunUnderHook(char** argv, const char* timing) {
  std::printf("--- C4_TIMING=%s\n", timing);
  std::fflush(stdout);
  std::string directory = "/dev/shm/c4-hook-bench-XXXXXX";  // tmpfs, as /run/c4 is
  if (mkdtemp(directory.data()) == nullptr) {
    return 1;
  }
  const pid_t child = fork();
  if (child == 0) {
    setenv("C4_TIMING", timing, 1);
    setenv("C4_RUN_DIR", directory.c_str(), 1);
    setenv("LD_PRELOAD", C4_HOOK_LIBRARY, 1);
    execv("/proc/self/exe", argv);
    _exit(1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  std::filesystem::remove_all(directory);
  return status;
}

}  // namespace
}  // namespace c4::hook

int main(int argc, char** argv) {
  if (std::getenv("LD_PRELOAD") == nullptr) {
    const int host = c4::hook::RunUnderHook(argv, "host");
    const int events = c4::hook::RunUnderHook(argv, "events");
    return host == 0 && events == 0 ? 0 : 1;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
