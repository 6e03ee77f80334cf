// Makes the fault happen, at the moments the step offers. A rank that is not the faulty one gets
// ordinary answers from every method.
//
// Thread: main only. What it is not: for faults of the network, which come from outside.
#pragma once

#include <cstdint>
#include <random>

#include "tests/train/fault.h"
#include "tests/train/gpu.h"
#include "tests/train/options.h"

namespace c4::train {

class Injector {
 public:
  explicit Injector(const Options& options);

  // Looks at the trigger file; once it has said something it is not read again.
  void BeginStep(int64_t step);

  // How long a compute kernel of `ms` is to take: with the natural jitter, and longer on a slow
  // GPU.
  int64_t ComputeNs(double ms);

  // Called by the host before it launches the `item`-th piece of work of the step. May sleep, put a
  // stuck kernel on the stream, or not return.
  void BeforeWork(int item, const Gpu& gpu, CUstream stream);

  // The last collective of the step: whether this rank is to call something else.
  bool CallsWrongCount() { return Mismatches(Fault::MismatchKind::kCount); }
  bool CallsWrongOperation() { return Mismatches(Fault::MismatchKind::kOperation); }

  // After mismatched calls NCCL promises nothing, on any rank: not this program's error.
  bool ForgivesWrongSums() const;

 private:
  bool Active(Fault::Kind kind) const;
  bool Mismatches(Fault::MismatchKind kind);
  void NoteOnset();

  const Options& options_;
  Fault fault_;
  int64_t step_ = 0;
  bool noted_ = false;
  std::mt19937_64 random_;
  std::normal_distribution<double> gaussian_;
};

}  // namespace c4::train
