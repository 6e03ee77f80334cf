#include "nccl_hook/poller_thread.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include "nccl_hook/clock.h"
#include "nccl_hook/hook.h"
#include "nccl_hook/real_dlsym.h"
#include "nccl_hook/timing/poll_pace.h"

namespace c4::hook {
namespace {

constexpr std::int64_t kStopWaitNs = 2'000'000;

constinit std::atomic<bool> g_is_running{false};
constinit std::atomic<bool> g_must_stop{false};
constinit std::atomic<bool> g_is_in_pass{false};

void* RunPoller(void* /*unused*/) {
  prctl(PR_SET_NAME, "c4-poller", 0, 0, 0);
  PollPace pace;
  bool is_relaxed = false;
  while (true) {
    // Sequentially consistent, both here and in StopPollerThread: one of the two must see the
    // other.
    g_is_in_pass.store(true);
    if (g_must_stop.load()) {
      g_is_in_pass.store(false);
      return nullptr;
    }
    if (!is_relaxed && g_hook.contexts.count() != 0) {
      // For good: the setting belongs to the thread.
      int mode = cuda::kCaptureModeRelaxed;
      g_hook.driver.exchange_capture_mode(&mode);
      is_relaxed = true;
    }
    const Poller::Pass pass = g_hook.poller.Step();
    g_is_in_pass.store(false);
    const std::int64_t sleep_ns =
        pace.Next(pass, g_hook.contexts.mode() != abi::TimingMode::kProgress);
    const timespec sleep = {.tv_sec = 0, .tv_nsec = static_cast<long>(sleep_ns)};
    nanosleep(&sleep, nullptr);
  }
}

}  // namespace

bool StartPollerThread() {
  // Looked up: binding them would need libpthread in every process on glibc before 2.34. NCCL
  // brings it.
  const auto create =
      reinterpret_cast<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>(
          RealDlsym()(RTLD_DEFAULT, "pthread_create"));
  const auto detach =
      reinterpret_cast<int (*)(pthread_t)>(RealDlsym()(RTLD_DEFAULT, "pthread_detach"));
  if (create == nullptr || detach == nullptr) {
    return false;
  }
  // A new thread inherits the mask: no signal of the application is ever delivered to it.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool is_created = create(&thread, nullptr, RunPoller, nullptr) == 0;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (is_created) {
    detach(thread);  // it ends with the process; nobody waits for it
  }
  g_is_running.store(is_created, std::memory_order_relaxed);
  return is_created;
}

bool IsPollerThreadRunning() { return g_is_running.load(std::memory_order_relaxed); }

void StopPollerThread() {
  g_must_stop.store(true);
  const std::int64_t deadline_ns = NowNs() + kStopWaitNs;
  while (g_is_in_pass.load() && NowNs() < deadline_ns) {
    sched_yield();
  }
  if (g_is_in_pass.load() || g_hook.contexts.count() == 0) {
    return;
  }
  const RelaxedCapture relaxed(g_hook.driver);
  g_hook.poller.Step();
}

}  // namespace c4::hook
