// The rhythm of one rank: the smallest repeat of its operation sequence is the step, and each step
// is split into what the rank did itself and what it spent inside collectives (DESIGN section 5,
// "Own time", "Period").
//
//   |<------------------------- one cycle of the rank, on its node's clock
//   ------------------------>| [ AllReduce ]   own   [ AllReduce ]  own (host late: before the next
//   enqueue)  [ Recv ]   own
//
// Own time is the cycle minus the union of all [start, end) of the rank's operations: waiting for
// others always happens inside an operation, so a victim's own time stays what it was, across
// streams and communicators. One tracker per rank; fed in order of time; bounded history.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "analyzer/model/job_model.h"

namespace c4::detect {

struct Cycle {
  model::TimeNs begin = 0;  // start of its first operation
  model::TimeNs end = 0;    // start of the next cycle's first operation
  model::DurationNs own = 0;
  model::DurationNs host = 0;  // part of own in which the GPU had been given nothing to do
  model::DurationNs span() const { return end - begin; }
};

class CycleTracker {
 public:
  static constexpr std::size_t kHistory = 64;
  // A step of 4,096 operations is 40 layers x 4 collectives x 16 microbatches and more.
  static constexpr std::size_t kPeriodMax = 4096;

  // An operation was enqueued; in order of enqueue.
  void Add(const model::Operation* operation);
  // Closes the cycles that are complete by `now`. Returns how many.
  int Advance(model::TimeNs now);
  bool found() const { return period_ != 0; }
  std::size_t period() const { return period_; }
  std::uint64_t role() const { return role_; }  // equal for ranks that do the same in a step
  const std::deque<Cycle>& cycles() const { return cycles_; }
  std::uint64_t total() const { return total_; }

 private:
  struct Entry {
    const model::Operation* operation;
    std::uint64_t signature;  // what must repeat
    std::uint64_t role;       // what peers share: without ranks and communicators
  };
  void FindPeriod();
  bool IsRegular(std::size_t period) const;
  void Lose();
  Cycle Measure() const;

  std::deque<Entry>
      entries_;  // of the cycles not closed yet; before a period is found: the last ones
  std::size_t period_ = 0;
  std::size_t checked_ = 0;  // entries_ verified to repeat
  std::deque<std::uint64_t> expected_;
  std::uint64_t role_ = 0;
  std::size_t since_search_ = 0;
  model::TimeNs covered_ = 0;  // end of the operations of closed cycles
  std::deque<Cycle> cycles_;
  std::uint64_t total_ = 0;
};

}  // namespace c4::detect
