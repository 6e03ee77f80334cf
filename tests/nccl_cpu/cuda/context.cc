// Implementation of context.h: the ordering of streams, and the per-thread stack of contexts.
#include "tests/nccl_cpu/cuda/context.h"

#include <algorithm>
#include <utility>

#include "tests/nccl_cpu/cuda/device.h"

using c4::cuda_cpu::Stream;

void CUctx_st::Destroy() {
  destroyed_.store(true, std::memory_order_relaxed);
  std::lock_guard lock(mutex_);
  for (const auto& stream : streams_) stream->Close();
  streams_.clear();
  null_stream_->Close();
}

std::shared_ptr<Stream> CUctx_st::CreateStream(bool follows_null_stream) {
  auto stream = std::make_shared<Stream>(follows_null_stream);
  std::lock_guard lock(mutex_);
  streams_.push_back(stream);
  return stream;
}

void CUctx_st::DestroyStream(const std::shared_ptr<Stream>& stream) {
  std::lock_guard lock(mutex_);
  stream->Close();
  streams_.erase(std::remove(streams_.begin(), streams_.end(), stream), streams_.end());
}

uint64_t CUctx_st::Enqueue(const std::shared_ptr<Stream>& stream, Stream::Task task) {
  std::lock_guard lock(mutex_);
  const auto push_wait_for = [&stream](const std::shared_ptr<Stream>& other) {
    const uint64_t ticket = other->LastTicket();
    if (other->Done(ticket)) return;
    stream->Push([other, ticket] { other->WaitFor(ticket); });
  };
  if (stream == null_stream_) {
    for (const auto& other : streams_) {
      if (other->follows_null_stream()) push_wait_for(other);
    }
  } else if (stream->follows_null_stream()) {
    push_wait_for(null_stream_);
  }
  return stream->Push(std::move(task));
}

void CUctx_st::Synchronize() {
  std::vector<std::shared_ptr<Stream>> all;
  {
    std::lock_guard lock(mutex_);
    all = streams_;
  }
  all.push_back(null_stream_);
  std::vector<uint64_t> tickets;
  for (const auto& stream : all) tickets.push_back(stream->LastTicket());
  for (size_t i = 0; i < all.size(); ++i) all[i]->WaitFor(tickets[i]);
}

namespace c4::cuda_cpu {
namespace {

// Deeper nesting than this is a leak of pushes; the real limit is not documented.
constexpr int kStackMax = 64;

// Trivially destructible: threads of other libraries may call in while the process exits.
struct ContextStack {
  CUcontext entries[kStackMax];
  int size;
};
thread_local ContextStack stack;

}  // namespace

CUcontext CurrentContext() { return stack.size == 0 ? nullptr : stack.entries[stack.size - 1]; }

CUresult RequireContext(CUcontext* context) {
  if (!Initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  *context = CurrentContext();
  if (*context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return (*context)->destroyed() ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

CUresult ResolveStream(CUstream handle, CUcontext* context, std::shared_ptr<Stream>* stream) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
    const CUresult result = RequireContext(context);
    if (result == CUDA_SUCCESS) *stream = (*context)->null_stream();
    return result;
  }
  if (!Initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  *context = handle->context;
  *stream = handle->stream;
  return (*context)->destroyed() ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

CUresult EnqueueOn(CUstream handle, Stream::Task task) {
  CUcontext context;
  std::shared_ptr<Stream> stream;
  const CUresult result = ResolveStream(handle, &context, &stream);
  if (result == CUDA_SUCCESS) context->Enqueue(stream, std::move(task));
  return result;
}

CUresult RunOn(CUstream handle, Stream::Task task) {
  CUcontext context;
  std::shared_ptr<Stream> stream;
  const CUresult result = ResolveStream(handle, &context, &stream);
  if (result == CUDA_SUCCESS) stream->WaitFor(context->Enqueue(stream, std::move(task)));
  return result;
}

}  // namespace c4::cuda_cpu

using c4::cuda_cpu::stack;

C4_CUDA_API CUresult cuCtxCreate_v2(CUcontext* context, unsigned int, CUdevice device) {
  if (!c4::cuda_cpu::Initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!c4::cuda_cpu::IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context = new CUctx_st(device);
  return cuCtxPushCurrent_v2(*context);
}

// CUDA 13's form; the creation parameters (execution affinity, CIG) have no meaning here.
C4_CUDA_API CUresult cuCtxCreate_v4(CUcontext* context, void*, unsigned int flags,
                                    CUdevice device) {
  return cuCtxCreate_v2(context, flags, device);
}

C4_CUDA_API CUresult cuCtxDestroy_v2(CUcontext context) {
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (context->destroyed()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  context->Destroy();
  if (c4::cuda_cpu::CurrentContext() == context) --stack.size;
  return CUDA_SUCCESS;
}

C4_CUDA_API CUresult cuCtxSetCurrent(CUcontext context) {
  if (!c4::cuda_cpu::Initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (context == nullptr) {
    if (stack.size > 0) --stack.size;
    return CUDA_SUCCESS;
  }
  if (context->destroyed()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (stack.size == 0) stack.size = 1;
  stack.entries[stack.size - 1] = context;
  return CUDA_SUCCESS;
}

C4_CUDA_API CUresult cuCtxGetCurrent(CUcontext* context) {
  if (!c4::cuda_cpu::Initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *context = c4::cuda_cpu::CurrentContext();
  return CUDA_SUCCESS;
}

C4_CUDA_API CUresult cuCtxGetDevice(CUdevice* device) {
  CUcontext context;
  const CUresult result = c4::cuda_cpu::RequireContext(&context);
  if (result == CUDA_SUCCESS) *device = context->device();
  return result;
}

C4_CUDA_API CUresult cuCtxPushCurrent_v2(CUcontext context) {
  if (!c4::cuda_cpu::Initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (context->destroyed()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (stack.size == c4::cuda_cpu::kStackMax) return CUDA_ERROR_OUT_OF_MEMORY;
  stack.entries[stack.size++] = context;
  return CUDA_SUCCESS;
}

C4_CUDA_API CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  if (!c4::cuda_cpu::Initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (stack.size == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (context != nullptr) *context = c4::cuda_cpu::CurrentContext();
  --stack.size;
  return CUDA_SUCCESS;
}

C4_CUDA_API CUresult cuCtxSynchronize(void) {
  CUcontext context;
  const CUresult result = c4::cuda_cpu::RequireContext(&context);
  if (result == CUDA_SUCCESS) context->Synchronize();
  return result;
}
