// Hook files say CLOCK_MONOTONIC, the analyzer is told Unix time. One offset, taken when the agent
// starts, maps every time of its life, so that durations stay exact whatever NTP does to the wall
// clock meanwhile. The analyzer finds the nodes' offsets itself.
#pragma once

#include <cstdint>

#include "common/clock.h"

namespace c4::agent {

class NodeTime {
 public:
  explicit NodeTime(const Clock& clock) : offset_ns_(clock.RealtimeNs() - clock.MonotonicNs()) {}

  // 0, "has not happened", stays 0.
  std::int64_t Unix(std::int64_t monotonic_ns) const {
    return monotonic_ns == 0 ? 0 : monotonic_ns + offset_ns_;
  }

 private:
  std::int64_t offset_ns_;
};

}  // namespace c4::agent
