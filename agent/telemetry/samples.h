// What collectors give. Plain values; times are CLOCK_MONOTONIC nanoseconds of the moment at which
// something was seen, text is as it came and not cleaned.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace c4::agent {

struct EventSample {
  std::int64_t time_ns = 0;
  std::string kind;  // nic_link_down …: docs/TRACE_FORMAT.md
  std::string device;
  std::string counter;
  std::int64_t delta = 0;
  std::string text;
};

struct GaugeSample {
  std::int64_t time_ns = 0;
  std::string device;
  std::string name;  // with its unit
  double value = 0;
};

struct HostStateSample {
  std::int64_t time_ns = 0;
  std::int32_t pid = 0;
  char state = '?';
  std::string wchan;
  double cpu_cores = 0;
  double read_bytes_per_s = 0;
  double write_bytes_per_s = 0;
};

// Which network interface serves a process.
struct RankNicSample {
  std::int32_t pid = 0;
  std::string nic;
};

using Sample = std::variant<EventSample, GaugeSample, HostStateSample, RankNicSample>;
using Samples = std::vector<Sample>;

// A process that collectors look at.
struct WatchedProcess {
  std::int32_t pid = 0;  // under the root of procfs
  std::uint64_t start_ticks = 0;
  std::string gpu_pci;  // "0000:1b:00.0"; empty: unknown

  friend bool operator==(const WatchedProcess&, const WatchedProcess&) = default;
};

}  // namespace c4::agent
