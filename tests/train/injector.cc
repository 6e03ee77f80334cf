// Implementation of injector.h.
#include "tests/train/injector.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <thread>

namespace c4::train {
namespace {

// Hangs and deaths strike in the middle of a step, after some of its calls have been made. A stuck
// kernel goes in front of all work instead: the GPU is idle there, so that the host's time of the
// launch is the time the GPU stops.
constexpr int kItemOfHang = 1;
constexpr int kItemOfStuckKernel = 0;

// Cut where a tail would look like a fault of its own.
constexpr double kJitterMax = 3;

}  // namespace

Injector::Injector(const Options& options)
    : options_(options),
      fault_(options.fault),
      random_(options.seed * 1000003 + static_cast<uint64_t>(options.rank)) {}

void Injector::BeginStep(int64_t step) {
  step_ = step;
  if (options_.trigger_file.empty() || fault_.kind != Fault::Kind::kNone) return;
  if (const std::optional<Fault> triggered = ReadTrigger(options_.trigger_file)) {
    fault_ = *triggered;
  }
}

int64_t Injector::ComputeNs(double ms) {
  const double jitter = std::clamp(gaussian_(random_), -kJitterMax, kJitterMax);
  double factor = 1 + jitter * options_.jitter_percent / 100;
  if (Active(Fault::Kind::kSlowGpu)) {
    NoteOnset();
    factor *= 1 + fault_.percent / 100.0;
  }
  return static_cast<int64_t>(std::max(ms * factor, 0.0) * 1e6);
}

void Injector::BeforeWork(int item, const Gpu& gpu, CUstream stream) {
  if (Active(Fault::Kind::kSlowHost)) {
    NoteOnset();
    std::this_thread::sleep_for(std::chrono::milliseconds(fault_.ms));
  }
  if (item == kItemOfStuckKernel && Active(Fault::Kind::kHangGpu) && !noted_) {
    NoteOnset();
    gpu.Stick(stream);
  }
  if (item != kItemOfHang) return;
  if (Active(Fault::Kind::kHangHost)) {
    NoteOnset();
    while (true) std::this_thread::sleep_for(std::chrono::hours(1));
  }
  if (Active(Fault::Kind::kDeadRank)) {
    NoteOnset();
    kill(getpid(), SIGKILL);
  }
}

bool Injector::ForgivesWrongSums() const {
  return fault_.kind == Fault::Kind::kMismatch && fault_.ActiveAt(step_);
}

bool Injector::Active(Fault::Kind kind) const {
  return fault_.kind == kind && fault_.rank == options_.rank && fault_.ActiveAt(step_);
}

bool Injector::Mismatches(Fault::MismatchKind kind) {
  if (!Active(Fault::Kind::kMismatch) || fault_.mismatch_kind != kind) return false;
  NoteOnset();
  return true;
}

void Injector::NoteOnset() {
  if (noted_) return;
  noted_ = true;
  if (options_.onset_file.empty()) return;
  const std::string partial = options_.onset_file + ".partial";
  std::ofstream(partial) << std::chrono::duration_cast<std::chrono::nanoseconds>(
                                std::chrono::system_clock::now().time_since_epoch())
                                .count()
                         << "\n";
  std::rename(partial.c_str(), options_.onset_file.c_str());
}

}  // namespace c4::train
