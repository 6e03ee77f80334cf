// Both names of the functions of noop_nccl.cc: ncclX goes through the hook, pncclX does not.
#pragma once

#include "nccl_hook/functions.h"
#include "nccl_hook/wrap/wrappers.h"

namespace c4::hook {

extern "C" Result pncclAllReduce(const void*, void*, std::size_t, DataType, ReductionOp, CommHandle,
                                 Stream);
extern "C" Result pncclSend(const void*, std::size_t, DataType, int, CommHandle, Stream);
extern "C" Result pncclGroupStart();
extern "C" Result pncclGroupEnd();

inline CommHandle MakeNoopCommunicator() {
  UniqueId id;
  CommHandle communicator = nullptr;
  ncclGetUniqueId(&id);
  ncclCommInitRank(&communicator, 8, id, 0);
  return communicator;
}

}  // namespace c4::hook
