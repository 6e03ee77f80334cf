// The hook's clock: CLOCK_MONOTONIC nanoseconds through the vDSO, no system call.
#pragma once

#include <time.h>

#include <cstdint>

namespace c4::hook {

inline constexpr std::int64_t kNsPerSecond = 1'000'000'000;

inline std::int64_t ReadClockNs(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

inline std::int64_t NowNs() { return ReadClockNs(CLOCK_MONOTONIC); }

}  // namespace c4::hook
