// NCCL's and the CUDA driver's C API: the real headers where CMake found them, else C4's own
// declarations of the same ABI. One place, so that no other file asks which.
#pragma once

#ifdef C4_TRAIN_REAL_HEADERS
#include <cuda.h>
#include <nccl.h>
#else
#include "tests/nccl_cpu/include/c4_cuda_abi.h"
#include "tests/nccl_cpu/include/c4_nccl_abi.h"
#endif
