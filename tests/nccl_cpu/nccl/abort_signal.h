// The one thing that ends a blocked operation: a flag that poll() can wait for.
// Thread: Raise() from any thread, once or often; the rest from any thread. It never resets.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>

namespace c4::nccl_cpu {

class AbortSignal {
 public:
  AbortSignal() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~AbortSignal() { close(fd_); }
  AbortSignal(const AbortSignal&) = delete;
  AbortSignal& operator=(const AbortSignal&) = delete;

  void Raise() {
    raised_.store(true, std::memory_order_release);  // pairs with the acquire in raised()
    eventfd_write(fd_, 1);
  }
  bool raised() const { return raised_.load(std::memory_order_acquire); }
  int fd() const { return fd_; }  // readable for ever once raised

 private:
  const int fd_;
  std::atomic<bool> raised_{false};
};

}  // namespace c4::nccl_cpu
