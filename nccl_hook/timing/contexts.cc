#include "nccl_hook/timing/contexts.h"

#include <sys/mman.h>

#include "common/abi/enums.h"
#include "nccl_hook/scoped_lock.h"

namespace c4::hook {

bool Contexts::Create(cuda::Context current, std::uint32_t index) {
  TimingContext& context = contexts_[index];
  void* memory = mmap(nullptr, kIntervalsPerContext * sizeof(Interval), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return false;
  }
  context.context = current;
  context.intervals = static_cast<Interval*>(memory);
  context.pool.Attach(context.intervals);
  const RelaxedCapture relaxed(*driver_);
  const bool is_timed = mode() == abi::TimingMode::kEvents;
  if (is_timed) {
    if (driver_->stream_create(&context.anchor_stream, cuda::kStreamNonBlocking) !=
        cuda::kSuccess) {
      return false;
    }
    for (cuda::Event& event : context.anchor_events) {
      if (driver_->event_create(&event, cuda::kEventDefault) != cuda::kSuccess) {
        return false;
      }
    }
  }
  const unsigned int flags = is_timed ? cuda::kEventDefault : cuda::kEventDisableTiming;
  // Backwards, so that the pool lends them out in the order of memory.
  for (std::uint32_t i = kIntervalsPerContext; i-- > 0;) {
    Interval& interval = context.intervals[i];
    if (driver_->event_create(&interval.start_event, flags) != cuda::kSuccess ||
        driver_->event_create(&interval.end_event, flags) != cuda::kSuccess) {
      return false;
    }
    interval.context = index;
    context.pool.Give(i);
  }
  return true;
}

std::uint32_t Contexts::PrepareCurrent() {
  if (mode() == abi::TimingMode::kHost) {
    return kNoContext;
  }
  cuda::Context current = nullptr;
  if (driver_->context_get_current(&current) != cuda::kSuccess || current == nullptr) {
    return kNoContext;
  }
  const ScopedLock lock(&mutex_);
  const std::uint32_t used = count_.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < used; ++i) {
    if (contexts_[i].context == current) {
      return contexts_[i].is_broken.load(std::memory_order_relaxed) != 0 ? kNoContext : i;
    }
  }
  if (used == kContextsMax) {
    return kNoContext;
  }
  if (!Create(current, used)) {
    contexts_[used].is_broken.store(1, std::memory_order_relaxed);
  }
  count_.store(used + 1, std::memory_order_release);  // pairs with count()
  return contexts_[used].is_broken.load(std::memory_order_relaxed) != 0 ? kNoContext : used;
}

std::uint32_t Contexts::Start(std::uint32_t context_index, cuda::Stream stream, std::uint32_t slots,
                              std::int64_t not_before_ns, std::uint8_t* flags) {
  if (context_index == kNoContext ||
      contexts_[context_index].is_broken.load(std::memory_order_relaxed) != 0) {
    *flags |= abi::kOperationUntimed;
    return kNoInterval;
  }
  TimingContext& context = contexts_[context_index];
  int capture_status = cuda::kCaptureStatusNone;
  if (driver_->stream_is_capturing(stream, &capture_status) != cuda::kSuccess) {
    // The legacy stream while another stream captures, or a dead context: an event would make
    // either worse.
    *flags |= abi::kOperationUntimed;
    return kNoInterval;
  }
  if (capture_status != cuda::kCaptureStatusNone) {
    *flags |= abi::kOperationCaptured;
    return kNoInterval;
  }
  const std::uint32_t local = context.pool.Take();
  if (local == kNoInterval) {
    *flags |= abi::kOperationUntimed;
    return kNoInterval;
  }
  Interval& interval = context.intervals[local];
  interval.stream = stream;
  interval.slots = slots;
  interval.not_before_ns = not_before_ns;
  interval.start_ns = 0;
  interval.end.store(static_cast<std::uint32_t>(IntervalEnd::kUnknown), std::memory_order_relaxed);
  if (driver_->event_record(interval.start_event, stream) != cuda::kSuccess) {
    context.pool.Give(local);
    *flags |= abi::kOperationUntimed;
    return kNoInterval;
  }
  const std::uint32_t id = context_index * kIntervalsPerContext + local;
  std::uint32_t head = submitted_.load(std::memory_order_relaxed);
  do {
    interval.next.store(head, std::memory_order_relaxed);
    // Release; pairs with the acquire in TakeSubmitted.
  } while (!submitted_.compare_exchange_weak(head, id, std::memory_order_release,
                                             std::memory_order_relaxed));
  return id;
}

bool Contexts::End(std::uint32_t id) {
  Interval& ended = interval(id);
  if (driver_->event_record(ended.end_event, ended.stream) != cuda::kSuccess) {
    Settle(id, IntervalEnd::kNone);
    return false;
  }
  Settle(id, IntervalEnd::kRecorded);
  return true;
}

}  // namespace c4::hook
