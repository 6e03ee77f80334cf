// An event: a point in a stream that host threads and other streams can ask about or wait for.
//
// Each record makes a new version; the event is complete when the last version recorded is, and its
// time is CLOCK_MONOTONIC at the moment the stream reached it, not when the host recorded it.
// Ownership: shared by the CUevent handle and the tasks that will complete or await it, so that
// destroying an event with a record pending is safe. Thread: any.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "tests/nccl_cpu/cuda/driver.h"

namespace c4::cuda_cpu {

class Event {
 public:
  explicit Event(bool timing) : timing_(timing) {}

  uint64_t MarkRecorded();          // a record was enqueued; returns its version
  void Complete(uint64_t version);  // the stream reached that record
  uint64_t LastRecorded() const;    // 0: never recorded
  void WaitFor(uint64_t version) const;
  bool Done() const;  // also when never recorded, as in CUDA

  // CUDA_ERROR_INVALID_HANDLE without timing or before a record, CUDA_ERROR_NOT_READY before
  // completion.
  static CUresult Elapsed(const Event& start, const Event& end, float* milliseconds);

 private:
  CUresult Time(int64_t* time_ns) const;

  const bool timing_;
  mutable std::mutex mutex_;  // guards all below
  mutable std::condition_variable completion_;
  uint64_t recorded_ = 0;
  uint64_t completed_ = 0;
  int64_t time_ns_ = 0;
};

}  // namespace c4::cuda_cpu
