#include "nccl_hook/wrap/child_communicators.h"

#include "nccl_hook/recorder.h"
#include "nccl_hook/wrap/communicator_config.h"

namespace c4::hook {
namespace {

using State = abi::CommunicatorState;

CommunicatorTable& Table() { return g_hook.communicators; }

bool IsInitialising(std::uint32_t index) {
  return Table().record(index).state.load(std::memory_order_relaxed) ==
         static_cast<std::uint32_t>(State::kInitialising);
}

void StopWaiting(std::uint32_t index) {
  CommunicatorSide& side = Table().side(index);
  if (side.is_late != 0) {
    side.is_late = 0;
    Table().late_count().fetch_sub(1, std::memory_order_relaxed);
  }
}

void Fail(std::uint32_t index) {
  StopWaiting(index);
  Table().SetState(index, State::kFailed);
}

// Rank and size of a child, which only NCCL knows. Outside any group and with the communicator
// ready, both are plain reads of its fields.
void ReadMembership(std::uint32_t index, CommHandle handle) {
  abi::CommunicatorRecord& record = Table().record(index);
  const auto get_rank = Real<Function::kCommUserRank>(nullptr);
  const auto get_count = Real<Function::kCommCount>(nullptr);
  if (record.rank_count >= 0 || get_rank == nullptr || get_count == nullptr) {
    return;
  }
  int rank = -1;
  int count = -1;
  ++t_state.call_depth;
  const bool is_known =
      get_rank(handle, &rank) == kSuccess && get_count(handle, &count) == kSuccess;
  --t_state.call_depth;
  if (is_known) {
    record.rank = rank;
    record.rank_count = count;
  }
}

// The communicator exists and may be used.
void Complete(std::uint32_t index) {
  CommunicatorSide& side = Table().side(index);
  // Acquire; pairs with NCCL's own store from its init thread.
  const CommHandle handle =
      side.late_handle != nullptr ? __atomic_load_n(side.late_handle, __ATOMIC_ACQUIRE) : nullptr;
  if (side.late_handle != nullptr && handle == nullptr) {
    // No colour was given after all, or NCCL is not done with it.
    return;
  }
  StopWaiting(index);
  side.late_handle = nullptr;
  if (handle != nullptr) {
    ReadMembership(index, handle);
    Table().Bind(index, handle);
  }
  if (side.context.load(std::memory_order_relaxed) == kNoContext) {
    side.context.store(PrepareTiming(), std::memory_order_relaxed);  // published by SetReady
  }
  Table().SetReady(index);
}

void Wait(std::uint32_t index, CommHandle* handle) {
  CommunicatorSide& side = Table().side(index);
  side.late_handle = handle;
  side.late_group = CurrentGroup();
  side.is_late = 1;
  Table().late_count().fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void RegisterChild(std::uint32_t child, std::uint32_t parent, CommHandle* handle, Result result) {
  CommunicatorSide& side = Table().side(child);
  side.parent = parent;
  side.context.store(Table().side(parent).context.load(std::memory_order_relaxed),
                     std::memory_order_relaxed);
  if (IsRefused(result)) {
    Fail(child);
    return;
  }
  Wait(child, handle);
  if (result == kSuccess && t_state.group_depth == 0) {
    Complete(child);
  }
}

void RegisterRoot(std::uint32_t index, CommHandle handle, Result result) {
  if (IsRefused(result)) {
    Fail(index);
    return;
  }
  Table().side(index).context.store(PrepareTiming(), std::memory_order_relaxed);
  if (abi::CommunicatorRecord& record = Table().record(index); record.device < 0) {
    record.device = CurrentDevice();  // the first init may have brought up CUDA
  }
  Table().Bind(index, handle);
  if (result == kSuccess && t_state.group_depth == 0) {
    Table().SetReady(index);
  } else {
    Wait(index, nullptr);
  }
}

void ResolveGroupChildren(std::uint32_t group, Result result) {
  if (group == 0 || Table().late_count().load(std::memory_order_relaxed) == 0) {
    return;
  }
  for (std::uint32_t i = 0; i < Table().count(); ++i) {
    CommunicatorSide& side = Table().side(i);
    if (!IsInitialising(i) || side.is_late == 0 || side.late_group != group) {
      continue;
    }
    if (result == kSuccess) {
      Complete(i);
    } else if (IsRefused(result)) {
      Fail(i);
    } else {
      side.late_group = 0;  // from now on the communicator itself says when it is done
    }
  }
}

void ResolveReady(std::uint32_t communicator) {
  if (Table().late_count().load(std::memory_order_relaxed) == 0) {
    return;
  }
  for (std::uint32_t i = 0; i < Table().count(); ++i) {
    const CommunicatorSide& side = Table().side(i);
    if (IsInitialising(i) && side.is_late != 0 && side.late_group == 0 &&
        (i == communicator || side.parent == communicator)) {
      Complete(i);
    }
  }
}

}  // namespace c4::hook
