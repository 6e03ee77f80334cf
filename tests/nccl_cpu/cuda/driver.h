// What every file of the libcuda stand-in shares: the ABI, the export macro and the clock.
#pragma once

#include <time.h>

#include <cstdint>

#include "tests/nccl_cpu/include/c4_cuda_abi.h"

// An entry point of libcuda.so.1. Everything else is hidden (see libcuda.map).
#define C4_CUDA_API extern "C" __attribute__((visibility("default")))

namespace c4::cuda_cpu {

// The clock of event timestamps: CLOCK_MONOTONIC, so that tests can compare them with their own.
inline int64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

bool Initialized();  // whether cuInit() was called

}  // namespace c4::cuda_cpu
