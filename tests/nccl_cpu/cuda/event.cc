// Events and the entry points that handle them; the contract is in event.h.
#include "tests/nccl_cpu/cuda/event.h"

#include "tests/nccl_cpu/cuda/context.h"

using c4::cuda_cpu::Event;
using c4::cuda_cpu::Stream;

struct CUevent_st {
  CUcontext context;
  std::shared_ptr<Event> event;
};

namespace c4::cuda_cpu {

uint64_t Event::MarkRecorded() {
  std::lock_guard lock(mutex_);
  return ++recorded_;
}

void Event::Complete(uint64_t version) {
  std::lock_guard lock(mutex_);
  if (version < completed_) return;  // two streams raced; the younger record stands
  completed_ = version;
  time_ns_ = NowNs();
  completion_.notify_all();
}

uint64_t Event::LastRecorded() const {
  std::lock_guard lock(mutex_);
  return recorded_;
}

void Event::WaitFor(uint64_t version) const {
  std::unique_lock lock(mutex_);
  completion_.wait(lock, [&] { return completed_ >= version; });
}

bool Event::Done() const {
  std::lock_guard lock(mutex_);
  return completed_ >= recorded_;
}

CUresult Event::Time(int64_t* time_ns) const {
  std::lock_guard lock(mutex_);
  if (!timing_ || recorded_ == 0) return CUDA_ERROR_INVALID_HANDLE;
  if (completed_ < recorded_) return CUDA_ERROR_NOT_READY;
  *time_ns = time_ns_;
  return CUDA_SUCCESS;
}

CUresult Event::Elapsed(const Event& start, const Event& end, float* milliseconds) {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  const CUresult first = start.Time(&start_ns);
  const CUresult second = end.Time(&end_ns);
  // A handle that can never have a time outweighs one that has none yet.
  if (first == CUDA_ERROR_INVALID_HANDLE || second == CUDA_ERROR_INVALID_HANDLE) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (first != CUDA_SUCCESS || second != CUDA_SUCCESS) return CUDA_ERROR_NOT_READY;
  *milliseconds = static_cast<float>(static_cast<double>(end_ns - start_ns) / 1e6);
  return CUDA_SUCCESS;
}

}  // namespace c4::cuda_cpu

C4_CUDA_API CUresult cuEventCreate(CUevent* event, unsigned int flags) {
  CUcontext context;
  const CUresult result = c4::cuda_cpu::RequireContext(&context);
  if (result != CUDA_SUCCESS) return result;
  if (event == nullptr || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  const bool timing = (flags & CU_EVENT_DISABLE_TIMING) == 0;
  if ((flags & CU_EVENT_INTERPROCESS) != 0 && timing) return CUDA_ERROR_INVALID_VALUE;
  *event = new CUevent_st{context, std::make_shared<Event>(timing)};
  return CUDA_SUCCESS;
}

C4_CUDA_API CUresult cuEventDestroy_v2(CUevent event) {
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  delete event;
  return CUDA_SUCCESS;
}

C4_CUDA_API CUresult cuEventRecord(CUevent event, CUstream handle) {
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  CUcontext context;
  std::shared_ptr<Stream> stream;
  const CUresult result = c4::cuda_cpu::ResolveStream(handle, &context, &stream);
  if (result != CUDA_SUCCESS) return result;
  if (context != event->context) return CUDA_ERROR_INVALID_HANDLE;
  const uint64_t version = event->event->MarkRecorded();
  context->Enqueue(stream, [event = event->event, version] { event->Complete(version); });
  return CUDA_SUCCESS;
}

C4_CUDA_API CUresult cuEventRecordWithFlags(CUevent event, CUstream handle, unsigned int flags) {
  // CU_EVENT_RECORD_EXTERNAL is legal inside a capture only, and nothing captures here.
  if (flags != CU_EVENT_RECORD_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
  return cuEventRecord(event, handle);
}

C4_CUDA_API CUresult cuEventQuery(CUevent event) {
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return event->event->Done() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

C4_CUDA_API CUresult cuEventSynchronize(CUevent event) {
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  event->event->WaitFor(event->event->LastRecorded());
  return CUDA_SUCCESS;
}

C4_CUDA_API CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (start == nullptr || end == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (start->context->device() != end->context->device()) return CUDA_ERROR_INVALID_HANDLE;
  return Event::Elapsed(*start->event, *end->event, milliseconds);
}

C4_CUDA_API CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime(milliseconds, start, end);
}

C4_CUDA_API CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned int) {
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const uint64_t version = event->event->LastRecorded();
  if (event->event->Done()) {  // nothing to wait for; still an error on a bad stream
    CUcontext context;
    std::shared_ptr<Stream> stream;
    return c4::cuda_cpu::ResolveStream(handle, &context, &stream);
  }
  return c4::cuda_cpu::EnqueueOn(handle,
                                 [event = event->event, version] { event->WaitFor(version); });
}
