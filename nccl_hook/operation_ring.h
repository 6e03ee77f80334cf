// The writer's side of the operation ring (common/abi/layout.h has the protocol). Any application
// thread claims and publishes; whoever finishes an operation ends and releases its slot.
//
// Beside every shared slot the hook keeps a private word: `held` says that somebody in this process
// may still write to the slot. The public in_flight can be cleared earlier (an aborted
// communicator), so claiming looks at `held` only, and nothing that another process writes into the
// file can make the hook misbehave.
//
//   free ──TryClaim──> held ──Publish──> held + in flight ──End──> held ──Release──> free
#pragma once

#include <atomic>
#include <cstdint>

#include "common/abi/layout.h"
#include "nccl_hook/thread_state.h"

namespace c4::hook {

struct SlotSide {
  std::atomic<std::uint32_t> held;
  // Chains the operations of one interval or group. Written by the thread that owns the operation
  // before it hands the chain to the poller.
  std::uint32_t next;
};

class OperationRing {
 public:
  struct Claim {
    std::uint64_t position;
    std::uint32_t slot;  // kNoSlot: the slot is still held, the operation is not recorded
  };

  // `capacity` is a power of two; all three outlive the ring.
  void Attach(abi::Header* header, abi::OperationRecord* slots, SlotSide* sides,
              std::uint32_t capacity) {
    header_ = header;
    slots_ = slots;
    sides_ = sides;
    mask_ = capacity - 1;
  }

  Claim TryClaim() {
    // Relaxed: the slot's own ticket orders what the reader sees; the head only hands out numbers.
    const std::uint64_t position = header_->operation_head.fetch_add(1, std::memory_order_relaxed);
    const auto slot = static_cast<std::uint32_t>(position) & mask_;
    std::uint32_t expected = 0;
    // Acquire; pairs with the release in Release: the previous owner's writes are over.
    if (!sides_[slot].held.compare_exchange_strong(expected, 1, std::memory_order_acquire,
                                                   std::memory_order_relaxed)) {
      header_->operations_dropped.fetch_add(1, std::memory_order_relaxed);
      return {position, kNoSlot};
    }
    if (slots_[slot].ticket.load(std::memory_order_relaxed) > position) {
      // A full lap overtook this thread between the two lines above: never go back in time.
      Release(slot);
      header_->operations_dropped.fetch_add(1, std::memory_order_relaxed);
      return {position, kNoSlot};
    }
    Withdraw(&slots_[slot]);
    return {position, slot};
  }

  // The fields are written; from here on the reader sees the operation, in flight.
  void Publish(const Claim& claim) {
    abi::OperationRecord& record = slots_[claim.slot];
    // Release; pairs with the poller's scan for aborted communicators.
    record.in_flight.store(1, std::memory_order_release);
    // Release; pairs with the reader's copy of the slot.
    record.ticket.store(claim.position + 1, std::memory_order_release);
    // The next slot is cold: 16,384 operations ago. Fetch its two lines while NCCL works.
    const auto* next = reinterpret_cast<const char*>(&slots_[(claim.slot + 1) & mask_]);
    __builtin_prefetch(next, 1, 3);
    __builtin_prefetch(next + sizeof(abi::OperationRecord) / 2, 1, 3);
  }

  // The end is known, or will never be.
  void End(std::uint32_t slot) {
    // Release; pairs with the reader: who sees 0 sees the times.
    slots_[slot].in_flight.store(0, std::memory_order_release);
  }
  void Release(std::uint32_t slot) {
    sides_[slot].held.store(0, std::memory_order_release);  // pairs with TryClaim
  }

  abi::OperationRecord& record(std::uint32_t slot) { return slots_[slot]; }
  SlotSide& side(std::uint32_t slot) { return sides_[slot]; }
  std::uint32_t capacity() const { return mask_ + 1; }

 private:
  // Ticket 0, before any store to the fields: a reader takes two equal copies with the right ticket
  // as one consistent slot.
  static void Withdraw(abi::OperationRecord* record) {
#if defined(__SANITIZE_THREAD__)  // which does not understand fences
    record->ticket.exchange(0, std::memory_order_acq_rel);
#else
    record->ticket.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);  // pairs with the reader's second copy
#endif
  }

  abi::Header* header_ = nullptr;
  abi::OperationRecord* slots_ = nullptr;
  SlotSide* sides_ = nullptr;
  std::uint32_t mask_ = 0;
};

}  // namespace c4::hook
