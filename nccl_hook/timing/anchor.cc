#include "nccl_hook/timing/anchor.h"

namespace c4::hook {
namespace {

constexpr int kEventCount = 3;  // the base, the best attempt so far, the attempt under way
constexpr double kNsPerMs = 1e6;

}  // namespace

bool Anchor::Refresh(const Driver& driver, TimingContext* context, NowFunction now) {
  const std::int64_t begin_ns = now();
  if (tried_ns_ != 0 && begin_ns - tried_ns_ < kPeriodNs && is_valid_) {
    return true;
  }
  int scratch = (base_ + 1) % kEventCount;
  if (is_pending_) {
    const cuda::Status status = driver.event_query(context->anchor_events[scratch]);
    if (status == cuda::kNotReady) {
      return true;
    }
    if (status != cuda::kSuccess) {
      return false;
    }
    is_pending_ = false;
  }
  tried_ns_ = begin_ns;
  int best = (base_ + 2) % kEventCount;
  std::int64_t best_width_ns = kSpinNs + 1;
  std::int64_t best_ns = 0;
  const int attempts = is_valid_ ? kAttempts : kFirstAttempts;
  for (int i = 0; i < attempts && best_width_ns > kNarrowNs; ++i) {
    const std::int64_t before_ns = now();
    if (driver.event_record(context->anchor_events[scratch], context->anchor_stream) !=
        cuda::kSuccess) {
      return false;
    }
    cuda::Status status = cuda::kNotReady;
    std::int64_t after_ns = before_ns;
    while (status == cuda::kNotReady && after_ns - before_ns <= kSpinNs) {
      status = driver.event_query(context->anchor_events[scratch]);
      after_ns = now();
    }
    if (status == cuda::kNotReady) {
      is_pending_ = true;
      break;
    }
    if (status != cuda::kSuccess) {
      return false;
    }
    if (after_ns - before_ns < best_width_ns) {
      best_width_ns = after_ns - before_ns;
      best_ns = before_ns + best_width_ns / 2;
      const int spare = best;
      best = scratch;
      scratch = spare;
    }
  }
  if (best_ns != 0) {
    // The pending event, if any, must be the next scratch: it is the one after the new base.
    base_ = best;
    if (is_pending_ && (base_ + 1) % kEventCount != scratch) {
      cuda::Event* events = context->anchor_events;
      const int next = (base_ + 1) % kEventCount;
      cuda::Event moved = events[next];
      events[next] = events[scratch];
      events[scratch] = moved;
    }
    base_ns_ = best_ns;
    is_valid_ = true;
  }
  return true;
}

std::int64_t Anchor::Convert(const Driver& driver, const TimingContext& context, cuda::Event event,
                             std::int64_t fallback_ns) const {
  float elapsed_ms = 0;
  if (!is_valid_ || driver.event_elapsed_time(&elapsed_ms, context.anchor_events[base_], event) !=
                        cuda::kSuccess) {
    return fallback_ns;
  }
  return base_ns_ + static_cast<std::int64_t>(static_cast<double>(elapsed_ms) * kNsPerMs);
}

}  // namespace c4::hook
