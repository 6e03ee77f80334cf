// The hook of this process: what all wrappers share. It starts at the first communicator, not
// before: a preload reaches every shell and data loader of a job, and must not be noticed there.
//
// kIdle ──first communicator──> kRecording ──fork──> (child) kOff
//   └──C4_HOOK=0, or no file──> kOff
// Thread: any. Start is once-only; everything else is read without a lock.
#pragma once

#include <atomic>
#include <cstdint>

#include "nccl_hook/communicator_table.h"
#include "nccl_hook/operation_ring.h"
#include "nccl_hook/real_functions.h"
#include "nccl_hook/run_file.h"
#include "nccl_hook/timing/contexts.h"
#include "nccl_hook/timing/poller.h"

namespace c4::hook {

struct Hook {
  RunFile file;
  OperationRing ring;
  CommunicatorTable communicators;
  Driver driver;
  Contexts contexts;
  Poller poller;
  int nccl_version = 0;
  std::atomic<std::uint32_t> group_numbers{0};  // the last one given out
  std::atomic<std::int32_t> largest_communicator{0};
};

enum class HookState : std::uint32_t { kIdle = 0, kRecording = 1, kOff = 2 };

extern Hook g_hook;
extern std::atomic<HookState> g_hook_state;

// For the wrappers of operations: one load and two comparisons when there is nothing to do.
inline bool ShouldRecord(const void* caller) {
  // Acquire; pairs with StartHook's release: the hook's parts are attached.
  return g_hook_state.load(std::memory_order_acquire) == HookState::kRecording &&
         t_state.call_depth == 0 && !IsInsideNccl(caller);
}

// For the wrappers that create communicators: starts the hook if need be. False: record nothing.
bool EnsureHookStarted();

// True when the driver's functions are known: libcuda is loaded and somebody polls. It may only get
// loaded by the first communicator's init, so this is asked before and after.
bool EnsureDriver();

// After a communicator's init: gives the timing context of the calling thread's current CUDA
// context, and fills in what the header could not know before.
std::uint32_t PrepareTiming();

// A communicator of this rank and size exists: without a launcher's word, the largest names the
// rank.
void NoteRank(int rank, int rank_count);

}  // namespace c4::hook
