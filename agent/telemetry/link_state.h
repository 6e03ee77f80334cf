// What a look at one network port shows, and what two looks in a row tell: events and gauges. The
// same for Ethernet and InfiniBand. Pure; remembers only the look before.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "agent/telemetry/samples.h"

namespace c4::agent {

struct LinkLook {
  bool is_up = false;
  std::optional<double> rate_gbps;
  std::optional<std::int64_t> downs;                   // times that it has lost the link since boot
  std::map<std::string, std::int64_t> error_counters;  // by their names in sysfs
};

class LinkState {
 public:
  explicit LinkState(std::string device) : device_(std::move(device)) {}

  // The first look is the baseline: a port that is down then is no event, but its gauges say so.
  void Take(const LinkLook& look, std::int64_t now_ns, Samples* samples);

  // The port itself is gone.
  void Vanish(std::int64_t now_ns, Samples* samples);

  // The next look tells the gauges again, and when the link went down if it is down.
  void Rewind();

 private:
  void TellLink(const LinkLook& look, std::int64_t now_ns, Samples* samples);
  void TellRate(const LinkLook& look, std::int64_t now_ns, Samples* samples);
  void TellErrors(const LinkLook& look, std::int64_t now_ns, Samples* samples);
  void Event(const char* kind, std::int64_t time_ns, const std::string& text, Samples* samples);

  const std::string device_;
  std::optional<LinkLook> before_;
  bool must_tell_ = false;
  std::int64_t down_ns_ = 0;    // when it went down; 0: it is up, or was down at the first look
  std::int64_t gauges_ns_ = 0;  // when gauges were last told
  std::int64_t errors_ns_ = 0;  // when errors were last told
  std::map<std::string, std::int64_t> told_errors_;
};

}  // namespace c4::agent
