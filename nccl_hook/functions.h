// The one list of what the hook wraps. A line gives the name without "nccl" and the parameter
// types; it yields the number, the exported name, the type of the real function and the wrapper's
// declaration. Adding a function is a line here and its body in wrap/. Every one of them returns
// ncclResult_t.
#pragma once

#include <cstddef>

#include "nccl_hook/nccl_abi.h"

// clang-format off
#define C4_HOOK_FUNCTIONS(X)                                                                       \
  X(AllReduce, const void*, void*, std::size_t, DataType, ReductionOp, CommHandle, Stream)         \
  X(AllGather, const void*, void*, std::size_t, DataType, CommHandle, Stream)                      \
  X(ReduceScatter, const void*, void*, std::size_t, DataType, ReductionOp, CommHandle, Stream)     \
  X(Broadcast, const void*, void*, std::size_t, DataType, int, CommHandle, Stream)                 \
  X(Bcast, void*, std::size_t, DataType, int, CommHandle, Stream)                                  \
  X(Reduce, const void*, void*, std::size_t, DataType, ReductionOp, int, CommHandle, Stream)       \
  X(AlltoAll, const void*, void*, std::size_t, DataType, CommHandle, Stream)                       \
  X(Gather, const void*, void*, std::size_t, DataType, int, CommHandle, Stream)                    \
  X(Scatter, const void*, void*, std::size_t, DataType, int, CommHandle, Stream)                   \
  X(Send, const void*, std::size_t, DataType, int, CommHandle, Stream)                             \
  X(Recv, void*, std::size_t, DataType, int, CommHandle, Stream)                                   \
  X(PutSignal, const void*, std::size_t, DataType, int, Window, std::size_t, int, int, unsigned,   \
    CommHandle, Stream)                                                                            \
  X(Signal, int, int, int, unsigned, CommHandle, Stream)                                           \
  X(WaitSignal, int, WaitSignalDescriptor*, CommHandle, Stream)                                    \
  X(GroupStart, void)                                                                              \
  X(GroupEnd, void)                                                                                \
  X(GroupSimulateEnd, SimInfo*)                                                                    \
  X(GetUniqueId, UniqueId*)                                                                        \
  X(CommInitRank, CommHandle*, int, UniqueId, int)                                                 \
  X(CommInitRankConfig, CommHandle*, int, UniqueId, int, Config*)                                  \
  X(CommInitRankScalable, CommHandle*, int, int, int, UniqueId*, Config*)                          \
  X(CommInitAll, CommHandle*, int, const int*)                                                     \
  X(CommSplit, CommHandle, int, int, CommHandle*, Config*)                                         \
  X(CommShrink, CommHandle, int*, int, CommHandle*, Config*, int)                                  \
  X(CommFinalize, CommHandle)                                                                      \
  X(CommDestroy, CommHandle)                                                                       \
  X(CommAbort, CommHandle)                                                                         \
  X(CommGetAsyncError, CommHandle, Result*)

// Functions that the hook calls and does not wrap.
#define C4_HOOK_CALLED_FUNCTIONS(X)  \
  X(GetVersion, int*)                \
  X(CommCount, CommHandle, int*)     \
  X(CommUserRank, CommHandle, int*)
// clang-format on

namespace c4::hook {

enum class Function {
#define C4_HOOK_ENUM(name, ...) k##name,
  C4_HOOK_FUNCTIONS(C4_HOOK_ENUM) kWrappedCount,
  kFirstCalled = kWrappedCount - 1,
  C4_HOOK_CALLED_FUNCTIONS(C4_HOOK_ENUM) kCount
#undef C4_HOOK_ENUM
};
inline constexpr int kWrappedFunctionCount = static_cast<int>(Function::kWrappedCount);
inline constexpr int kFunctionCount = static_cast<int>(Function::kCount);

template <Function>
struct FunctionTraits;
#define C4_HOOK_TRAITS(name, ...)                 \
  template <>                                     \
  struct FunctionTraits<Function::k##name> {      \
    using Pointer = Result (*)(__VA_ARGS__);      \
    static constexpr char kName[] = "nccl" #name; \
  };
C4_HOOK_FUNCTIONS(C4_HOOK_TRAITS)
C4_HOOK_CALLED_FUNCTIONS(C4_HOOK_TRAITS)
#undef C4_HOOK_TRAITS

}  // namespace c4::hook
