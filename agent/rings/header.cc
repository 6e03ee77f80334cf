#include "agent/rings/header.h"

#include <algorithm>

#include "absl/status/status.h"
#include "agent/rings/bytes.h"
#include "fmt/format.h"

namespace c4::agent {
namespace {

// offsetof is defined for abi::Header: it is a standard-layout type.
static_assert(std::is_standard_layout_v<abi::Header>);
#define C4_HEADER_FIELD(type, name) FieldAt<type>(header.data(), offsetof(abi::Header, name))
#define C4_HEADER_TEXT(name) \
  TextAt<sizeof(abi::Header::name)>(header.data(), offsetof(abi::Header, name))

// A table lies inside the file, with the record size of this version and at least one record.
absl::Status CheckTable(const char* table, std::uint64_t file_bytes, std::uint64_t offset,
                        std::uint64_t capacity, std::uint64_t capacity_max, std::uint64_t bytes,
                        std::uint64_t bytes_expected) {
  if (bytes != bytes_expected || capacity == 0 || capacity > capacity_max ||
      offset < abi::kHeaderBytes || offset % alignof(std::uint64_t) != 0 || offset > file_bytes ||
      capacity * bytes_expected > file_bytes - offset) {
    return absl::InvalidArgumentError(
        fmt::format("the {} table ({} records of {} bytes at {}) is not possible in {} bytes",
                    table, capacity, bytes, offset, file_bytes));
  }
  return absl::OkStatus();
}

// What the environment does not say is -1; anything else that is not a number of things is too.
std::int32_t CountOrUnknown(std::int32_t value) { return std::max(value, -1); }

}  // namespace

absl::StatusOr<FileLayout> ParseLayout(const HeaderBytes& header) {
  if (C4_HEADER_FIELD(std::uint32_t, state) ==
      static_cast<std::uint32_t>(abi::WriterState::kStarting)) {
    return absl::UnavailableError("the header is not complete");
  }
  if (C4_HEADER_FIELD(std::uint64_t, magic) != abi::kMagic) {
    return absl::InvalidArgumentError("not a hook file");
  }
  const auto version = C4_HEADER_FIELD(std::uint32_t, version);
  if (version != abi::kVersion) {
    return absl::InvalidArgumentError(
        fmt::format("layout version {}, this agent reads {}", version, abi::kVersion));
  }
  FileLayout layout{
      .file_bytes = C4_HEADER_FIELD(std::uint64_t, file_bytes),
      .communicator_capacity = C4_HEADER_FIELD(std::uint32_t, communicator_capacity),
      .communicator_offset = C4_HEADER_FIELD(std::uint64_t, communicator_offset),
      .operation_capacity = C4_HEADER_FIELD(std::uint32_t, operation_capacity),
      .operation_offset = C4_HEADER_FIELD(std::uint64_t, operation_offset),
  };
  // The capacities of version 1 are constants, so that nobody makes the agent keep more than it
  // would for the real hook. Smaller ones are allowed: tests use them.
  absl::Status status = CheckTable("communicator", layout.file_bytes, layout.communicator_offset,
                                   layout.communicator_capacity, abi::kCommunicatorCapacity,
                                   C4_HEADER_FIELD(std::uint32_t, communicator_bytes),
                                   sizeof(abi::CommunicatorRecord));
  if (status.ok()) {
    status =
        CheckTable("operation", layout.file_bytes, layout.operation_offset,
                   layout.operation_capacity, abi::kOperationCapacity,
                   C4_HEADER_FIELD(std::uint32_t, operation_bytes), sizeof(abi::OperationRecord));
  }
  if (!status.ok()) {
    return status;
  }
  return layout;
}

FileIdentity ParseIdentity(const HeaderBytes& header) {
  return {
      .pid = C4_HEADER_FIELD(std::int32_t, pid),
      .process_start_ticks = C4_HEADER_FIELD(std::uint64_t, process_start_ticks),
      .global_rank = CountOrUnknown(C4_HEADER_FIELD(std::int32_t, global_rank)),
      .world_size = CountOrUnknown(C4_HEADER_FIELD(std::int32_t, world_size)),
      .local_rank = CountOrUnknown(C4_HEADER_FIELD(std::int32_t, local_rank)),
      .restart_count = C4_HEADER_FIELD(std::uint32_t, restart_count),
      .nccl_version = C4_HEADER_FIELD(std::uint32_t, nccl_version),
      .timing_mode = C4_HEADER_FIELD(std::uint32_t, timing_mode),
      .device = CountOrUnknown(C4_HEADER_FIELD(std::int32_t, device)),
      .job = C4_HEADER_TEXT(job),
      .node = C4_HEADER_TEXT(node),
      .hook_version = C4_HEADER_TEXT(hook_version),
      .gpu_uuid = C4_HEADER_TEXT(gpu_uuid),
      .gpu_pci = C4_HEADER_TEXT(gpu_pci),
      .command = C4_HEADER_TEXT(command),
      .created_ns = C4_HEADER_FIELD(std::int64_t, anchor_monotonic_ns),
  };
}

FileHealth ParseHealth(const HeaderBytes& header) {
  return {
      .state = static_cast<abi::WriterState>(C4_HEADER_FIELD(std::uint32_t, state)),
      .disarm_reason = C4_HEADER_FIELD(std::uint32_t, disarm_reason),
      .heartbeat_ns = C4_HEADER_FIELD(std::int64_t, heartbeat_ns),
      .communicators_dropped = C4_HEADER_FIELD(std::uint64_t, communicators_dropped),
      .operations_unknown_communicator =
          C4_HEADER_FIELD(std::uint64_t, operations_unknown_communicator),
      .operations_untimed = C4_HEADER_FIELD(std::uint64_t, operations_untimed),
      .operations_captured = C4_HEADER_FIELD(std::uint64_t, operations_captured),
      .operations_dropped = C4_HEADER_FIELD(std::uint64_t, operations_dropped),
      .operation_head = C4_HEADER_FIELD(std::uint64_t, operation_head),
  };
}

#undef C4_HEADER_FIELD
#undef C4_HEADER_TEXT

}  // namespace c4::agent
