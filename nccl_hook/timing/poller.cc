#include "nccl_hook/timing/poller.h"

namespace c4::hook {
namespace {

constexpr double kNsPerMs = 1e6;

IntervalEnd EndOf(const Interval& interval) {
  // Acquire; pairs with Contexts::Settle: the application thread is done with the interval's slots.
  return static_cast<IntervalEnd>(interval.end.load(std::memory_order_acquire));
}

std::int64_t Later(std::int64_t a, std::int64_t b) { return a > b ? a : b; }

}  // namespace

Poller::Pass Poller::Step() {
  Pass pass;
  previous_pass_ns_ = pass_ns_;
  pass_ns_ = now_();
  RefreshAnchors();
  Accept(&pass);
  AbandonAborted();
  for (std::uint32_t i = 0; i < queues_.count();) {
    const StreamQueues::Queue& queue = queues_.queue(i);
    if (contexts_->context(queue.context).is_broken.load(std::memory_order_relaxed) != 0) {
      ++i;
      continue;
    }
    Interval& head = contexts_->interval(queue.head);
    const Progress progress = Advance(&head);
    pass.has_moved |= progress != Progress::kWaiting;
    if (progress != Progress::kFinished) {
      pass.is_busy = true;
      ++i;
      continue;
    }
    const std::uint32_t finished = queue.head;
    queues_.Pop(contexts_, i);  // either way, queue i is the next to look at
    contexts_->Give(finished);
  }
  // Relaxed: a sign of life, nothing hangs on it.
  header_->heartbeat_ns.store(pass_ns_, std::memory_order_relaxed);
  return pass;
}

void Poller::RefreshAnchors() {
  if (contexts_->mode() != abi::TimingMode::kEvents) {
    return;
  }
  for (std::uint32_t i = 0; i < contexts_->count(); ++i) {
    TimingContext& context = contexts_->context(i);
    if (context.is_broken.load(std::memory_order_relaxed) == 0 &&
        !anchors_[i].Refresh(contexts_->driver(), &context, now_)) {
      Break(i);
    }
  }
}

void Poller::Accept(Pass* pass) {
  // The list is newest first; turn it round to keep every stream's order.
  std::uint32_t oldest = kNoInterval;
  for (std::uint32_t id = contexts_->TakeSubmitted(); id != kNoInterval;) {
    Interval& interval = contexts_->interval(id);
    const std::uint32_t next = interval.next.load(std::memory_order_relaxed);
    interval.next.store(oldest, std::memory_order_relaxed);
    oldest = id;
    id = next;
  }
  while (oldest != kNoInterval) {
    const std::uint32_t next = contexts_->interval(oldest).next.load(std::memory_order_relaxed);
    if (!queues_.Append(contexts_, oldest)) {
      // Left held and without times: the ring goes on without these slots.
      header_->operations_untimed.fetch_add(1, std::memory_order_relaxed);
    }
    pass->has_moved = true;
    oldest = next;
  }
}

void Poller::AbandonAborted() {
  // Acquire; pairs with CommunicatorTable::SetState: is_aborted is set.
  const std::uint32_t epoch = communicators_->abort_epoch().load(std::memory_order_acquire);
  if (epoch == seen_abort_epoch_) {
    return;
  }
  seen_abort_epoch_ = epoch;
  for (std::uint32_t slot = 0; slot < ring_->capacity(); ++slot) {
    abi::OperationRecord& record = ring_->record(slot);
    // Acquire; pairs with OperationRing::Publish: the fields belong to the operation in flight.
    if (record.in_flight.load(std::memory_order_acquire) == 0 ||
        record.ticket.load(std::memory_order_acquire) == 0) {
      continue;
    }
    const std::uint32_t communicator = record.communicator;
    if (communicator < communicators_->count() &&
        communicators_->side(communicator).is_aborted.load(std::memory_order_relaxed) != 0 &&
        communicators_->record(communicator).generation.load(std::memory_order_relaxed) ==
            record.communicator_generation) {
      record.flags.fetch_or(abi::kOperationAbandoned, std::memory_order_relaxed);
      ring_->End(slot);
    }
  }
}

// True when the GPU has reached the event. `is_lost`: it never will, or not so that we could tell.
bool Poller::IsReached(Interval* interval, cuda::Event event, bool* is_lost) {
  const cuda::Status status = contexts_->driver().event_query(event);
  if (status == cuda::kCapturedEvent) {
    *is_lost = true;
  } else if (status != cuda::kSuccess && status != cuda::kNotReady) {
    Break(interval->context);
  }
  return status == cuda::kSuccess;
}

Poller::Progress Poller::Advance(Interval* interval) {
  const IntervalEnd end = EndOf(*interval);
  if (end == IntervalEnd::kNone) {
    Finish(interval, 0);
    return Progress::kFinished;
  }
  const bool is_timed = contexts_->mode() == abi::TimingMode::kEvents;
  const TimingContext& context = contexts_->context(interval->context);
  bool is_lost = false;
  bool is_new = false;
  if (interval->start_ns == 0) {
    if (!IsReached(interval, interval->start_event, &is_lost)) {
      if (is_lost && end == IntervalEnd::kRecorded) {
        Finish(interval, 0);
        return Progress::kFinished;
      }
      return Progress::kWaiting;
    }
    const std::int64_t seen_ns = now_();
    const std::int64_t start_ns =
        is_timed ? anchors_[interval->context].Convert(contexts_->driver(), context,
                                                       interval->start_event, seen_ns)
                 : seen_ns;
    interval->start_ns = Later(start_ns, interval->not_before_ns);
    is_new = true;
  }
  if (end == IntervalEnd::kRecorded && IsReached(interval, interval->end_event, &is_lost)) {
    std::int64_t end_ns = now_();
    float elapsed_ms = 0;
    if (!is_timed && is_new) {
      // Both within one poll: it began after the last look at the stream, we cannot say when.
      interval->start_ns = Later(previous_pass_ns_, interval->not_before_ns);
    } else if (is_timed &&
               contexts_->driver().event_elapsed_time(&elapsed_ms, interval->start_event,
                                                      interval->end_event) == cuda::kSuccess) {
      // From the start's own event: durations are exact across a renewal of the base.
      end_ns = interval->start_ns +
               static_cast<std::int64_t>(static_cast<double>(elapsed_ms) * kNsPerMs);
    }
    PublishStart(*interval);
    Finish(interval, Later(end_ns, interval->start_ns));
    return Progress::kFinished;
  }
  if (is_lost) {
    Finish(interval, 0);
    return Progress::kFinished;
  }
  if (is_new) {
    PublishStart(*interval);
  }
  return is_new ? Progress::kStarted : Progress::kWaiting;
}

void Poller::PublishStart(const Interval& interval) {
  for (std::uint32_t slot = interval.slots; slot != kNoSlot; slot = ring_->side(slot).next) {
    abi::OperationRecord& record = ring_->record(slot);
    if ((record.flags.load(std::memory_order_relaxed) & abi::kOperationAbandoned) == 0) {
      // Relaxed: End's release orders it for whoever sees the end; a reader of an operation in
      // flight takes it as it comes.
      record.start_ns.store(interval.start_ns, std::memory_order_relaxed);
    }
  }
}

// `end_ns` 0: the end will never be known.
void Poller::Finish(Interval* interval, std::int64_t end_ns) {
  for (std::uint32_t slot = interval->slots; slot != kNoSlot;) {
    const std::uint32_t next = ring_->side(slot).next;
    abi::OperationRecord& record = ring_->record(slot);
    if ((record.flags.load(std::memory_order_relaxed) & abi::kOperationAbandoned) == 0) {
      record.end_ns.store(end_ns, std::memory_order_relaxed);  // ordered by End
      ring_->End(slot);
    }
    ring_->Release(slot);
    slot = next;
  }
}

// CUDA has refused for good: a dead context, a fault on the GPU, or the process exits. What is in
// flight stays so in the file, which is the truth; nothing more is timed there.
void Poller::Break(std::uint32_t context) {
  contexts_->context(context).is_broken.store(1, std::memory_order_relaxed);
  header_->disarm_reason.store(static_cast<std::uint32_t>(abi::DisarmReason::kCudaError),
                               std::memory_order_relaxed);
}

}  // namespace c4::hook
