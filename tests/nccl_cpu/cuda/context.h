// A context: the streams of one device, and the ordering rules between them.
//
// The legacy NULL stream is exact for work that is enqueued through this library: a task of the
// NULL stream waits for everything enqueued earlier on the context's blocking streams, and a task
// of a blocking stream waits for everything enqueued earlier on the NULL stream; streams created
// with CU_STREAM_NON_BLOCKING take no part. The waits are tasks themselves and always for older
// work, so they cannot form a cycle. CU_STREAM_PER_THREAD is treated as the NULL stream.
//
// Ownership: contexts live for ever (a destroyed one is only marked), because handles to them sit
// in thread-local stacks. Thread: any.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/nccl_cpu/cuda/driver.h"
#include "tests/nccl_cpu/cuda/stream.h"

struct CUctx_st {
 public:
  explicit CUctx_st(CUdevice device) : device_(device) {}

  CUdevice device() const { return device_; }
  bool destroyed() const { return destroyed_.load(std::memory_order_relaxed); }
  // Lets pending work finish and refuses new work.
  void Destroy();

  std::shared_ptr<c4::cuda_cpu::Stream> CreateStream(bool follows_null_stream);
  void DestroyStream(const std::shared_ptr<c4::cuda_cpu::Stream>& stream);
  const std::shared_ptr<c4::cuda_cpu::Stream>& null_stream() const { return null_stream_; }

  // Appends a task to a stream of this context under the NULL-stream rules; returns its ticket.
  uint64_t Enqueue(const std::shared_ptr<c4::cuda_cpu::Stream>& stream,
                   c4::cuda_cpu::Stream::Task task);
  // Blocks until all work enqueued so far is done.
  void Synchronize();

 private:
  const CUdevice device_;
  std::atomic<bool> destroyed_{false};  // relaxed: advisory, as a use after destroy is a user's bug
  const std::shared_ptr<c4::cuda_cpu::Stream> null_stream_ =
      std::make_shared<c4::cuda_cpu::Stream>(false);

  std::mutex mutex_;  // guards streams_; held across an enqueue so that both sides see one order
  std::vector<std::shared_ptr<c4::cuda_cpu::Stream>> streams_;
};

struct CUstream_st {
  CUcontext context;
  std::shared_ptr<c4::cuda_cpu::Stream> stream;
};

namespace c4::cuda_cpu {

// The calling thread's current context, or null.
CUcontext CurrentContext();
// CUDA_SUCCESS, or why the calling thread has no usable context.
CUresult RequireContext(CUcontext* context);
// Turns a handle, which may be the NULL stream of the current context, into context and stream.
CUresult ResolveStream(CUstream handle, CUcontext* context, std::shared_ptr<Stream>* stream);
// ResolveStream, then Enqueue.
CUresult EnqueueOn(CUstream handle, Stream::Task task);
// Likewise, and blocks until the task is done.
CUresult RunOn(CUstream handle, Stream::Task task);

}  // namespace c4::cuda_cpu
