#include "nccl_hook/group.h"

#include "nccl_hook/clock.h"
#include "nccl_hook/recorder.h"

namespace c4::hook {
namespace {

void Link(std::uint32_t slot, std::uint32_t* chain) {
  g_hook.ring.side(slot).next = *chain;
  *chain = slot;
}

// Calls `visit` for every member of a chain, newest first; it may give the slot away.
template <typename Visit>
void ForEach(std::uint32_t chain, Visit visit) {
  while (chain != kNoSlot) {
    const std::uint32_t next = g_hook.ring.side(chain).next;
    visit(chain);
    chain = next;
  }
}

void SettleChain(std::uint32_t chain, Result result, bool is_refused, std::int64_t now_ns) {
  // Newest first, so that refused members give their numbers back in the right order.
  ForEach(chain, [=](std::uint32_t slot) {
    SetResult(slot, result, now_ns);
    if (is_refused) {
      MarkFailed(slot);
    }
  });
}

void Reset() {
  t_state.group_number = 0;
  t_state.stream_count = 0;
  t_state.untimed_slots = kNoSlot;
}

void SettleGroup(Result result, bool is_refused) {
  const std::int64_t now_ns = NowNs();
  for (std::uint32_t i = 0; i < t_state.stream_count; ++i) {
    const GroupStream& group = t_state.streams[i];
    SettleChain(group.slots, result, is_refused, now_ns);
    if (group.interval == kNoInterval) {
      ForEach(group.slots, SettleUntimed);
    } else if (is_refused) {
      g_hook.contexts.Cancel(group.interval);
    } else {
      SettleInterval(group.interval, group.communicator, result);
    }
  }
  SettleChain(t_state.untimed_slots, result, is_refused, now_ns);
  ForEach(t_state.untimed_slots, SettleUntimed);
  Reset();
}

}  // namespace

std::uint32_t CurrentGroup() {
  if (t_state.group_depth != 0 && t_state.group_number == 0) {
    // Relaxed: only the number matters.
    t_state.group_number = g_hook.group_numbers.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  return t_state.group_number;
}

void AddToGroup(std::uint32_t slot, Stream stream, std::uint32_t context,
                std::uint32_t communicator) {
  for (std::uint32_t i = 0; i < t_state.stream_count; ++i) {
    GroupStream& group = t_state.streams[i];
    if (group.stream == stream && group.context == context) {
      Link(slot, &group.slots);
      return;
    }
  }
  if (t_state.stream_count == kGroupStreamsMax) {
    CountFlags(slot, abi::kOperationUntimed);
    Link(slot, &t_state.untimed_slots);
    return;
  }
  t_state.streams[t_state.stream_count++] = {stream, context, slot, kNoInterval, communicator};
}

void BeginGroupEnd() {
  const std::int64_t now_ns = NowNs();
  for (std::uint32_t i = 0; i < t_state.stream_count; ++i) {
    GroupStream& group = t_state.streams[i];
    std::uint8_t flags = 0;
    group.interval =
        g_hook.contexts.Start(group.context, group.stream, group.slots, now_ns, &flags);
    if (flags != 0) {
      ForEach(group.slots, [=](std::uint32_t slot) { CountFlags(slot, flags); });
    }
  }
}

void FinishGroupEnd(Result result) { SettleGroup(result, IsRefused(result)); }

void DiscardGroup(Result result) { SettleGroup(result, true); }

}  // namespace c4::hook
