// What one group (or one ungrouped call) does on one communicator: launched as host functions on
// the user's streams, run by a stream's worker as if it were NCCL's kernel.
//
// All operations of a plan progress together: collectives one after the other round the ring,
// point-to-point operations with each peer side by side, so that a group in which both sides send
// first does not deadlock. The plan runs on the first stream of the group; other streams of the
// group hold still from the moment they reach it until it is done. Thread: Launch on the caller's,
// Run on stream workers. Blocks without limit until an abort.
#pragma once

#include <memory>
#include <vector>

#include "tests/nccl_cpu/nccl/communicator.h"
#include "tests/nccl_cpu/nccl/operation.h"

namespace c4::nccl_cpu {

// operations is not empty; their streams, in order of first use, are the plan's.
ncclResult_t LaunchPlan(std::shared_ptr<Communicator> comm, std::vector<Operation> operations);

}  // namespace c4::nccl_cpu
