// Maps times of one context's events to CLOCK_MONOTONIC. A base event is recorded on a private idle
// stream between two readings of the clock; an event's time is the base's plus cuEventElapsedTime.
// That is a float of milliseconds: exact to 0.5 us within some 8 s of the base, so the base is
// renewed every 2 s. Poller thread only.
#pragma once

#include <cstdint>

#include "nccl_hook/timing/contexts.h"
#include "nccl_hook/timing/driver.h"

namespace c4::hook {

using NowFunction = std::int64_t (*)();

class Anchor {
 public:
  // Renews the base when it is due. Never waits longer than kSpinNs per attempt: behind a busy GPU
  // the old base stays in use. False: CUDA refused for good.
  bool Refresh(const Driver& driver, TimingContext* context, NowFunction now);

  // Time of a completed event; `fallback_ns` where there is no base yet.
  std::int64_t Convert(const Driver& driver, const TimingContext& context, cuda::Event event,
                       std::int64_t fallback_ns) const;

 private:
  // Attempts: the first base decides how all operations so far compare, and takes more trouble.
  static constexpr int kFirstAttempts = 16;
  static constexpr int kAttempts = 4;
  static constexpr std::int64_t kPeriodNs = 2'000'000'000;
  static constexpr std::int64_t kSpinNs = 200'000;
  // A bracket as narrow as this is as good as an idle stream gives: stop trying.
  static constexpr std::int64_t kNarrowNs = 8'000;

  bool is_valid_ = false;
  bool is_pending_ = false;  // the scratch event was recorded and has not completed
  int base_ = 0;             // index of the base in anchor_events
  std::int64_t base_ns_ = 0;
  std::int64_t tried_ns_ = 0;
};

}  // namespace c4::hook
