// Time as a dependency. Programs pass a SystemClock in from main(); tests pass a ManualClock.
// Nothing below main() asks the operating system for the time.
//
// Monotonic time is for intervals, realtime for what people read and for what leaves the node; the
// two are never subtracted from each other except to find their offset. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

namespace c4 {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t MonotonicNs() const = 0;  // CLOCK_MONOTONIC: what the hook writes
  virtual std::int64_t RealtimeNs() const = 0;   // since the Unix epoch
};

class SystemClock final : public Clock {
 public:
  std::int64_t MonotonicNs() const override;
  std::int64_t RealtimeNs() const override;
};

// Stands still until told to move.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t monotonic_ns = 1'000'000'000,
                       std::int64_t realtime_ns = 1'750'000'000'000'000'000)
      : monotonic_ns_(monotonic_ns), realtime_ns_(realtime_ns) {}

  std::int64_t MonotonicNs() const override {
    return monotonic_ns_.load(std::memory_order_relaxed);
  }
  std::int64_t RealtimeNs() const override { return realtime_ns_.load(std::memory_order_relaxed); }

  void Advance(std::int64_t by_ns) {
    monotonic_ns_.fetch_add(by_ns, std::memory_order_relaxed);
    realtime_ns_.fetch_add(by_ns, std::memory_order_relaxed);
  }
  // As an administrator or NTP would: only realtime jumps.
  void StepRealtime(std::int64_t by_ns) {
    realtime_ns_.fetch_add(by_ns, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::int64_t> monotonic_ns_;
  std::atomic<std::int64_t> realtime_ns_;
};

}  // namespace c4
