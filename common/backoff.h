// How long to wait before the next attempt: exponential with full jitter, so that 2,000 agents do
// not return in the same second after the analyzer restarts.
// (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/, "full jitter")
//
// Not thread-safe; one owner. Randomness is injected.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

namespace c4 {

class Backoff {
 public:
  struct Options {
    std::int64_t initial_ns = 200'000'000;     // first ceiling
    std::int64_t maximum_ns = 10'000'000'000;  // last ceiling: a restart is noticed within 10 s
    std::int64_t minimum_ns = 50'000'000;      // never a tight loop
  };

  // `uniform` returns a number in [0, 1).
  Backoff(Options options, std::function<double()> uniform)
      : options_(options), uniform_(std::move(uniform)), ceiling_ns_(options.initial_ns) {}

  std::int64_t NextNs() {
    const auto wait = static_cast<std::int64_t>(uniform_() * static_cast<double>(ceiling_ns_));
    ceiling_ns_ = std::min(options_.maximum_ns, ceiling_ns_ * 2);
    return std::max(options_.minimum_ns, wait);
  }

  // After a success.
  void Reset() { ceiling_ns_ = options_.initial_ns; }

 private:
  Options options_;
  std::function<double()> uniform_;
  std::int64_t ceiling_ns_;
};

}  // namespace c4
