#include "agent/telemetry/link_state.h"

#include <algorithm>
#include <utility>

#include "agent/limits.h"
#include "fmt/format.h"

namespace c4::agent {
namespace {

// A gauge that stands still is repeated so that its absence means something.
constexpr std::int64_t kGaugePeriodNs = 60 * kSecondNs;
// Errors come in bursts: one event a second per counter says as much as five.
constexpr std::int64_t kErrorPeriodNs = kSecondNs;

}  // namespace

void LinkState::Take(const LinkLook& look, std::int64_t now_ns, Samples* samples) {
  TellLink(look, now_ns, samples);
  TellRate(look, now_ns, samples);
  TellErrors(look, now_ns, samples);
  must_tell_ = false;
  before_ = look;
}

void LinkState::TellLink(const LinkLook& look, std::int64_t now_ns, Samples* samples) {
  const bool was_up = before_ ? before_->is_up : look.is_up;
  // Lost and found again between two looks.
  const std::int64_t flaps =
      before_ && before_->downs && look.downs ? *look.downs - *before_->downs : 0;
  if (was_up && !look.is_up) {
    down_ns_ = now_ns;
    Event("nic_link_down", now_ns, "", samples);
  } else if (!was_up && look.is_up) {
    down_ns_ = 0;
    Event("nic_link_up", now_ns, "", samples);
  } else if (was_up && flaps > 0) {
    const std::string text = fmt::format("lost the link {} times between two looks", flaps);
    Event("nic_link_down", now_ns, text, samples);
    Event("nic_link_up", now_ns, text, samples);
  } else if (must_tell_ && down_ns_ != 0) {
    Event("nic_link_down", down_ns_, "is still down", samples);
  }
}

void LinkState::TellRate(const LinkLook& look, std::int64_t now_ns, Samples* samples) {
  const bool is_changed =
      !before_ || before_->is_up != look.is_up || before_->rate_gbps != look.rate_gbps;
  if (!is_changed && !must_tell_ && now_ns - gauges_ns_ < kGaugePeriodNs) {
    return;
  }
  gauges_ns_ = now_ns;
  samples->push_back(GaugeSample{now_ns, device_, "port_active", look.is_up ? 1.0 : 0.0});
  if (look.rate_gbps) {
    samples->push_back(GaugeSample{now_ns, device_, "rate_gbps", *look.rate_gbps});
  }
}

void LinkState::TellErrors(const LinkLook& look, std::int64_t now_ns, Samples* samples) {
  if (!before_) {
    told_errors_ = look.error_counters;
    return;
  }
  if (now_ns - errors_ns_ < kErrorPeriodNs) {
    return;
  }
  for (const auto& [name, value] : look.error_counters) {
    const auto [told, is_new] = told_errors_.emplace(name, value);
    const std::int64_t delta = value - told->second;
    told->second = value;  // also when it went back: the driver was reset
    if (delta > 0) {
      errors_ns_ = now_ns;
      samples->push_back(EventSample{now_ns, "nic_errors", device_, name, delta, ""});
    }
  }
}

void LinkState::Vanish(std::int64_t now_ns, Samples* samples) {
  if (before_ && before_->is_up) {
    Event("nic_link_down", now_ns, "the interface is gone", samples);
  }
}

void LinkState::Rewind() { must_tell_ = true; }

void LinkState::Event(const char* kind, std::int64_t time_ns, const std::string& text,
                      Samples* samples) {
  samples->push_back(EventSample{time_ns, kind, device_, "", 0, text});
}

}  // namespace c4::agent
