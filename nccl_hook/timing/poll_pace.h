// How often the poller looks. Pure: the thread sleeps, this only says how long.
#pragma once

#include <cstdint>

#include "nccl_hook/timing/poller.h"

namespace c4::hook {

class PollPace {
 public:
  // `is_timed`: the events carry their own times, so a late look costs nothing but freshness.
  std::int64_t Next(const Poller::Pass& pass, bool is_timed) {
    const std::int64_t min_ns = is_timed ? kTimedMinNs : kProgressMinNs;
    const std::int64_t max_ns = is_timed ? kTimedMaxNs : kProgressMaxNs;
    if (pass.is_busy || pass.has_moved) {
      quiet_ns_ = 0;
    }
    if (pass.has_moved) {
      sleep_ns_ = min_ns;
    } else if (quiet_ns_ >= kQuietNs) {
      sleep_ns_ = kIdleNs;
    } else {
      sleep_ns_ = sleep_ns_ * 2 < max_ns ? sleep_ns_ * 2 : max_ns;
    }
    quiet_ns_ += pass.is_busy ? 0 : sleep_ns_;
    return sleep_ns_;
  }

  static constexpr std::int64_t kTimedMinNs = 500'000;
  static constexpr std::int64_t kTimedMaxNs = 5'000'000;
  // Without timing events the period is the resolution of the times.
  static constexpr std::int64_t kProgressMinNs = 100'000;
  static constexpr std::int64_t kProgressMaxNs = 1'000'000;
  // Between steps a job pauses for less than this; only then is the slower pace worth its latency.
  static constexpr std::int64_t kQuietNs = 1'000'000'000;
  // Also the period of the heartbeat then, which the layout wants at least once a second.
  static constexpr std::int64_t kIdleNs = 50'000'000;

 private:
  std::int64_t sleep_ns_ = kIdleNs;
  std::int64_t quiet_ns_ = 0;  // slept since anything was in flight
};

}  // namespace c4::hook
