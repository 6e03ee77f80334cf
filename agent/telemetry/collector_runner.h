// Runs one collector on a thread of its own, so that one that hangs in the kernel stops neither the
// rings nor the others. A hang is reported while it lasts: it is evidence by itself.
//
// Public functions are for the event loop's thread and never wait for the collector, Stop() apart,
// which gives it a moment and then leaves the thread behind (it holds nothing but shared state).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "agent/telemetry/collector.h"
#include "common/clock.h"

namespace c4::agent {

class CollectorRunner {
 public:
  // The clock outlives the thread: it is the program's.
  CollectorRunner(std::unique_ptr<Collector> collector, const Clock* clock);
  ~CollectorRunner();
  CollectorRunner(const CollectorRunner&) = delete;
  CollectorRunner& operator=(const CollectorRunner&) = delete;

  void Start();

  // Moves what was collected to `samples`, and how the collector itself is doing: gauges of device
  // "agent", collector_<name>_success (1 worked, 0 failed or hangs, -1 not supported here) when it
  // changes and once a minute, with collector_<name>_seconds.
  void Drain(std::int64_t now_ns, Samples* samples);

  // The next look tells the present state.
  void Rewind();

  // Samples that nobody fetched in time, since the start.
  std::uint64_t dropped() const;

  void Stop();

 private:
  struct Shared {
    std::unique_ptr<Collector> collector;
    const Clock* clock;
    std::mutex mutex;
    std::condition_variable changed;
    // Guarded by mutex.
    bool is_stopping = false;
    bool has_ended = false;
    bool must_rewind = false;
    std::int64_t running_since_ns = 0;  // 0: between two looks
    std::int64_t duration_ns = 0;
    Outcome outcome = Outcome::kNoData;
    std::uint64_t looks = 0;
    std::string error;
    Samples samples;
    std::uint64_t dropped = 0;
  };

  static void Run(const std::shared_ptr<Shared>& shared);

  const std::shared_ptr<Shared> shared_;
  const CollectorInfo info_;
  std::thread thread_;
  int told_success_ = 2;  // none of the values
  std::int64_t told_ns_ = 0;
};

}  // namespace c4::agent
