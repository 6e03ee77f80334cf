// Communicators whose handle NCCL writes later than the call that asked for them: children of a
// split or shrink inside a group, or of a non-blocking parent. The application must keep the place
// alive until NCCL has written to it, so it is read only at the two moments when that is known to
// have happened: the end of the group, and the parent (or child) reporting success again.
#pragma once

#include <cstdint>

#include "nccl_hook/nccl_abi.h"

namespace c4::hook {

// The call for entry `child` returned `result`; its handle is, or will be, in `*handle`.
void RegisterChild(std::uint32_t child, std::uint32_t parent, CommHandle* handle, Result result);
// The root communicator `index` (its handle is known at once) returned `result` from init.
void RegisterRoot(std::uint32_t index, CommHandle handle, Result result);

// The outermost ncclGroupEnd of `group` returned `result`.
void ResolveGroupChildren(std::uint32_t group, Result result);
// ncclCommGetAsyncError reported success for `communicator`.
void ResolveReady(std::uint32_t communicator);

}  // namespace c4::hook
