// What the environment says about the hook itself. Pure functions over values, for tests.
#pragma once

#include <cstring>

#include "common/abi/enums.h"

namespace c4::hook {

// C4_HOOK=0 and the like: `value` null means not set.
inline bool IsSwitchedOff(const char* value) { return value != nullptr && value[0] == '0'; }

// C4_TIMING. `auto` (also for anything unknown): timing events cost overlap of compute and
// communication when all work of a device goes through one queue, which
// CUDA_DEVICE_MAX_CONNECTIONS=1 asks for; then only progress is watched.
inline abi::TimingMode ChooseTiming(const char* timing, const char* max_connections) {
  if (timing != nullptr) {
    if (std::strcmp(timing, "host") == 0) {
      return abi::TimingMode::kHost;
    }
    if (std::strcmp(timing, "events") == 0) {
      return abi::TimingMode::kEvents;
    }
    if (std::strcmp(timing, "progress") == 0) {
      return abi::TimingMode::kProgress;
    }
  }
  return max_connections != nullptr && std::strcmp(max_connections, "1") == 0
             ? abi::TimingMode::kProgress
             : abi::TimingMode::kEvents;
}

}  // namespace c4::hook
