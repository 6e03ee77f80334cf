// The first 4 KiB of a hook file: what it is, whose it is, and how it lives. See layout.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace c4::abi {

struct Header {
  // Written once, before state leaves kStarting.
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint64_t file_bytes;
  std::uint32_t communicator_capacity;
  std::uint32_t communicator_bytes;
  std::uint64_t communicator_offset;
  std::uint32_t operation_capacity;
  std::uint32_t operation_bytes;
  std::uint64_t operation_offset;
  std::uint32_t flow_capacity;
  std::uint32_t flow_bytes;
  std::uint64_t flow_offset;

  // Identity. Strings are NUL-padded and may fill their array without a final NUL. What is only
  // known once a communicator is ready (nccl_version, cuda_driver_version, timing_mode, device,
  // gpu_uuid, gpu_pci, and global_rank and world_size where the environment does not say) is filled
  // in after the state has become kRecording: look again while it is missing.
  std::int32_t pid;                   // as the process itself sees it (its pid namespace)
  std::int32_t global_rank;           // -1: the environment does not say
  std::int32_t world_size;            // -1: likewise
  std::int32_t local_rank;            // -1: likewise
  std::uint64_t process_start_ticks;  // field 22 of /proc/self/stat: tells a reused pid apart
  std::uint32_t restart_count;        // incarnation, from the launcher's environment
  std::uint32_t nccl_version;         // ncclGetVersion, 0 until known
  std::int32_t cuda_driver_version;   // cuDriverGetVersion, 0 until known
  std::uint32_t timing_mode;          // TimingMode
  std::int32_t device;                // CUDA ordinal of the first communicator's device; -1 unknown
  std::uint32_t reserved0;
  char job[64];
  char node[64];
  char hook_version[16];
  char gpu_uuid[48];  // "GPU-xxxxxxxx-…" as nvidia-smi prints it; empty: unknown
  char gpu_pci[32];   // "0000:1b:00.0", lower case
  char command[64];   // /proc/self/comm, for people

  // A pair taken together at start: monotonic + (anchor_realtime - anchor_monotonic) is wall time.
  std::int64_t anchor_monotonic_ns;
  std::int64_t anchor_realtime_ns;

  // Live.
  alignas(64) std::atomic<std::uint32_t> state;      // WriterState
  std::atomic<std::uint32_t> disarm_reason;          // DisarmReason
  std::atomic<std::int64_t> heartbeat_ns;            // poller thread, every <= 1 s while alive
  std::atomic<std::uint64_t> communicators_dropped;  // table full
  std::atomic<std::uint64_t> operations_unknown_communicator;
  std::atomic<std::uint64_t> operations_untimed;   // event pool empty or CUDA refused
  std::atomic<std::uint64_t> operations_captured;  // during stream capture
  std::atomic<std::uint64_t> operations_dropped;   // slot still in flight
  std::atomic<std::uint64_t> flows_dropped;        // flow table full
  alignas(
      64) std::atomic<std::uint64_t> operation_head;  // next position; release, pairs with reader
};
inline constexpr std::size_t kHeaderBytes = 4096;
static_assert(sizeof(Header) <= kHeaderBytes);

}  // namespace c4::abi
