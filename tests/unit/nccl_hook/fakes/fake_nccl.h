// A libnccl.so.2 that does nothing but remember: what the hook passes through must arrive here, in
// order and unchanged, and what is told to fail must fail. It calls some of its own functions
// through the PLT, as the real one does. Not a NCCL: no data moves (tests/nccl_cpu is one).
#pragma once

#include <cstddef>
#include <cstdint>

#include "nccl_hook/functions.h"

// One call as the library saw it.
struct FakeCall {
  char name[32];
  std::uint64_t count;
  int datatype;
  int root_or_peer;
  int reduction;
  const void* communicator;
  const void* stream;
};

extern "C" {
// The log, and how many calls it holds.
const FakeCall* FakeNcclCalls(std::size_t* count);
void FakeNcclClear();
// What operations, or the group's end, return from now on. 0: success.
void FakeNcclSetOperationResult(int result);
void FakeNcclSetGroupResult(int result);
// What ncclCommInitRank and ncclCommSplit return; 7 (in progress) leaves *newcomm for
// FakeNcclFinishAsync to write.
void FakeNcclSetInitResult(int result);
// What ncclCommGetAsyncError reports; FakeNcclFinishAsync makes it success and completes splits.
void FakeNcclSetAsyncError(int result);
void FakeNcclFinishAsync();
// Operations never return from now on.
void FakeNcclBlock();
}
