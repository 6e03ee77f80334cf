// What the hook keeps per thread: whether it is inside a real NCCL call, and the group being built.
// Initial-exec TLS (one instruction to reach, no allocation): it must stay small, because a hook
// that is loaded late as a profiler plugin takes it from glibc's static reserve of about 1.6 KiB.
// Trivially destructible on purpose: threads end in any order.
#pragma once

#include <cstdint>

#include "nccl_hook/nccl_abi.h"

namespace c4::hook {

inline constexpr std::uint32_t kNoSlot = 0xffffffff;
inline constexpr std::uint32_t kNoInterval = 0xffffffff;
inline constexpr std::uint32_t kNoContext = 0xffffffff;

// Operations of the current group that share a stream, and so one pair of events.
struct GroupStream {
  Stream stream;
  std::uint32_t context;
  std::uint32_t slots;     // the newest; the others follow in SlotSide::next
  std::uint32_t interval;  // events round the group's end, or kNoInterval
  std::uint32_t communicator;
};

// A group on more streams than this is recorded, but its surplus operations are not timed.
inline constexpr std::uint32_t kGroupStreamsMax = 6;

struct ThreadState {
  std::uint32_t call_depth;  // > 0: inside a real NCCL function called by a wrapper of ours
  std::uint32_t group_depth;
  std::uint32_t group_number;
  std::uint32_t thread_id;      // gettid, 0 until first needed
  std::uint32_t stream_count;   // used entries of streams
  std::uint32_t untimed_slots;  // operations of the group without a stream entry
  UniqueId* unique_id_sink;     // receives what a nested ncclGetUniqueId returns
  GroupStream streams[kGroupStreamsMax];
};
static_assert(sizeof(ThreadState) <= 256);

// constinit: known to need no initialisation at run time, so no check at every access.
extern constinit thread_local ThreadState t_state __attribute__((tls_model("initial-exec")));

}  // namespace c4::hook
