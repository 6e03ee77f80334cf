#include "common/clock.h"

#include <ctime>

namespace c4 {
namespace {

std::int64_t Read(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

std::int64_t SystemClock::MonotonicNs() const { return Read(CLOCK_MONOTONIC); }
std::int64_t SystemClock::RealtimeNs() const { return Read(CLOCK_REALTIME); }

}  // namespace c4
