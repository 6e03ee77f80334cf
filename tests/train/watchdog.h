// Asks NCCL for asynchronous errors while main waits in a step, as PyTorch's watchdog does: a lost
// peer shows there and nowhere else.
//
// Thread: its own; Stop() and the destructor from main, before the communicators are destroyed.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/train/communicators.h"
#include "tests/train/gpu.h"

namespace c4::train {

class Watchdog {
 public:
  // Prints each communicator's first error; ends the process with kExitAsyncError if exit_on_error.
  Watchdog(const Gpu& gpu, const Communicators& communicators, bool exit_on_error);
  ~Watchdog() { Stop(); }

  void Stop();

 private:
  void Run(const Gpu& gpu, const Communicators& communicators, bool exit_on_error);

  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace c4::train
