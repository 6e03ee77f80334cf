// One GPU as the trainer sees it: a context, streams, memory, and the kernels of kernels.h.
//
// Handles and memory live until the process ends and are then left to the driver: freeing memory
// under a hung kernel blocks, and a hung job is what this program is for.
// Thread: main only; another thread that calls the driver attaches with UseOnThisThread().
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/train/abi.h"

namespace c4::train {

class Gpu {
 public:
  // Takes the `ordinal`-th GPU that is visible, or, where the launcher shows each process one GPU
  // only, that one.
  explicit Gpu(int ordinal);

  void UseOnThisThread() const;

  CUstream NewStream() const;
  CUevent NewEvent() const;          // no timing: for ordering
  CUevent NewBlockingEvent() const;  // the host sleeps while it waits for it
  float* NewFloats(size_t count) const;
  float* NewPinnedFloats(size_t count) const;

  void Compute(CUstream stream, int64_t duration_ns) const;
  void Fill(CUstream stream, float* values, float value, size_t count) const;
  void Scale(CUstream stream, float* values, float factor, size_t count) const;
  // A kernel that never ends: its flag is never set.
  void Stick(CUstream stream) const;
  void CopyToHost(CUstream stream, float* pinned, const float* values, size_t count) const;

 private:
  CUcontext context_ = nullptr;
  CUfunction compute_ = nullptr;
  CUfunction fill_ = nullptr;
  CUfunction scale_ = nullptr;
  CUfunction stuck_ = nullptr;
  CUdeviceptr never_set_flag_ = 0;
};

// `after` waits for all that `stream` holds now. event is reused: one pair, one event.
void Order(CUevent event, CUstream stream, CUstream after);

}  // namespace c4::train
