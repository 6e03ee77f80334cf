// NCCL's commHash as NCCL ≥ 2.26 computes it: the name of a communicator in logs ("commId 0x…"),
// profiler events and RAS, derived by all ranks alike without talking. Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "tests/nccl_cpu/include/c4_nccl_abi.h"

namespace c4::nccl_cpu {

uint64_t RootCommHash(const ncclUniqueId& id);
// split_count: 1, 2, … per parent, counting every ncclCommSplit on it, those with NOCOLOR included.
uint64_t SplitCommHash(uint64_t parent_hash, int split_count, int color);
// The same mixing function for anything else that needs a stable 64-bit name.
uint64_t HashBytes(const std::string& bytes);

}  // namespace c4::nccl_cpu
