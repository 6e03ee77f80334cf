// One call of the NCCL API that moves data, as a value. Pointers are the user's buffers.
#pragma once

#include <cstddef>

#include "tests/nccl_cpu/include/c4_nccl_abi.h"

namespace c4::nccl_cpu {

enum class OperationKind {
  kAllReduce,
  kReduce,
  kBroadcast,
  kReduceScatter,
  kAllGather,
  kAlltoAll,
  kGather,
  kScatter,
  kSend,
  kReceive
};

struct Operation {
  OperationKind kind;
  const char* send = nullptr;
  char* receive = nullptr;
  size_t count = 0;  // as the API counts it: per peer for AlltoAll, Gather, Scatter
  ncclDataType_t type = ncclInt8;
  ncclRedOp_t op = ncclSum;
  int peer = 0;  // root, or the other side of Send and Recv; unused otherwise
  CUstream stream = nullptr;
};

}  // namespace c4::nccl_cpu
