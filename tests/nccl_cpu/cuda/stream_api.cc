// Entry points that create, query and fill streams. Stream capture does not exist here: queries say
// "not capturing", and the capture mode of a thread is stored but restrains nothing.
#include <utility>

#include "tests/nccl_cpu/cuda/context.h"

using c4::cuda_cpu::Stream;

namespace {

thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

CUresult NotCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  CUcontext context;
  std::shared_ptr<Stream> stream;
  const CUresult result = c4::cuda_cpu::ResolveStream(handle, &context, &stream);
  if (result != CUDA_SUCCESS) return result;
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

}  // namespace

C4_CUDA_API CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  CUcontext context;
  const CUresult result = c4::cuda_cpu::RequireContext(&context);
  if (result != CUDA_SUCCESS) return result;
  if (stream == nullptr || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  const bool follows_null_stream = flags == CU_STREAM_DEFAULT;
  *stream = new CUstream_st{context, context->CreateStream(follows_null_stream)};
  return CUDA_SUCCESS;
}

// Priorities order work that competes for one device; here each stream has its own thread.
C4_CUDA_API CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int) {
  return cuStreamCreate(stream, flags);
}

C4_CUDA_API CUresult cuStreamDestroy_v2(CUstream stream) {
  if (stream == nullptr || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  stream->context->DestroyStream(stream->stream);
  delete stream;
  return CUDA_SUCCESS;
}

C4_CUDA_API CUresult cuStreamSynchronize(CUstream handle) {
  CUcontext context;
  std::shared_ptr<Stream> stream;
  const CUresult result = c4::cuda_cpu::ResolveStream(handle, &context, &stream);
  if (result != CUDA_SUCCESS) return result;
  // The NULL stream includes what it must wait for, so an empty task flushes that too.
  if (stream == context->null_stream()) {
    stream->WaitFor(context->Enqueue(stream, [] {}));
  } else {
    stream->WaitFor(stream->LastTicket());
  }
  return CUDA_SUCCESS;
}

C4_CUDA_API CUresult cuStreamQuery(CUstream handle) {
  CUcontext context;
  std::shared_ptr<Stream> stream;
  const CUresult result = c4::cuda_cpu::ResolveStream(handle, &context, &stream);
  if (result != CUDA_SUCCESS) return result;
  return stream->Done(stream->LastTicket()) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

C4_CUDA_API CUresult cuStreamGetCtx(CUstream handle, CUcontext* out) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Stream> stream;
  return c4::cuda_cpu::ResolveStream(handle, out, &stream);
}

C4_CUDA_API CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* argument) {
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return c4::cuda_cpu::EnqueueOn(handle, [function, argument] { function(argument); });
}

C4_CUDA_API CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  return NotCapturing(handle, status);
}

C4_CUDA_API CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status,
                                            cuuint64_t*) {
  return NotCapturing(handle, status);
}

C4_CUDA_API CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus* status,
                                               cuuint64_t*, CUgraph*, const CUgraphNode**,
                                               size_t*) {
  return NotCapturing(handle, status);
}

// The third argument from the end is `const CUgraphEdgeData**` in the real header.
C4_CUDA_API CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus* status,
                                               cuuint64_t*, CUgraph*, const CUgraphNode**,
                                               const void**, size_t*) {
  return NotCapturing(handle, status);
}

C4_CUDA_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  if (mode == nullptr || *mode < CU_STREAM_CAPTURE_MODE_GLOBAL ||
      *mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::swap(*mode, capture_mode);
  return CUDA_SUCCESS;
}
