// The wrappers of a communicator's later life: children, readiness, and the end. None of them waits
// for anything, and what becomes of operations in flight is the poller's business.
#include "nccl_hook/comm_hash.h"
#include "nccl_hook/export.h"
#include "nccl_hook/recorder.h"
#include "nccl_hook/wrap/child_communicators.h"
#include "nccl_hook/wrap/communicator_config.h"
#include "nccl_hook/wrap/wrappers.h"

namespace c4::hook {
namespace {

using State = abi::CommunicatorState;

template <typename Call>
Result CallReal(Call call) {
  ++t_state.call_depth;
  const Result result = call();
  --t_state.call_depth;
  return result;
}

Registration ChildOf(std::uint32_t parent, const Config* config) {
  const abi::CommunicatorRecord& record = g_hook.communicators.record(parent);
  Registration registration;
  registration.parent_id = record.id;
  registration.peer_count = g_hook.communicators.side(parent).peer_count;
  registration.device = record.device;
  // Without a config of its own, a child has its parent's name.
  registration.name = config != nullptr ? ConfigName(config) : record.name;
  return registration;
}

// Marks the end before the real call: another thread may get the same address for a new
// communicator as soon as NCCL has freed this one.
void NoteEnd(CommHandle handle, State state) {
  const std::uint32_t index = g_hook.communicators.Find(handle);
  if (index != kNoCommunicator) {
    g_hook.communicators.Unbind(handle);
    g_hook.communicators.SetState(index, state);
  }
}

}  // namespace

extern "C" {

C4_HOOK_EXPORT Result ncclCommSplit(CommHandle parent, int color, int key, CommHandle* child,
                                    Config* config) {
  const auto real = Real<Function::kCommSplit>(C4_HOOK_CALLER);
  if (real == nullptr) {
    return kInvalidUsage;
  }
  if (!ShouldRecord(C4_HOOK_CALLER)) {
    return real(parent, color, key, child, config);
  }
  const std::uint32_t parent_index = g_hook.communicators.Find(parent);
  std::uint32_t index = kNoCommunicator;
  if (parent_index != kNoCommunicator) {
    // Counted on every rank, also on those that want no child: all ranks must call alike.
    const int count = ++g_hook.communicators.side(parent_index).split_count;
    if (color != kSplitNoColor) {
      const abi::CommunicatorRecord& record = g_hook.communicators.record(parent_index);
      Registration registration = ChildOf(parent_index, config);
      registration.id = SplitId(record.id, count, color);
      registration.nccl_hash = NcclSplitHash(g_hook.nccl_version, record.nccl_hash, count, color);
      registration.split_color = color;
      registration.split_key = key;
      index = g_hook.communicators.Reserve(registration);
    }
  }
  const Result result = CallReal([&] { return real(parent, color, key, child, config); });
  if (index != kNoCommunicator) {
    RegisterChild(index, parent_index, child, result);
  }
  return result;
}

C4_HOOK_EXPORT Result ncclCommShrink(CommHandle parent, int* exclude, int exclude_count,
                                     CommHandle* child, Config* config, int flags) {
  const auto real = Real<Function::kCommShrink>(C4_HOOK_CALLER);
  if (real == nullptr) {
    return kInvalidUsage;
  }
  if (!ShouldRecord(C4_HOOK_CALLER)) {
    return real(parent, exclude, exclude_count, child, config, flags);
  }
  const std::uint32_t parent_index = g_hook.communicators.Find(parent);
  std::uint32_t index = kNoCommunicator;
  if (parent_index != kNoCommunicator && exclude != nullptr) {
    const abi::CommunicatorRecord& record = g_hook.communicators.record(parent_index);
    const int count = ++g_hook.communicators.side(parent_index).shrink_count;
    Registration registration = ChildOf(parent_index, config);
    registration.id = ShrinkId(record.id, count, exclude, exclude_count);
    registration.nccl_hash = NcclSplitHash(g_hook.nccl_version, record.nccl_hash, 0, 0);
    index = g_hook.communicators.Reserve(registration);
  }
  const Result result =
      CallReal([&] { return real(parent, exclude, exclude_count, child, config, flags); });
  if (index != kNoCommunicator) {
    RegisterChild(index, parent_index, child, result);
  }
  return result;
}

C4_HOOK_EXPORT Result ncclCommFinalize(CommHandle communicator) {
  const auto real = Real<Function::kCommFinalize>(C4_HOOK_CALLER);
  if (real == nullptr) {
    return kInvalidUsage;
  }
  if (!ShouldRecord(C4_HOOK_CALLER)) {
    return real(communicator);
  }
  const std::uint32_t index = g_hook.communicators.Find(communicator);
  if (index != kNoCommunicator) {
    g_hook.communicators.SetState(index, State::kFinalizing);
  }
  return CallReal([&] { return real(communicator); });
}

C4_HOOK_EXPORT Result ncclCommDestroy(CommHandle communicator) {
  const auto real = Real<Function::kCommDestroy>(C4_HOOK_CALLER);
  if (real == nullptr) {
    return kInvalidUsage;
  }
  if (!ShouldRecord(C4_HOOK_CALLER)) {
    return real(communicator);
  }
  NoteEnd(communicator, State::kDestroyed);
  return CallReal([&] { return real(communicator); });
}

C4_HOOK_EXPORT Result ncclCommAbort(CommHandle communicator) {
  const auto real = Real<Function::kCommAbort>(C4_HOOK_CALLER);
  if (real == nullptr) {
    return kInvalidUsage;
  }
  if (!ShouldRecord(C4_HOOK_CALLER)) {
    return real(communicator);
  }
  const std::uint32_t index = g_hook.communicators.Find(communicator);
  NoteEnd(communicator, State::kAborted);
  const Result result = CallReal([&] { return real(communicator); });
  if (index != kNoCommunicator) {
    SettleDeferred(index, true);
  }
  return result;
}

// Called by applications in a loop and by NCCL itself at every enqueue: nothing but the real call
// when all is well.
C4_HOOK_EXPORT Result ncclCommGetAsyncError(CommHandle communicator, Result* error) {
  const auto real = Real<Function::kCommGetAsyncError>(C4_HOOK_CALLER);
  if (real == nullptr) {
    return kInvalidUsage;
  }
  if (!ShouldRecord(C4_HOOK_CALLER)) {
    return real(communicator, error);
  }
  const Result result = CallReal([&] { return real(communicator, error); });
  const std::uint32_t index = g_hook.communicators.Find(communicator);
  if (result != kSuccess || index == kNoCommunicator) {
    return result;
  }
  if (*error == kSuccess) {
    SettleDeferred(index, false);
    ResolveReady(index);
  } else if (*error != kInProgress) {
    g_hook.communicators.record(index).async_error = *error;
  }
  return result;
}

}  // extern "C"

}  // namespace c4::hook
