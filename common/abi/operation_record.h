// One NCCL call: a slot of the operation ring. See layout.h for its life.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace c4::abi {

struct alignas(128) OperationRecord {
  std::atomic<std::uint64_t> ticket;     // position + 1; 0 while being written. Release.
  std::atomic<std::uint32_t> in_flight;  // 1 until end is known or will never be. Release.
  std::uint32_t communicator;            // index in the communicator table
  std::uint32_t communicator_generation;
  std::uint32_t group;     // number of the outermost group, per process from 1; 0: not grouped
  std::uint64_t sequence;  // collectives: per communicator; Send and Recv: per (peer, direction)
  std::uint64_t count;     // elements as passed to NCCL
  std::uint64_t stream;    // opaque; equal values are the same stream
  std::atomic<std::int64_t> enqueue_ns;  // the host entered the call
  std::atomic<std::int64_t> return_ns;   // the host left the call (its group's end, if grouped)
  std::atomic<std::int64_t> start_ns;    // the GPU reached the operation
  std::atomic<std::int64_t> end_ns;      // the GPU left it
  std::int32_t root;                     // -1: has none
  std::int32_t peer;                     // rank in the communicator; -1: has none
  std::int32_t reduction;                // ncclRedOp_t; -1: has none
  std::atomic<std::int32_t> result;      // ncclResult_t of the call; -1 while inside
  std::uint32_t thread;                  // gettid of the caller
  std::uint8_t kind;                     // OperationKind
  std::uint8_t datatype;                 // ncclDataType_t
  std::atomic<std::uint8_t> flags;       // kOperation…
  std::uint8_t reserved;
  std::uint64_t reserved2;
};
static_assert(sizeof(OperationRecord) == 128);

}  // namespace c4::abi
