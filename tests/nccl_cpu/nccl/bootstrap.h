// How ranks that share nothing but a unique id find each other.
//
// CreateUniqueId() opens a listener, whose address goes into the id, and leaves it to a detached
// root thread. Each rank connects, sends its RankInfo, and gets the table of all once the last has
// come: a missing rank blocks the others, as in NCCL. The id is laid out as NCCL's: 8 random bytes,
// then the socket address. Thread: any. What it is not: a service; a root answers one communicator
// and ends.
#pragma once

#include "tests/nccl_cpu/include/c4_nccl_abi.h"
#include "tests/nccl_cpu/nccl/rank_info.h"
#include "tests/nccl_cpu/nccl/socket.h"

namespace c4::nccl_cpu {

ncclResult_t CreateUniqueId(ncclUniqueId* id);
// Blocks until all ranks have come.
ncclResult_t ExchangeThroughRoot(const ncclUniqueId& id, const RankInfo& mine,
                                 const AbortSignal& abort, RankTable* table);
// Blocks until all ranks of an existing control ring have contributed. table has one entry per
// rank.
Io AllGatherRing(const Socket& to_next, const Socket& from_previous, int rank,
                 const AbortSignal& abort, RankTable* table);

}  // namespace c4::nccl_cpu
