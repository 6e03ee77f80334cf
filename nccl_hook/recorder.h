// The path of an operation through the hook: what happens before and after the real NCCL call. Any
// application thread. No allocation, lock, log or system call here (gettid once per thread
// excepted); CUDA's own calls are those of timing/contexts.h.
//
// Refused calls: NCCL did not enqueue the operation, so its number is given back, unless the
// next one has been taken meanwhile; the record stays, flagged kOperationFailed, and readers
// leave it out when they align sequences. The same goes for the members of a refused or merely
// simulated group.
#pragma once

#include <cstdint>

#include "nccl_hook/hook.h"
#include "nccl_hook/thread_state.h"

namespace c4::hook {

// What a wrapper knows about its call.
struct Operation {
  abi::OperationKind kind;
  CommHandle communicator;
  Stream stream;
  std::uint64_t count = 0;
  DataType datatype = abi::kDataTypeNone;
  std::int32_t root = -1;
  std::int32_t peer = -1;
  ReductionOp reduction = -1;
};

// What EndOperation must know of BeginOperation.
struct Recording {
  std::uint32_t slot = kNoSlot;  // kNoSlot: not recorded
  std::uint32_t interval = kNoInterval;
  std::uint32_t communicator = kNoCommunicator;
  bool is_grouped = false;
};

// NCCL neither accepted the call nor works on it in the background.
bool IsRefused(Result result);

void BeginOperation(const Operation& operation, Recording* recording);
void EndOperation(const Recording& recording, Result result);

// The group of the calling thread. Number of the group being built, taken at its first use; 0
// outside groups.
std::uint32_t CurrentGroup();
// Round the outermost ncclGroupEnd: starts the events of every stream of the group, then ends them.
void BeginGroupEnd();
void FinishGroupEnd(Result result);
// The group was consumed without being launched (ncclGroupSimulateEnd).
void DiscardGroup(Result result);

// The communicator is ready again: records the ends that were waiting for it (non-blocking calls
// return before their kernel is launched). `is_lost`: it was aborted, there will be none.
void SettleDeferred(std::uint32_t communicator, bool is_lost);

// Wraps the real function in a recording. Null `real`: this NCCL lacks it.
template <Function kFunction, typename... Arguments>
inline Result CallOperation(const Operation& operation, const void* caller,
                            Arguments... arguments) {
  const auto real = Real<kFunction>(caller);
  if (__builtin_expect(real == nullptr, 0)) {
    return kInvalidUsage;
  }
  if (!ShouldRecord(caller)) {
    return real(arguments...);
  }
  Recording recording;
  BeginOperation(operation, &recording);
  ++t_state.call_depth;
  const Result result = real(arguments...);
  --t_state.call_depth;
  EndOperation(recording, result);
  return result;
}

}  // namespace c4::hook
