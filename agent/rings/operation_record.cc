#include "agent/rings/operation_record.h"

#include <type_traits>

#include "agent/limits.h"
#include "agent/rings/bytes.h"

namespace c4::agent {
namespace {

static_assert(std::is_standard_layout_v<abi::OperationRecord>);
#define C4_SLOT_FIELD(type, name) FieldAt<type>(slot, offsetof(abi::OperationRecord, name))

bool HasPossibleTimes(const OperationInfo& operation, std::int64_t now_ns) {
  const std::int64_t latest_ns = now_ns + kTimeSlackNs;
  if (operation.enqueue_ns <= 0 || operation.enqueue_ns > latest_ns) {
    return false;
  }
  // The GPU's clock is mapped to the host's, so start and end may seem to precede their cause.
  const std::int64_t earliest_ns = operation.enqueue_ns - kTimeSlackNs;
  for (const std::int64_t time_ns : {operation.return_ns, operation.start_ns, operation.end_ns}) {
    if (time_ns != 0 && (time_ns < earliest_ns || time_ns < 0 || time_ns > latest_ns)) {
      return false;
    }
  }
  return operation.start_ns == 0 || operation.end_ns == 0 ||
         operation.end_ns >= operation.start_ns - kTimeSlackNs;
}

}  // namespace

std::uint64_t SlotTicket(const std::byte* slot) { return C4_SLOT_FIELD(std::uint64_t, ticket); }

bool SlotIsInFlight(const std::byte* slot) { return C4_SLOT_FIELD(std::uint32_t, in_flight) != 0; }

std::optional<OperationInfo> ParseOperation(const std::byte* slot, std::int64_t now_ns) {
  OperationInfo operation;
  operation.position = SlotTicket(slot) - 1;
  operation.communicator_index = C4_SLOT_FIELD(std::uint32_t, communicator);
  operation.communicator_generation = C4_SLOT_FIELD(std::uint32_t, communicator_generation);
  operation.sequence = C4_SLOT_FIELD(std::uint64_t, sequence);
  operation.count = C4_SLOT_FIELD(std::uint64_t, count);
  operation.stream = C4_SLOT_FIELD(std::uint64_t, stream);
  operation.enqueue_ns = C4_SLOT_FIELD(std::int64_t, enqueue_ns);
  operation.return_ns = C4_SLOT_FIELD(std::int64_t, return_ns);
  operation.start_ns = C4_SLOT_FIELD(std::int64_t, start_ns);
  operation.end_ns = C4_SLOT_FIELD(std::int64_t, end_ns);
  operation.root = C4_SLOT_FIELD(std::int32_t, root);
  operation.peer = C4_SLOT_FIELD(std::int32_t, peer);
  operation.result = C4_SLOT_FIELD(std::int32_t, result);
  operation.group = C4_SLOT_FIELD(std::uint32_t, group);
  const auto kind = C4_SLOT_FIELD(std::uint8_t, kind);
  operation.kind = static_cast<abi::OperationKind>(kind);
  operation.datatype = C4_SLOT_FIELD(std::uint8_t, datatype);
  operation.flags = C4_SLOT_FIELD(std::uint8_t, flags);
  if (kind >= abi::kOperationKindCount || operation.root < -1 || operation.peer < -1 ||
      !HasPossibleTimes(operation, now_ns)) {
    return std::nullopt;
  }
  return operation;
}

#undef C4_SLOT_FIELD

}  // namespace c4::agent
