// Element types and the arithmetic of reductions. Pure functions over bytes.
//
// Half-precision types are widened to float for each step and rounded back to nearest even;
// averages are sums divided at the end (the division of integers truncates). The 8-bit float types
// can be moved but not reduced.
#pragma once

#include <cstddef>

#include "tests/nccl_cpu/include/c4_nccl_abi.h"

namespace c4::nccl_cpu {

size_t TypeBytes(ncclDataType_t type);  // 0 for a value that is no type
bool CanReduce(ncclDataType_t type, ncclRedOp_t op);

// destination[i] = a[i] op b[i]; any of the three may be the same, none need be aligned. ncclAvg
// adds.
void Reduce(void* destination, const void* a, const void* b, size_t count, ncclDataType_t type,
            ncclRedOp_t op);
// values[i] /= divisor.
void Divide(void* values, size_t count, ncclDataType_t type, int divisor);

}  // namespace c4::nccl_cpu
