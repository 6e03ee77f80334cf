// What the agent understands of a hook file: plain values, checked, detached from the file. Times
// are CLOCK_MONOTONIC nanoseconds as the hook wrote them; 0 is "has not happened".
#pragma once

#include <cstdint>
#include <string>

#include "common/abi/enums.h"

namespace c4::agent {

// Whose file it is. Some of it becomes known only after NCCL is up (rank, GPU, versions).
struct FileIdentity {
  std::int32_t pid = 0;  // in the process's own pid namespace
  std::uint64_t process_start_ticks = 0;
  std::int32_t global_rank = -1;
  std::int32_t world_size = -1;
  std::int32_t local_rank = -1;
  std::uint32_t restart_count = 0;
  std::uint32_t nccl_version = 0;
  std::uint32_t timing_mode = 0;
  std::int32_t device = -1;
  std::string job;
  std::string node;
  std::string hook_version;
  std::string gpu_uuid;
  std::string gpu_pci;
  std::string command;
  std::int64_t created_ns = 0;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

// How its writer is doing.
struct FileHealth {
  abi::WriterState state = abi::WriterState::kStarting;
  std::uint32_t disarm_reason = 0;
  std::int64_t heartbeat_ns = 0;
  std::uint64_t communicators_dropped = 0;
  std::uint64_t operations_unknown_communicator = 0;
  std::uint64_t operations_untimed = 0;
  std::uint64_t operations_captured = 0;
  std::uint64_t operations_dropped = 0;
  std::uint64_t operation_head = 0;
};

struct CommunicatorInfo {
  std::uint64_t id = 0;
  std::uint64_t nccl_hash = 0;
  std::uint64_t parent_id = 0;
  std::int32_t member = -1;
  std::int32_t size = -1;
  abi::CommunicatorState state = abi::CommunicatorState::kEmpty;
  std::int32_t async_error = 0;
  std::int64_t changed_ns = 0;
  std::string name;

  friend bool operator==(const CommunicatorInfo&, const CommunicatorInfo&) = default;
};

struct OperationInfo {
  std::uint64_t position = 0;            // in the ring
  std::uint32_t communicator_index = 0;  // in the table
  std::uint32_t communicator_generation = 0;
  std::uint64_t communicator = 0;  // CommunicatorInfo::id, once resolved
  std::uint64_t sequence = 0;
  std::uint64_t count = 0;
  std::uint64_t stream = 0;
  std::int64_t enqueue_ns = 0;
  std::int64_t return_ns = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int32_t root = -1;
  std::int32_t peer = -1;
  std::int32_t result = 0;
  std::uint32_t group = 0;
  abi::OperationKind kind = abi::OperationKind::kUnknown;
  std::uint8_t datatype = 0;
  std::uint8_t flags = 0;  // kOperation…
  bool is_update = false;  // it was given before, in flight
};

// Records that exist and could not be read, by cause. Totals of one file.
struct ReadLosses {
  std::uint64_t overwritten = 0;            // the ring lapped the reader
  std::uint64_t unpublished = 0;            // too many claimed and unfinished at one time
  std::uint64_t bad_records = 0;            // values that cannot be true
  std::uint64_t unknown_communicators = 0;  // its table entry was reused or never readable
};

}  // namespace c4::agent
