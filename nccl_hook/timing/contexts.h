// The CUDA contexts in which this process has communicators, with their event pools, and the
// hand-over of intervals from application threads to the poller. Contexts are only ever added, at
// the end of a communicator's init, outside any capture; none is ever removed.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "common/abi/enums.h"
#include "nccl_hook/timing/driver.h"
#include "nccl_hook/timing/interval.h"

namespace c4::hook {

// One per GPU that a process drives; a process with more leaves the surplus untimed.
inline constexpr std::uint32_t kContextsMax = 16;

struct TimingContext {
  cuda::Context context;
  Interval* intervals;
  IntervalPool pool;
  // Set by whoever sees CUDA refuse in a way that will not go away. No more events from then on.
  std::atomic<std::uint32_t> is_broken;
  // The poller's: pairs of CPU time and GPU event (timing/anchor.h).
  cuda::Stream anchor_stream;
  cuda::Event anchor_events[3];
};

class Contexts {
 public:
  void Configure(const Driver* driver, abi::TimingMode mode) {
    driver_ = driver;
    mode_.store(mode, std::memory_order_relaxed);  // count_ publishes the driver
  }

  // Index of the calling thread's current context, with a pool made ready for it; kNoContext if
  // there is none or it cannot be timed. Allocates and creates events: communicator init only.
  std::uint32_t PrepareCurrent();

  // On the path of a collective, any thread: an interval whose start is recorded on `stream` and
  // which the poller already watches. kNoInterval: no event free, capture or refusal; `*flags` gets
  // the matching kOperation… bit.
  std::uint32_t Start(std::uint32_t context, cuda::Stream stream, std::uint32_t slots,
                      std::int64_t not_before_ns, std::uint8_t* flags);
  // Records the end and settles the interval. False: the end could not be recorded. The last
  // access of the application thread to the interval and its slots: write to them before.
  bool End(std::uint32_t interval);
  void Cancel(std::uint32_t interval) { Settle(interval, IntervalEnd::kNone); }

  // Poller: all intervals submitted since the last call, newest first, linked by `next`.
  std::uint32_t TakeSubmitted() {
    // Acquire; pairs with the release in Start: the intervals' fields are written.
    return submitted_.exchange(kNoInterval, std::memory_order_acquire);
  }
  void Give(std::uint32_t interval) {
    contexts_[interval / kIntervalsPerContext].pool.Give(interval % kIntervalsPerContext);
  }

  Interval& interval(std::uint32_t id) {
    return contexts_[id / kIntervalsPerContext].intervals[id % kIntervalsPerContext];
  }
  TimingContext& context(std::uint32_t index) { return contexts_[index]; }
  std::uint32_t count() const {
    return count_.load(std::memory_order_acquire);  // pairs with PrepareCurrent
  }
  const Driver& driver() const { return *driver_; }
  abi::TimingMode mode() const { return mode_.load(std::memory_order_relaxed); }

 private:
  bool Create(cuda::Context current, std::uint32_t index);
  void Settle(std::uint32_t id, IntervalEnd end) {
    // Release; pairs with the poller's load: what was written to the slots before is visible.
    interval(id).end.store(static_cast<std::uint32_t>(end), std::memory_order_release);
  }

  const Driver* driver_ = nullptr;
  std::atomic<abi::TimingMode> mode_{abi::TimingMode::kHost};
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;  // PrepareCurrent
  std::atomic<std::uint32_t> count_{0};
  alignas(64) std::atomic<std::uint32_t> submitted_{kNoInterval};
  TimingContext contexts_[kContextsMax] = {};
};

}  // namespace c4::hook
