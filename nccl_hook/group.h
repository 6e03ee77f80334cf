// What recorder.cc and group.cc share: the steps of an operation's life that single operations and
// members of a group have in common. Internal to the two.
#pragma once

#include <cstdint>

#include "nccl_hook/nccl_abi.h"
#include "nccl_hook/thread_state.h"

namespace c4::hook {

// The operation joins the calling thread's group, whose members on one stream share one interval.
void AddToGroup(std::uint32_t slot, Stream stream, std::uint32_t context,
                std::uint32_t communicator);

// Sets kOperation… bits that say why there are no times, and counts them.
void CountFlags(std::uint32_t slot, std::uint8_t flags);
void SetResult(std::uint32_t slot, Result result, std::int64_t now_ns);
// Not in flight any more, flagged, its number given back.
void MarkFailed(std::uint32_t slot);
// An operation without interval is over for us when its call is.
void SettleUntimed(std::uint32_t slot);
// Ends the interval, puts its end off, or gives it back. Its slots belong to the poller afterwards.
void SettleInterval(std::uint32_t interval, std::uint32_t communicator, Result result);

}  // namespace c4::hook
