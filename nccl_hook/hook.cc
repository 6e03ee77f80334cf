#include "nccl_hook/hook.h"

#include <pthread.h>
#include <sys/mman.h>

#include <cstdlib>

#include "nccl_hook/clock.h"
#include "nccl_hook/device_identity.h"
#include "nccl_hook/poller_thread.h"
#include "nccl_hook/scoped_lock.h"
#include "nccl_hook/settings.h"

namespace c4::hook {

constinit Hook g_hook;
constinit std::atomic<HookState> g_hook_state{HookState::kIdle};

namespace {

pthread_mutex_t g_start_mutex = PTHREAD_MUTEX_INITIALIZER;
// A thread holds, or is about to take, the mutex to start the hook. A child forked meanwhile would
// find the mutex locked for ever, and stays off.
constinit std::atomic<bool> g_is_starting{false};
bool g_is_driver_ready = false;  // guarded by g_start_mutex

const char* GetEnvironment(const char* name) { return std::getenv(name); }

// The file belongs to the parent: the child must neither write to it nor poll the parent's events.
// A child forked before the first communicator starts afresh.
void DisarmForkedChild() {
  if (g_hook_state.load(std::memory_order_relaxed) == HookState::kRecording ||
      g_is_starting.load(std::memory_order_relaxed)) {
    g_hook_state.store(HookState::kOff, std::memory_order_relaxed);
  }
  t_state.call_depth = 0;
}

// The orderly end. Runs before CUDA's own exit handlers, because it is registered after them (at
// the first communicator), so the poller stops before the driver goes away.
void MarkExit() {
  if (g_hook_state.load(std::memory_order_relaxed) != HookState::kRecording) {
    return;
  }
  StopPollerThread();
  g_hook.file.header->state.store(static_cast<std::uint32_t>(abi::WriterState::kExited),
                                  std::memory_order_release);  // pairs with the reader
}

bool Start() {
  if (IsSwitchedOff(std::getenv("C4_HOOK"))) {
    return false;
  }
  void* sides = mmap(nullptr, abi::kOperationCapacity * sizeof(SlotSide), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (sides == MAP_FAILED ||
      !CreateRunFile(std::getenv("C4_RUN_DIR"), ReadIdentity(GetEnvironment), &g_hook.file)) {
    return false;
  }
  abi::Header* header = g_hook.file.header;
  g_hook.ring.Attach(header, g_hook.file.operations, static_cast<SlotSide*>(sides),
                     abi::kOperationCapacity);
  g_hook.communicators.Attach(header, g_hook.file.communicators);
  g_hook.largest_communicator.store(header->global_rank >= 0 ? header->world_size : 0,
                                    std::memory_order_relaxed);
  if (const auto get_version = Real<Function::kGetVersion>(nullptr); get_version != nullptr) {
    get_version(&g_hook.nccl_version);
    header->nccl_version = static_cast<std::uint32_t>(g_hook.nccl_version);
  }
  g_hook.poller.Attach(header, &g_hook.ring, &g_hook.communicators, &g_hook.contexts, NowNs);
  if (!StartPollerThread()) {
    header->disarm_reason.store(static_cast<std::uint32_t>(abi::DisarmReason::kInternal),
                                std::memory_order_relaxed);
  }
  PublishRunFile(&g_hook.file);
  return true;
}

// The header's identity fields are read by other processes while we improve them.
template <typename T>
void StoreShared(T* field, T value) {
  __atomic_store_n(field, value, __ATOMIC_RELAXED);
}

}  // namespace

bool EnsureHookStarted() {
  HookState state = g_hook_state.load(std::memory_order_acquire);  // pairs with the release below
  if (state == HookState::kIdle) {
    // Relaxed: a fork sees what its own thread did, and other threads only as they happen to be.
    if (!g_is_starting.exchange(true, std::memory_order_relaxed)) {
      pthread_atfork(nullptr, nullptr, DisarmForkedChild);
    }
    const ScopedLock lock(&g_start_mutex);
    state = g_hook_state.load(std::memory_order_relaxed);
    if (state == HookState::kIdle) {
      state = Start() ? HookState::kRecording : HookState::kOff;
      g_hook_state.store(state, std::memory_order_release);  // pairs with ShouldRecord
    }
  }
  return state == HookState::kRecording;
}

bool EnsureDriver() {
  const ScopedLock lock(&g_start_mutex);
  // Without the poller nobody would read the events.
  if (!g_is_driver_ready && IsPollerThreadRunning() && LoadDriver(&g_hook.driver)) {
    g_is_driver_ready = true;
    const abi::TimingMode mode =
        ChooseTiming(std::getenv("C4_TIMING"), std::getenv("CUDA_DEVICE_MAX_CONNECTIONS"));
    g_hook.contexts.Configure(&g_hook.driver, mode);
    StoreShared(&g_hook.file.header->timing_mode, static_cast<std::uint32_t>(mode));
    std::atexit(MarkExit);
  }
  return g_is_driver_ready;
}

std::uint32_t PrepareTiming() {
  if (!EnsureDriver()) {
    return kNoContext;
  }
  {
    const ScopedLock lock(&g_start_mutex);
    if (g_hook.file.header->device < 0) {
      FillDeviceIdentity(g_hook.driver, g_hook.file.header);
    }
  }
  return g_hook.contexts.PrepareCurrent();
}

void NoteRank(int rank, int rank_count) {
  std::int32_t largest = g_hook.largest_communicator.load(std::memory_order_relaxed);
  while (rank_count > largest) {
    if (g_hook.largest_communicator.compare_exchange_weak(largest, rank_count,
                                                          std::memory_order_relaxed)) {
      StoreShared(&g_hook.file.header->global_rank, rank);
      StoreShared(&g_hook.file.header->world_size, rank_count);
      return;
    }
  }
}

}  // namespace c4::hook
