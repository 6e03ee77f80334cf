// A rank whose own time is longer than its peers', step after step (non_communication_slow).
//
// Compares medians over the last steps of ranks with the same role; who waits for the slow one has
// an ordinary own time and is not accused. Late once is no fault (garbage collection rotates): the
// same rank must be slow in each of the last steps. Owns one CycleTracker per rank.
#pragma once

#include <map>
#include <vector>

#include "analyzer/detect/cycle.h"
#include "analyzer/model/finding.h"
#include "analyzer/model/job_model.h"

namespace c4::detect {

struct SlowRankOptions {
  // Below this share of the step nobody acts on it, and noise of a loaded host reaches it.
  double effect_min = 0.03;
  // Against the spread of the peers, in robust standard deviations.
  double z_min = 5;
  // Steps in a row, and time, before it is said at all, and before it is certain. The time is for
  // short steps: a busy minute of a host outlasts four of them.
  int suspect_after = 4;
  int confirm_after = 5;
  model::DurationNs suspect_time = 2500 * model::kMillisecond;
  model::DurationNs confirm_time = 3500 * model::kMillisecond;
  // Who is slow because the host is late: share of the excess that passed before the host called.
  double host_share = 0.5;
};

class SlowRankDetector {
 public:
  explicit SlowRankDetector(const SlowRankOptions& options = {}) : options_(options) {}

  void Add(const model::Operation* operation) { trackers_[operation->rank].Add(operation); }
  std::vector<model::Finding> Detect(const model::JobModel& job, model::TimeNs now);

  model::DurationNs Step() const;  // median over ranks of the last steps; 0: no rhythm
  std::uint64_t Steps() const;

 private:
  struct Streak {
    int steps = 0;
    int misses = 0;  // in a row
    bool suspected = false;
    model::TimeNs onset = 0;
    model::TimeNs confirmed = 0;
    double excess_ns = 0;
    double host_ns = 0;
    double effect = 0;
    double z = 0;
    std::size_t peers = 0;
  };
  void Judge(const std::vector<int>& peers, std::map<int, int>& closed);

  const SlowRankOptions options_;
  std::map<int, CycleTracker> trackers_;
  std::map<int, Streak> streaks_;
};

}  // namespace c4::detect
