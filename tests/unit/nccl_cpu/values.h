// Test data: values that tell ranks and positions apart and whose sums, products and averages over
// eight ranks are exact in every type, so that results can be compared without tolerance.
#pragma once

#include "tests/nccl_cpu/include/c4_nccl_abi.h"
#include "tests/unit/nccl_cpu/gpu.h"

namespace c4::testing {

size_t BytesOf(ncclDataType_t type);
// `count` elements as rank `rank` contributes them.
Bytes Values(ncclDataType_t type, size_t count, int rank);
// Element-wise over ranks 0 … nranks-1.
Bytes ReducedValues(ncclDataType_t type, size_t count, int nranks, ncclRedOp_t op);
// All ranks' values one after the other.
Bytes Concatenated(ncclDataType_t type, size_t count, int nranks);
Bytes Block(const Bytes& bytes, int index, size_t block_bytes);
// Equal, or for averages of floats within the type's rounding.
bool Same(ncclDataType_t type, const Bytes& a, const Bytes& b);

}  // namespace c4::testing
