// Implementation of stream.h.
#include "tests/nccl_cpu/cuda/stream.h"

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace c4::cuda_cpu {

uint64_t Stream::Push(Task task) {
  std::lock_guard lock(mutex_);
  if (!worker_started_) StartWorker();
  queue_.push_back(std::move(task));
  work_.notify_one();
  return ++pushed_;
}

uint64_t Stream::LastTicket() const {
  std::lock_guard lock(mutex_);
  return pushed_;
}

bool Stream::Done(uint64_t ticket) const {
  std::lock_guard lock(mutex_);
  return completed_ >= ticket;
}

void Stream::WaitFor(uint64_t ticket) const {
  std::unique_lock lock(mutex_);
  progress_.wait(lock, [&] { return completed_ >= ticket; });
}

void Stream::Close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  work_.notify_one();
}

void Stream::StartWorker() {
  // The application's signal handlers belong on its own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread worker([self = shared_from_this()] { self->Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(worker.native_handle(), "c4-cuda-stream");
  worker.detach();
  worker_started_ = true;
}

void Stream::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [&] { return !queue_.empty() || closed_; });
    if (queue_.empty()) return;
    Task task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what the task holds is released before it counts as done
    lock.lock();
    ++completed_;
    progress_.notify_all();
  }
}

}  // namespace c4::cuda_cpu
