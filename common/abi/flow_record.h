// Transport sums of one connection. See layout.h for who writes and who reads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace c4::abi {

// Transport sums per (communicator, peer, channel, direction). Written in place by the profiler
// callbacks; the agent samples them.
struct FlowRecord {
  std::atomic<std::uint32_t> key;  // 1 + communicator index; 0: free. Release after the fields.
  std::int32_t peer;
  std::uint16_t channel;
  std::uint16_t direction;  // 0 send, 1 receive
  std::uint32_t reserved;
  std::atomic<std::uint64_t> bytes;
  std::atomic<std::uint64_t> messages;
  std::atomic<std::uint64_t> busy_ns;
  std::atomic<std::uint32_t> posted;
  std::atomic<std::uint32_t> done;
  std::atomic<std::int64_t> progress_ns;
  std::uint64_t reserved2;
};
static_assert(sizeof(FlowRecord) == 64);

}  // namespace c4::abi
