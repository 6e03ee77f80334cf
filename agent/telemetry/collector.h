// A source of node health: declared by name, period, time-out and fields, given its filesystem
// roots and asked again and again. Runs on a thread of its own (collector_runner.h), because some
// files of /proc and /sys can hang for as long as the kernel likes.
//
// Three outcomes are three different things: kUnsupported (this machine has no such thing; asked
// again rarely), kFailed (it has, and it could not be read), kNoData (read, and there is nothing to
// say).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "agent/telemetry/samples.h"

namespace c4::agent {

struct CollectorField {
  const char* name;  // of the event or gauge
  const char* unit;
  const char* meaning;
};

struct CollectorInfo {
  const char* name;
  std::int64_t period_ns;
  std::int64_t timeout_ns;
  std::span<const CollectorField> fields;
};

enum class Outcome { kData, kNoData, kUnsupported, kFailed };

class Collector {
 public:
  virtual ~Collector() = default;
  virtual const CollectorInfo& info() const = 0;
  // Appends what is new. `now_ns` is the time of the look. `error` says why it is kFailed.
  virtual Outcome Collect(std::int64_t now_ns, Samples* samples, std::string* error) = 0;
  // The analyzer is a new one: tell the present state as if it had just come about.
  virtual void Rewind() = 0;
};

// The processes of the node's ranks: written by the event loop, read by collectors. Thread-safe.
class WatchedProcesses {
 public:
  void Set(std::vector<WatchedProcess> processes) {
    const std::lock_guard lock(mutex_);
    processes_ = std::move(processes);
  }
  std::vector<WatchedProcess> Get() const {
    const std::lock_guard lock(mutex_);
    return processes_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<WatchedProcess> processes_;
};

}  // namespace c4::agent
