// The order in which the plans of one communicator run: that of their launch, whatever streams they
// were launched on, as NCCL keeps it too. Also knows whether a plan is running, which Destroy and
// Abort wait for. Thread: any. Plans give up their turn when the communicator is aborted.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace c4::nccl_cpu {

class Turns {
 public:
  uint64_t Take() {
    std::lock_guard lock(mutex_);
    return next_++;
  }
  // Gives back the newest ticket, whose plan could not be launched.
  void Return() {
    std::lock_guard lock(mutex_);
    --next_;
  }

  // Blocks until all older plans are through. False when aborted: the plan must not run.
  bool Begin(uint64_t ticket) {
    std::unique_lock lock(mutex_);
    change_.wait(lock, [&] { return aborted_ || serving_ == ticket; });
    // After an abort an older plan may still be on its way out: running_ is then its own.
    if (!aborted_) running_ = true;
    return !aborted_;
  }
  void End() {
    std::lock_guard lock(mutex_);
    running_ = false;
    ++serving_;
    change_.notify_all();
  }

  // Changes state of a plan that other streams of the plan wait for with Await().
  template <typename Change>
  void Update(Change change) {
    std::lock_guard lock(mutex_);
    change();
    change_.notify_all();
  }
  // Blocks until the condition, which reads only such state, holds. False when aborted.
  template <typename Condition>
  bool Await(Condition condition) {
    std::unique_lock lock(mutex_);
    change_.wait(lock, [&] { return aborted_ || condition(); });
    return !aborted_;
  }

  void Abort() {
    std::lock_guard lock(mutex_);
    aborted_ = true;
    change_.notify_all();
  }
  void WaitUntilIdle() {
    std::unique_lock lock(mutex_);
    change_.wait(lock, [&] { return !running_ && (aborted_ || serving_ == next_); });
  }

 private:
  std::mutex mutex_;  // guards all below
  std::condition_variable change_;
  uint64_t next_ = 0;
  uint64_t serving_ = 0;
  bool running_ = false;
  bool aborted_ = false;
};

}  // namespace c4::nccl_cpu
