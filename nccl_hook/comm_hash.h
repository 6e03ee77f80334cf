// The two names of a communicator: the hook's own id, which every member derives alike on any NCCL
// version, and NCCL's commHash as that version computes it (the `commId 0x…` of its log, the hash
// of its RAS and profiler). Pure functions. Facts: NCCL's init.cc and utils.h, 2.14 to 2.30.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nccl_hook/nccl_abi.h"

namespace c4::hook {

// First NCCL versions (ncclGetVersion's code) of each way to compute the hash.
inline constexpr int kVersionHashSplitCount = 22400;  // "%016lx-%d-%d" instead of "%016lx-%d"
inline constexpr int kVersionHashEat = 22600;         // the two-accumulator hash

// commHash of a root communicator. Of a scalable init: of its first id.
std::uint64_t NcclRootHash(int version, const UniqueId& id);
// commHash of a child. `split_count` is 1 for the parent's first split. A shrink has 0 and colour
// 0.
std::uint64_t NcclSplitHash(int version, std::uint64_t parent_hash, int split_count, int color);

// The hook's own ids. `occurrence` tells communicators apart that share one unique id (NCCL_COMM_ID
// makes ids constant); 0 otherwise.
std::uint64_t RootId(const UniqueId* ids, int id_count, int rank_count, std::uint64_t occurrence);
std::uint64_t SplitId(std::uint64_t parent_id, int split_count, int color);
std::uint64_t ShrinkId(std::uint64_t parent_id, int shrink_count, const int* exclude, int count);

// With NCCL_COMM_ID set, every unique id starts with this constant instead of 8 random bytes.
inline constexpr std::uint64_t kFixedIdMagic = 0x0280028002800280;
bool IsFixedId(const UniqueId& id);

}  // namespace c4::hook
