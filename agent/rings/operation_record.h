// One slot of the operation ring, untrusted, to a checked value. Pure functions over a private copy
// of the slot's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "agent/rings/records.h"
#include "common/abi/operation_record.h"

namespace c4::agent {

inline constexpr std::size_t kSlotBytes = sizeof(abi::OperationRecord);

std::uint64_t SlotTicket(const std::byte* slot);
bool SlotIsInFlight(const std::byte* slot);

// Nothing when a value cannot be true (unknown kind, a time in the future or before its cause).
// `now_ns` bounds the times. The communicator is not resolved.
std::optional<OperationInfo> ParseOperation(const std::byte* slot, std::int64_t now_ns);

}  // namespace c4::agent
