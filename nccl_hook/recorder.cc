#include "nccl_hook/recorder.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "nccl_hook/clock.h"
#include "nccl_hook/group.h"

namespace c4::hook {
namespace {

std::uint32_t ThreadId() {
  if (__builtin_expect(t_state.thread_id == 0, 0)) {
    t_state.thread_id = static_cast<std::uint32_t>(syscall(SYS_gettid));
  }
  return t_state.thread_id;
}

void Fill(const Operation& operation, std::uint32_t communicator, std::uint64_t sequence,
          std::int64_t now_ns, std::uint8_t flags, abi::OperationRecord* record) {
  record->communicator = communicator;
  record->communicator_generation =
      g_hook.communicators.record(communicator).generation.load(std::memory_order_relaxed);
  record->group = CurrentGroup();
  record->sequence = sequence;
  record->count = operation.count;
  record->stream = reinterpret_cast<std::uintptr_t>(operation.stream);
  // All relaxed: the ticket's release publishes them.
  record->enqueue_ns.store(now_ns, std::memory_order_relaxed);
  record->return_ns.store(0, std::memory_order_relaxed);
  record->start_ns.store(0, std::memory_order_relaxed);
  record->end_ns.store(0, std::memory_order_relaxed);
  record->root = operation.root;
  record->peer = operation.peer;
  record->reduction = operation.reduction;
  record->result.store(-1, std::memory_order_relaxed);
  record->thread = ThreadId();
  record->kind = static_cast<std::uint8_t>(operation.kind);
  record->datatype = static_cast<std::uint8_t>(operation.datatype);
  record->flags.store(flags, std::memory_order_relaxed);
}

}  // namespace

// Nothing is missed where nothing was to be timed.
void CountUntimed() {
  if (g_hook.contexts.mode() != abi::TimingMode::kHost) {
    g_hook.file.header->operations_untimed.fetch_add(1, std::memory_order_relaxed);
  }
}

void CountFlags(std::uint32_t slot, std::uint8_t flags) {
  g_hook.ring.record(slot).flags.fetch_or(flags, std::memory_order_relaxed);
  if ((flags & abi::kOperationCaptured) != 0) {
    g_hook.file.header->operations_captured.fetch_add(1, std::memory_order_relaxed);
  } else {
    CountUntimed();
  }
}

void SettleUntimed(std::uint32_t slot) {
  g_hook.ring.End(slot);
  g_hook.ring.Release(slot);
}

void SetResult(std::uint32_t slot, Result result, std::int64_t now_ns) {
  // Relaxed: published by the end of the slot, or by Contexts::Settle.
  abi::OperationRecord& record = g_hook.ring.record(slot);
  record.return_ns.store(now_ns, std::memory_order_relaxed);
  record.result.store(result, std::memory_order_relaxed);
}

void MarkFailed(std::uint32_t slot) {
  abi::OperationRecord& record = g_hook.ring.record(slot);
  record.flags.fetch_or(abi::kOperationFailed, std::memory_order_relaxed);
  std::atomic<std::uint64_t>* counter = g_hook.communicators.Counter(
      record.communicator, static_cast<abi::OperationKind>(record.kind), record.peer);
  if (counter != nullptr) {
    std::uint64_t next = record.sequence + 1;
    // Fails, and burns the number, when another operation has taken the next one.
    counter->compare_exchange_strong(next, record.sequence, std::memory_order_relaxed);
  }
  g_hook.ring.End(slot);
}

bool IsRefused(Result result) { return result != kSuccess && result != kInProgress; }

// Called by the owner of the interval, whose end is still unknown: the link is its own.
void Defer(std::uint32_t communicator, std::uint32_t interval) {
  std::atomic<std::uint32_t>& deferred = g_hook.communicators.side(communicator).deferred;
  std::uint32_t head = deferred.load(std::memory_order_relaxed);
  do {
    g_hook.contexts.interval(interval).deferred_next = head;
    // Release; pairs with the exchange in SettleDeferred.
  } while (!deferred.compare_exchange_weak(head, interval, std::memory_order_release,
                                           std::memory_order_relaxed));
}

void BeginOperation(const Operation& operation, Recording* recording) {
  const std::uint32_t communicator = g_hook.communicators.Find(operation.communicator);
  if (__builtin_expect(communicator == kNoCommunicator, 0)) {
    g_hook.file.header->operations_unknown_communicator.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const std::int64_t now_ns = NowNs();
  std::atomic<std::uint64_t>* counter =
      g_hook.communicators.Counter(communicator, operation.kind, operation.peer);
  std::uint64_t sequence = 0;
  if (counter != nullptr) {
    // A load and a store instead of one atomic step, which would cost as much as all stores to the
    // slot: NCCL itself requires that one communicator's calls are ordered among threads.
    sequence = counter->load(std::memory_order_relaxed);
    counter->store(sequence + 1, std::memory_order_relaxed);
  }
  const OperationRing::Claim claim = g_hook.ring.TryClaim();
  if (__builtin_expect(claim.slot == kNoSlot, 0)) {
    return;
  }
  const std::uint32_t context =
      g_hook.communicators.side(communicator).context.load(std::memory_order_relaxed);
  std::uint8_t flags = context == kNoContext ? abi::kOperationUntimed : 0;
  Fill(operation, communicator, sequence, now_ns, flags, &g_hook.ring.record(claim.slot));
  g_hook.ring.side(claim.slot).next = kNoSlot;
  g_hook.ring.Publish(claim);
  recording->slot = claim.slot;
  recording->communicator = communicator;
  if (t_state.group_depth != 0) {
    recording->is_grouped = true;
    AddToGroup(claim.slot, operation.stream, context, communicator);
    return;
  }
  if (context == kNoContext) {
    CountUntimed();
    return;
  }
  recording->interval =
      g_hook.contexts.Start(context, operation.stream, claim.slot, now_ns, &flags);
  if (__builtin_expect(flags != 0, 0)) {
    CountFlags(claim.slot, flags);
  }
}

void EndOperation(const Recording& recording, Result result) {
  if (recording.slot == kNoSlot) {
    return;
  }
  if (recording.is_grouped) {
    // The group's end says how it went, unless NCCL refused the operation at once.
    if (IsRefused(result)) {
      g_hook.ring.record(recording.slot).result.store(result, std::memory_order_relaxed);
    }
    return;
  }
  SetResult(recording.slot, result, NowNs());
  if (__builtin_expect(IsRefused(result), 0)) {
    MarkFailed(recording.slot);
  }
  if (recording.interval == kNoInterval) {
    SettleUntimed(recording.slot);
  } else {
    SettleInterval(recording.interval, recording.communicator, result);
  }
}

void SettleInterval(std::uint32_t interval, std::uint32_t communicator, Result result) {
  if (__builtin_expect(result == kSuccess, 1)) {
    if (!g_hook.contexts.End(interval)) {
      CountUntimed();
    }
  } else if (result == kInProgress) {
    Defer(communicator, interval);
  } else {
    g_hook.contexts.Cancel(interval);
  }
}

void SettleDeferred(std::uint32_t communicator, bool is_lost) {
  std::atomic<std::uint32_t>& deferred = g_hook.communicators.side(communicator).deferred;
  if (deferred.load(std::memory_order_relaxed) == kNoInterval) {
    return;
  }
  // Acquire; pairs with Defer. Whoever takes the chain has all of it.
  std::uint32_t interval = deferred.exchange(kNoInterval, std::memory_order_acquire);
  while (interval != kNoInterval) {
    const std::uint32_t next = g_hook.contexts.interval(interval).deferred_next;
    SettleInterval(interval, communicator, is_lost ? kInvalidUsage : kSuccess);
    interval = next;
  }
}

}  // namespace c4::hook
