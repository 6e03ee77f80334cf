// c4-train: a sample training program over the C APIs of NCCL and the CUDA driver, with faults on
// command. What it computes is meaningless; when it computes and what it sends is a large model's.
#include <chrono>
#include <cstdio>
#include <thread>

#include "tests/train/check.h"
#include "tests/train/communicators.h"
#include "tests/train/gpu.h"
#include "tests/train/injector.h"
#include "tests/train/options.h"
#include "tests/train/stage.h"
#include "tests/train/watchdog.h"

namespace c4::train {
namespace {

using Clock = std::chrono::steady_clock;

double MsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

bool Due(int64_t step, int64_t every) { return every > 0 && step > 0 && step % every == 0; }

void Checkpoint(const Options& options, int64_t step) {
  if (options.rank != 0) return;
  std::printf("checkpoint %lld\n", static_cast<long long>(step));
  std::this_thread::sleep_for(std::chrono::milliseconds(options.checkpoint_ms));
}

// A wrong sum that nobody provoked ends the job.
bool Acceptable(bool right, const Injector& injector) {
  return right || injector.ForgivesWrongSums();
}

int TrainAllSteps(const Options& options, const Gpu& gpu, const Communicators& communicators) {
  Injector injector(options);
  Stage stage(options, gpu, communicators, &injector);
  for (int64_t step = 0; options.steps == 0 || step < options.steps; ++step) {
    injector.BeginStep(step);
    const auto begin = Clock::now();
    if (!Acceptable(stage.Train(step), injector)) return kExitWrongSum;
    if (options.rank == 0) {
      std::printf("step %lld %.1f ms\n", static_cast<long long>(step), MsSince(begin));
    }
    if (Due(step, options.checkpoint_every)) Checkpoint(options, step);
    if (Due(step, options.evaluation_every)) {
      if (options.rank == 0) std::printf("evaluation %lld\n", static_cast<long long>(step));
      if (!Acceptable(stage.Evaluate(step), injector)) return kExitWrongSum;
    }
  }
  return 0;
}

int Main(int argc, char** argv) {
  // A line at a time, so that whoever watches a hung job sees the last one.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Options options;
  switch (ParseOptions(argc, argv, &options)) {
    case ParseResult::kRun:
      break;
    case ParseResult::kHelp:
      return 0;
    case ParseResult::kUsageError:
      return 1;
  }
  SetRankForMessages(options.rank);
  const Gpu gpu(options.local_rank);
  const Communicators communicators = CreateCommunicators(options);
  int status = 0;
  {
    Watchdog watchdog(gpu, communicators, options.exit_on_error);
    status = TrainAllSteps(options, gpu, communicators);
  }
  // After a wrong sum the others may be anywhere; destroying is for jobs that ended well.
  if (status == 0) DestroyCommunicators(communicators);
  if (status == 0 && options.rank == 0) std::printf("done, all sums right\n");
  return status;
}

}  // namespace
}  // namespace c4::train

int main(int argc, char** argv) { return c4::train::Main(argc, argv); }
