// The small numbers that stand in shared memory: what an operation is, what a file's writer is
// doing, how times were taken. Values are part of the layout (layout.h): never renumber, only
// append. Freestanding: <cstdint> only. The hook writes them, the agent reads them as untrusted
// integers.
#pragma once

#include <cstdint>

namespace c4::abi {

// Which entry point of NCCL was called. Names are NCCL's without the prefix.
enum class OperationKind : std::uint8_t {
  kUnknown = 0,
  kAllReduce = 1,
  kAllGather = 2,
  kReduceScatter = 3,
  kBroadcast = 4,  // ncclBcast too: NCCL turns it into ncclBroadcast
  kReduce = 5,
  kAlltoAll = 6,
  kGather = 7,
  kScatter = 8,
  kSend = 9,
  kRecv = 10,
  kPutSignal = 11,
  kSignal = 12,
  kWaitSignal = 13,
};
inline constexpr std::uint8_t kOperationKindCount = 14;

// Element types are ncclDataType_t's own numbers (nccl.h: 0 Int8 … 9 Bfloat16, 10 Float8e4m3,
// 11 Float8e5m2); kept as they came, so a type newer than this header is still distinguishable.
inline constexpr std::uint8_t kDataTypeNone = 0xff;  // Signal, WaitSignal

// Bits of OperationRecord::flags.
inline constexpr std::uint8_t kOperationCaptured = 1
                                                   << 0;   // called during stream capture: no times
inline constexpr std::uint8_t kOperationUntimed = 1 << 1;  // no event was free: start/end stay 0
// NCCL refused the call (see result) or only simulated it. Its sequence number is given out again.
inline constexpr std::uint8_t kOperationFailed = 1 << 2;
inline constexpr std::uint8_t kOperationAbandoned = 1 << 3;  // communicator aborted while in flight

// Life of a communicator table entry.
enum class CommunicatorState : std::uint32_t {
  kEmpty = 0,
  kInitialising = 1,
  kReady = 2,
  kFinalizing = 3,
  kDestroyed = 4,
  kAborted = 5,
  kFailed = 6,  // init returned an error
};

// What the writer of the file is doing.
enum class WriterState : std::uint32_t {
  kStarting = 0,  // header not complete: do not read further
  kRecording = 1,
  kDisarmed = 2,  // the hook met a problem of its own and stopped recording (see disarm_reason)
  kExited = 3,    // orderly process exit
};

enum class DisarmReason : std::uint32_t {
  kNone = 0,
  kForkedChild = 1,
  kTooManyCommunicators = 2,  // counted, not fatal: later communicators are not recorded
  kCudaError = 3,
  kInternal = 4,
};

// How start and end were taken (DESIGN: C4_TIMING).
enum class TimingMode : std::uint32_t {
  kHost = 0,      // no GPU calls: start and end stay 0
  kEvents = 1,    // timing events round the operation on its stream
  kProgress = 2,  // events without timing, polled: start and end are the poll's time
};

}  // namespace c4::abi
