// Implementation of watchdog.h.
#include "tests/train/watchdog.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>

#include "tests/train/check.h"

namespace c4::train {
namespace {

constexpr std::chrono::milliseconds kPeriod{200};

}  // namespace

Watchdog::Watchdog(const Gpu& gpu, const Communicators& communicators, bool exit_on_error)
    : thread_([this, &gpu, &communicators, exit_on_error] {
        Run(gpu, communicators, exit_on_error);
      }) {}

void Watchdog::Run(const Gpu& gpu, const Communicators& communicators, bool exit_on_error) {
  gpu.UseOnThisThread();
  const auto all = communicators.All();
  std::array<bool, 4> reported{};
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, kPeriod, [this] { return stop_; })) {
    for (size_t i = 0; i < all.size(); ++i) {
      ncclResult_t error = ncclSuccess;
      if (reported[i] || ncclCommGetAsyncError(all[i].handle, &error) != ncclSuccess) continue;
      if (error == ncclSuccess || error == ncclInProgress) continue;
      reported[i] = true;
      std::fprintf(stderr, "rank %d: communicator %s: asynchronous error: %s\n", RankForMessages(),
                   all[i].name, ncclGetErrorString(error));
      if (exit_on_error) _exit(kExitAsyncError);
    }
  }
}

void Watchdog::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace c4::train
