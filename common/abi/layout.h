// The shared-memory file of one process, written by the hook inside the training process and read
// by the agent. This is the only contract between the two.
//
//   offset 0                 Header                        4096 B
//   communicator_offset      CommunicatorRecord[capacity]   256 B each
//   operation_offset         OperationRecord[capacity]      128 B each, a ring
//   flow_offset              FlowRecord[capacity]            64 B each
//
// Freestanding (<atomic>, <cstddef>, <cstdint>): nccl_hook includes this and nothing else of ours.
// All numbers little-endian (x86-64, aarch64). Times are CLOCK_MONOTONIC nanoseconds of the node;
// 0 means "has not happened".
//
// Writers: any application thread claims operation slots (Header::operation_head) and fills them;
// one poller thread per process fills start_ns and end_ns. Reader: the agent, in another process,
// through pread on its own descriptor (never mmap: the owner may truncate the file at will). It
// treats every byte as hostile: copies, checks ranges, then uses; two equal copies of a slot whose
// ticket is right are taken as one consistent slot.
//
// Operation ring. Position p (0, 1, 2 …, claimed by fetch_add) lives in slot p % capacity and
// publishes ticket = p + 1. Life of a slot:
//
//   free ──claim──> ticket = 0 ──fields──> ticket = p+1, in_flight = 1 ──end/abandon──> in_flight =
//   0
//     ^                                                                                     │
//     └────────────────────────── overwritten by position p + n·capacity <──────────────────┘
//
// A slot in flight is never overwritten: the operation that a frozen process is stuck in stays
// readable for ever. A position whose slot is still in flight is skipped and counted in
// operations_dropped; the reader sees there the old ticket. A reader that finds a newer ticket than
// it expects has missed that position.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/abi/communicator_record.h"
#include "common/abi/file_header.h"
#include "common/abi/flow_record.h"
#include "common/abi/operation_record.h"

namespace c4::abi {

inline constexpr std::uint64_t kMagic = 0x31304b4f4f483443;  // the bytes "C4HOOK01"
inline constexpr std::uint32_t kVersion = 1;

// 16,384 operations: 16 s at 1,000 collectives/s, 160 polls of the agent. 2 MiB of tmpfs per rank.
inline constexpr std::uint32_t kOperationCapacity = 16384;
// A Megatron rank with every kind of parallelism has about 30 communicators; FSDP with per-layer
// process groups has been seen with over 100.
inline constexpr std::uint32_t kCommunicatorCapacity = 256;
// (communicator, peer, channel, direction): 16 peers x 32 channels x 2 x 2 communicators.
inline constexpr std::uint32_t kFlowCapacity = 2048;

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(std::atomic<std::uint8_t>::is_always_lock_free);

inline constexpr std::uint64_t kCommunicatorOffset = kHeaderBytes;
inline constexpr std::uint64_t kOperationOffset =
    kCommunicatorOffset + std::uint64_t{kCommunicatorCapacity} * sizeof(CommunicatorRecord);
inline constexpr std::uint64_t kFlowOffset =
    kOperationOffset + std::uint64_t{kOperationCapacity} * sizeof(OperationRecord);
inline constexpr std::uint64_t kFileBytes =
    kFlowOffset + std::uint64_t{kFlowCapacity} * sizeof(FlowRecord);
static_assert(kOperationOffset % alignof(OperationRecord) == 0);

}  // namespace c4::abi
