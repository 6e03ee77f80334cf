// A hook file as a test sees it: a copy of what is in it at one moment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/abi/enums.h"
#include "common/abi/layout.h"

namespace c4::hook {

// Plain copies of the shared records: atomics cannot be copied.
struct SeenOperation {
  std::uint64_t position;
  bool is_in_flight;
  std::uint32_t communicator;
  std::uint32_t generation;
  std::uint32_t group;
  std::uint64_t sequence;
  std::uint64_t count;
  std::uint64_t stream;
  std::int64_t enqueue_ns;
  std::int64_t return_ns;
  std::int64_t start_ns;
  std::int64_t end_ns;
  int root;
  int peer;
  int reduction;
  int result;
  abi::OperationKind kind;
  int datatype;
  int flags;
};

struct SeenCommunicator {
  abi::CommunicatorState state;
  std::uint32_t generation;
  std::uint64_t id;
  std::uint64_t nccl_hash;
  std::uint64_t parent_id;
  int rank;
  int rank_count;
  int split_color;
  int device;
  int async_error;
  std::uint64_t collectives;
  std::string name;
};

struct HookFile {
  abi::WriterState state;
  abi::DisarmReason disarm_reason;
  abi::TimingMode timing_mode;
  int pid;
  int global_rank;
  int world_size;
  int device;
  std::uint32_t nccl_version;
  std::string job;
  std::string node;
  std::string command;
  std::string gpu_uuid;
  std::string gpu_pci;
  std::int64_t heartbeat_ns;
  std::uint64_t head;
  std::uint64_t dropped;
  std::uint64_t untimed;
  std::uint64_t captured;
  std::uint64_t unknown_communicator;
  std::uint64_t communicators_dropped;
  std::vector<SeenCommunicator> communicators;
  std::vector<SeenOperation> operations;  // those still in the ring, by position
};

// Empty when the file is not there, not complete, or not ours.
std::optional<HookFile> ReadHookFile(const std::string& path);

}  // namespace c4::hook
