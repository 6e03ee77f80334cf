// One communicator of the process. See layout.h for who writes and who reads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace c4::abi {

struct CommunicatorRecord {
  std::atomic<std::uint32_t> state;       // CommunicatorState; release after the fields below
  std::atomic<std::uint32_t> generation;  // +1 each time the entry is reused
  std::uint64_t id;                       // the same on every member (DESIGN section 3)
  std::uint64_t nccl_hash;                // NCCL's own commHash; 0 unknown
  std::uint64_t parent_id;                // of a split; 0 for a root communicator
  std::int32_t rank;                      // of this process in the communicator; -1 until known
  std::int32_t rank_count;                // -1 until known
  std::int32_t split_color;
  std::int32_t split_key;
  std::int32_t device;       // CUDA ordinal
  std::int32_t async_error;  // last ncclResult_t other than success seen by ncclCommGetAsyncError
  std::int64_t created_ns;
  std::int64_t ended_ns;                   // destroyed or aborted
  std::atomic<std::uint64_t> collectives;  // sequence number that the next collective will get
  char name[64];                           // ncclConfig_t::commName; empty: none
  std::uint8_t reserved[112];
};
static_assert(sizeof(CommunicatorRecord) == 256);

}  // namespace c4::abi
