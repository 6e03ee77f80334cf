// A pair of CUDA events round one operation or group, and the pools that lend them out.
//
// An interval is handed from list to list and is in one of them at a time:
//
//   pool ──Take──> application thread ──Submit──> submissions ──TakeSubmitted──> poller ──Give──>
//   pool
//
// The application thread submits as soon as the start is recorded, before NCCL is called, so that a
// start is seen even if the call or the kernel never ends. `end` then says what became of the end:
//
//   kUnknown ──(event recorded)──> kRecorded       the poller waits for the event
//       └────(refused, failed)───> kNone           there will be none: give the interval back
//
// After that store the application thread does not touch the interval again.
#pragma once

#include <atomic>
#include <cstdint>

#include "nccl_hook/cuda_abi.h"
#include "nccl_hook/thread_state.h"

namespace c4::hook {

enum class IntervalEnd : std::uint32_t { kUnknown = 0, kRecorded = 1, kNone = 2 };

struct alignas(64) Interval {
  cuda::Event start_event;  // for the life of the process: destroying an event can block
  cuda::Event end_event;
  cuda::Stream stream;
  std::uint32_t context;
  std::uint32_t slots;              // the newest of a chain through SlotSide::next
  std::int64_t not_before_ns;       // the operations were enqueued: no start can be earlier
  std::atomic<std::uint32_t> end;   // IntervalEnd
  std::atomic<std::uint32_t> next;  // link in whichever list the interval is in
  std::uint32_t deferred_next;      // while `end` waits for a non-blocking communicator
  std::int64_t start_ns;            // poller only; 0: the GPU has not reached the start
};

static_assert(sizeof(Interval) == 64);  // one line to fetch, none shared

// Enough for the work that a host runs ahead of its GPU: the launch queue of a device holds about
// 1,024 kernels. Creating the events takes about 2 ms per context, once.
inline constexpr std::uint32_t kIntervalsPerContext = 1024;

// Lock-free stack of free intervals of one context. Any thread takes, the poller (and an
// application thread whose start could not be recorded) gives back. The upper half of the head
// counts changes, so that a thread that slept between reading and swapping notices (ABA).
class IntervalPool {
 public:
  void Attach(Interval* intervals) { intervals_ = intervals; }

  std::uint32_t Take() {
    std::uint64_t head = head_.load(std::memory_order_acquire);  // pairs with Give
    while (static_cast<std::uint32_t>(head) != 0) {
      const std::uint32_t index = static_cast<std::uint32_t>(head) - 1;
      const std::uint32_t next = intervals_[index].next.load(std::memory_order_relaxed);
      // Acquire; pairs with Give: the last user's writes are over.
      if (head_.compare_exchange_weak(head, Tagged(head, next), std::memory_order_acquire,
                                      std::memory_order_acquire)) {
        if (next != 0) {
          // The poller wrote to it last, on another core: fetch it while NCCL works.
          __builtin_prefetch(&intervals_[next - 1], 1, 3);
        }
        return index;
      }
    }
    return kNoInterval;
  }

  void Give(std::uint32_t index) {
    std::uint64_t head = head_.load(std::memory_order_relaxed);
    do {
      intervals_[index].next.store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
      // Release; pairs with Take.
    } while (!head_.compare_exchange_weak(head, Tagged(head, index + 1), std::memory_order_release,
                                          std::memory_order_relaxed));
  }

 private:
  static std::uint64_t Tagged(std::uint64_t head, std::uint32_t next) {
    return (((head >> 32) + 1) << 32) | next;
  }

  Interval* intervals_ = nullptr;
  alignas(64) std::atomic<std::uint64_t> head_{0};  // change count, index + 1; 0: empty
};

}  // namespace c4::hook
