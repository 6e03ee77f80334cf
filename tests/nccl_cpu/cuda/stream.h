// A stream: an ordered queue of tasks, executed one after the other by a worker thread of its own,
// apart from the host threads that fill it. The stand-in's whole asynchrony is this class.
//
// Ownership: shared by the CUstream handle, the context's list, and the worker, which holds a
// reference while it runs: destroying a stream with work pending lets that work finish, as CUDA
// does. Thread: all methods from any thread. The worker starts with the first task (most streams
// that libraries create stay empty), is detached, and is never joined: a process may exit while a
// task is stuck. What it is not: the ordering against the NULL stream, which is the context's
// business.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace c4::cuda_cpu {

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  using Task = std::function<void()>;

  explicit Stream(bool follows_null_stream) : follows_null_stream_(follows_null_stream) {}

  // Appends a task; returns its ticket (1, 2, …), with which to wait for it.
  uint64_t Push(Task task);
  uint64_t LastTicket() const;
  bool Done(uint64_t ticket) const;
  void WaitFor(uint64_t ticket) const;
  // No more tasks will come: the worker ends once the queue is empty.
  void Close();

  // False for CU_STREAM_NON_BLOCKING.
  bool follows_null_stream() const { return follows_null_stream_; }

 private:
  void StartWorker();  // requires mutex_
  void Run();

  const bool follows_null_stream_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable work_;
  mutable std::condition_variable progress_;
  std::deque<Task> queue_;
  uint64_t pushed_ = 0;
  uint64_t completed_ = 0;
  bool worker_started_ = false;
  bool closed_ = false;
};

}  // namespace c4::cuda_cpu
