// A libnccl.so.2 whose calls cost as little as a call can: what remains of a measured call is the
// hook's. Each ncclX has an alias pncclX that the hook does not see.
#include "nccl_hook/functions.h"

using namespace c4::hook;  // NOLINT(google-build-using-namespace): the ABI's own types

#define NOOP_API extern "C" __attribute__((visibility("default")))

struct ncclComm {
  int rank_count;
};

NOOP_API Result ncclGetVersion(int* version) {
  *version = 22809;
  return kSuccess;
}
NOOP_API Result ncclGetUniqueId(UniqueId* id) {
  *id = {};
  return kSuccess;
}
NOOP_API Result ncclCommInitRank(CommHandle* communicator, int rank_count, UniqueId, int) {
  *communicator = new ncclComm{rank_count};
  return kSuccess;
}
NOOP_API Result ncclCommCount(CommHandle communicator, int* count) {
  *count = communicator->rank_count;
  return kSuccess;
}
NOOP_API Result ncclGroupStart() { return kSuccess; }
NOOP_API Result ncclGroupEnd() { return kSuccess; }
NOOP_API Result ncclAllReduce(const void*, void*, std::size_t, DataType, ReductionOp, CommHandle,
                              Stream) {
  return kSuccess;
}
NOOP_API Result ncclSend(const void*, std::size_t, DataType, int, CommHandle, Stream) {
  return kSuccess;
}
extern "C" __attribute__((visibility("default"), alias("ncclAllReduce"))) Result pncclAllReduce(
    const void*, void*, std::size_t, DataType, ReductionOp, CommHandle, Stream);
extern "C" __attribute__((visibility("default"), alias("ncclSend"))) Result pncclSend(
    const void*, std::size_t, DataType, int, CommHandle, Stream);
extern "C" __attribute__((visibility("default"), alias("ncclGroupStart"))) Result pncclGroupStart();
extern "C" __attribute__((visibility("default"), alias("ncclGroupEnd"))) Result pncclGroupEnd();
