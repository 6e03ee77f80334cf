#include "agent/rings/operation_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/status_macros.h"

namespace c4::agent {
namespace {

bool HasChanged(const OperationInfo& before, const OperationInfo& after) {
  return before.return_ns != after.return_ns || before.start_ns != after.start_ns ||
         before.end_ns != after.end_ns || before.result != after.result ||
         before.flags != after.flags;
}

}  // namespace

absl::Status OperationReader::Poll(const HookFile& file, std::uint64_t head, std::int64_t now_ns,
                                   std::vector<OperationInfo>* operations) {
  C4_RETURN_IF_ERROR(FollowInFlight(file, now_ns, operations));
  C4_RETURN_IF_ERROR(RetryPending(file, now_ns, operations));
  C4_RETURN_IF_ERROR(ReadNew(file, head, now_ns, operations));
  hold_ns_ = 0;
  for (const Pending& pending : pending_) {
    if (now_ns - pending.since_ns < kPendingHoldNs) {
      hold_ns_ = hold_ns_ == 0 ? pending.since_ns : std::min(hold_ns_, pending.since_ns);
    }
  }
  return absl::OkStatus();
}

void OperationReader::Rewind() {
  has_begun_ = false;
  replayed_until_ = std::max(replayed_until_, next_);
  in_flight_.clear();
  pending_.clear();
  hold_ns_ = 0;
}

absl::Status OperationReader::ReadSlots(const HookFile& file, std::uint64_t slot,
                                        std::size_t count) {
  const std::uint64_t offset = layout_.operation_offset + slot * kSlotBytes;
  const std::size_t bytes = count * kSlotBytes;
  // The two system calls order the copies: what the second shows is not older than the first.
  C4_RETURN_IF_ERROR(file.ReadAt(offset, {first_.data(), bytes}));
  return file.ReadAt(offset, {second_.data(), bytes});
}

// Two equal copies are one consistent slot: a writer sets the ticket to 0 before it touches the
// fields, and in_flight to 0 after the last of them.
bool OperationReader::IsStable(const HookFile& file, std::uint64_t slot, std::size_t index) {
  std::byte* const first = first_.data() + index * kSlotBytes;
  std::byte* const second = second_.data() + index * kSlotBytes;
  const std::uint64_t offset = layout_.operation_offset + slot * kSlotBytes;
  for (int attempt = 1; std::memcmp(first, second, kSlotBytes) != 0; ++attempt) {
    if (attempt == kSlotReadAttempts) {
      return false;
    }
    std::memcpy(first, second, kSlotBytes);
    if (!file.ReadAt(offset, {second, kSlotBytes}).ok()) {
      return false;
    }
  }
  return true;
}

absl::Status OperationReader::FollowInFlight(const HookFile& file, std::int64_t now_ns,
                                             std::vector<OperationInfo>* operations) {
  for (std::size_t begin = 0; begin < in_flight_.size();) {
    // Neighbours in the ring are read together.
    const std::uint64_t position = in_flight_[begin].position;
    const std::uint64_t slot = SlotOf(position);
    std::size_t count = 1;
    while (count < kSlotsPerRead && begin + count < in_flight_.size() &&
           in_flight_[begin + count].position == position + count &&
           slot + count < layout_.operation_capacity) {
      ++count;
    }
    C4_RETURN_IF_ERROR(ReadSlots(file, slot, count));
    for (std::size_t i = 0; i < count; ++i) {
      if (IsStable(file, slot + i, i)) {
        Follow(&in_flight_[begin + i], Slot(i), now_ns, operations);
      }
    }
    begin += count;
  }
  std::erase_if(in_flight_, [](const OperationInfo& operation) { return !operation.is_update; });
  return absl::OkStatus();
}

// Clears is_update of what need not be followed any more.
void OperationReader::Follow(OperationInfo* known, const std::byte* slot, std::int64_t now_ns,
                             std::vector<OperationInfo>* operations) {
  if (SlotTicket(slot) != known->position + 1) {
    // It ended and was overwritten between two passes. Nobody will ever say when: without this, it
    // would be in flight for ever.
    ++losses_.overwritten;
    known->flags |= abi::kOperationUntimed;
    operations->push_back(*known);
    known->is_update = false;
    return;
  }
  std::optional<OperationInfo> now = ParseOperation(slot, now_ns);
  if (!now) {
    ++losses_.bad_records;
    known->flags |= abi::kOperationUntimed;
    operations->push_back(*known);
    known->is_update = false;
    return;
  }
  const bool is_in_flight = SlotIsInFlight(slot);
  now->is_update = true;
  if (HasChanged(*known, *now) || !is_in_flight) {
    operations->push_back(*now);
  }
  *known = *now;
  known->is_update = is_in_flight;
}

absl::Status OperationReader::RetryPending(const HookFile& file, std::int64_t now_ns,
                                           std::vector<OperationInfo>* operations) {
  for (Pending& pending : pending_) {
    const std::uint64_t slot = SlotOf(pending.position);
    C4_RETURN_IF_ERROR(ReadSlots(file, slot, 1));
    const bool is_settled = IsStable(file, slot, 0) &&
                            Visit(pending.position, Slot(0), now_ns, operations) == Outcome::kDone;
    if (is_settled || now_ns - pending.since_ns >= kPendingGiveUpNs) {
      pending.since_ns = 0;
    }
  }
  std::erase_if(pending_, [](const Pending& pending) { return pending.since_ns == 0; });
  return absl::OkStatus();
}

absl::Status OperationReader::ReadNew(const HookFile& file, std::uint64_t head, std::int64_t now_ns,
                                      std::vector<OperationInfo>* operations) {
  const std::uint64_t capacity = layout_.operation_capacity;
  const std::uint64_t oldest = head > capacity ? head - capacity : 0;
  if (!has_begun_) {
    // What was overwritten before is no loss of this reader: it was not there yet, or gave it.
    has_begun_ = true;
    next_ = oldest;
  } else if (next_ < oldest) {
    CountLost(next_, oldest - next_);
    next_ = oldest;
  }
  while (next_ < head) {
    const std::uint64_t slot = SlotOf(next_);
    const auto count = static_cast<std::size_t>(
        std::min({std::uint64_t{kSlotsPerRead}, head - next_, capacity - slot}));
    C4_RETURN_IF_ERROR(ReadSlots(file, slot, count));
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t position = next_ + i;
      if (!IsStable(file, slot + i, i) ||
          Visit(position, Slot(i), now_ns, operations) == Outcome::kUnpublished) {
        AddPending(position, now_ns);
      }
    }
    next_ += count;
  }
  return absl::OkStatus();
}

OperationReader::Outcome OperationReader::Visit(std::uint64_t position, const std::byte* slot,
                                                std::int64_t now_ns,
                                                std::vector<OperationInfo>* operations) {
  const std::uint64_t ticket = SlotTicket(slot);
  if (ticket == position + 1) {
    Give(slot, now_ns, operations);
    return Outcome::kDone;
  }
  if (ticket == 0) {
    return Outcome::kUnpublished;
  }
  if (SlotOf(ticket - 1) != SlotOf(position)) {
    ++losses_.bad_records;  // no position has this ticket in this slot
    return Outcome::kDone;
  }
  if (ticket > position + 1) {
    CountLost(position, 1);
    return Outcome::kDone;
  }
  if (!SlotIsInFlight(slot)) {
    return Outcome::kUnpublished;
  }
  const auto found = std::lower_bound(
      in_flight_.begin(), in_flight_.end(), ticket - 1,
      [](const OperationInfo& known, std::uint64_t value) { return known.position < value; });
  if (found == in_flight_.end() || found->position != ticket - 1) {
    Give(slot, now_ns, operations);
  }
  return Outcome::kDone;
}

void OperationReader::Give(const std::byte* slot, std::int64_t now_ns,
                           std::vector<OperationInfo>* operations) {
  const std::optional<OperationInfo> operation = ParseOperation(slot, now_ns);
  if (!operation) {
    ++losses_.bad_records;
    return;
  }
  operations->push_back(*operation);
  if (SlotIsInFlight(slot)) {
    AddInFlight(*operation, operations);
  }
}

void OperationReader::AddInFlight(const OperationInfo& operation,
                                  std::vector<OperationInfo>* operations) {
  const auto place = std::upper_bound(
      in_flight_.begin(), in_flight_.end(), operation.position,
      [](std::uint64_t value, const OperationInfo& known) { return value < known.position; });
  in_flight_.insert(place, operation)->is_update = true;
  if (in_flight_.size() > kInFlightMax) {
    // The oldest are the ones that a verdict needs.
    operations->push_back(in_flight_.back());
    operations->back().flags |= abi::kOperationUntimed;
    in_flight_.pop_back();
  }
}

void OperationReader::AddPending(std::uint64_t position, std::int64_t now_ns) {
  if (pending_.size() == kPendingPositionsMax) {
    ++losses_.unpublished;
    return;
  }
  pending_.push_back({position, now_ns});
}

void OperationReader::CountLost(std::uint64_t position, std::uint64_t count) {
  // Before that, positions were given to an analyzer that has forgotten them.
  const std::uint64_t known =
      position < replayed_until_ ? std::min(count, replayed_until_ - position) : 0;
  losses_.overwritten += count - known;
}

}  // namespace c4::agent
