// Intervals in flight, in the order of their streams. A stream is a queue: an interval's events
// cannot come before those of the one ahead of it, so only the head of every queue needs to be
// asked, however many operations the host has run ahead. Poller thread only.
#pragma once

#include <cstdint>

#include "nccl_hook/timing/contexts.h"

namespace c4::hook {

class StreamQueues {
 public:
  struct Queue {
    cuda::Stream stream;
    std::uint32_t context;
    std::uint32_t head;
    std::uint32_t tail;
  };
  // Streams with NCCL work in flight at one moment: PyTorch has one per process group.
  static constexpr std::uint32_t kQueuesMax = 256;

  // False when there is no room for one more stream.
  bool Append(Contexts* contexts, std::uint32_t id) {
    Interval& added = contexts->interval(id);
    added.next.store(kNoInterval, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < count_; ++i) {
      Queue& queue = queues_[i];
      if (queue.stream == added.stream && queue.context == added.context) {
        contexts->interval(queue.tail).next.store(id, std::memory_order_relaxed);
        queue.tail = id;
        return true;
      }
    }
    if (count_ == kQueuesMax) {
      return false;
    }
    queues_[count_++] = {added.stream, added.context, id, id};
    return true;
  }

  // Takes the head off queue `i`. False: the queue was emptied and its place taken by another.
  bool Pop(Contexts* contexts, std::uint32_t i) {
    Queue& queue = queues_[i];
    queue.head = contexts->interval(queue.head).next.load(std::memory_order_relaxed);
    if (queue.head != kNoInterval) {
      return true;
    }
    queue = queues_[--count_];
    return false;
  }

  std::uint32_t count() const { return count_; }
  const Queue& queue(std::uint32_t i) const { return queues_[i]; }

 private:
  std::uint32_t count_ = 0;
  Queue queues_[kQueuesMax] = {};
};

}  // namespace c4::hook
