// Time as the analyzer counts it: int64 nanoseconds since the epoch, on the clock of some node.
#pragma once

#include <cstdint>

namespace c4::model {

using TimeNs = std::int64_t;
using DurationNs = std::int64_t;

inline constexpr DurationNs kMillisecond = 1'000'000;
inline constexpr DurationNs kSecond = 1'000'000'000;

}  // namespace c4::model
