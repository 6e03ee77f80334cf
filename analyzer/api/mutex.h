// A mutex with clang's thread annotations that ThreadSanitizer understands.
//
// Debian's absl::Mutex is built without ThreadSanitizer's hooks: under it, everything that such a
// mutex protects looks like a race. std::mutex is understood, but libstdc++ does not annotate it.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"

namespace c4::api {

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

  // For those who wait in AwaitFor(): something has changed.
  void Notify() { changed_.notify_all(); }

  // Waits, unlocked meanwhile, until `condition()` holds or `timeout` has passed; whether it holds.
  template <typename Condition>
  bool AwaitFor(absl::Duration timeout, const Condition& condition)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(this) {
    std::unique_lock<std::mutex> lock(mutex_, std::adopt_lock);
    // A year is for ever, and does not overflow.
    const bool holds = changed_.wait_for(
        lock, absl::ToChronoNanoseconds(std::min(timeout, absl::Hours(24 * 365))), condition);
    lock.release();
    return holds;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_->Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mutex_;
};

}  // namespace c4::api
