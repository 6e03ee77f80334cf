// A rank that takes longer than its peers itself, step after step (non_communication_slow).
//
// Peers are ranks of the same role: the same operations in a step, and the same pipeline stage. Who
// waits for the slow one takes no longer than its peers itself and is not accused. Late once is no
// fault (garbage collection rotates): see persistence.h. Late in one part of the step only is
// uneven work (an expert with more tokens), unless it is the host that is late. Owner thread only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "analyzer/detect/peer_group.h"
#include "analyzer/detect/persistence.h"
#include "analyzer/model/finding.h"
#include "analyzer/model/job_model.h"

namespace c4::detect {

struct SlowRankOptions {
  // Below this share of the step nobody acts on it, and healthy GPUs differ by up to 2 %.
  double effect_min = 0.03;
  // Against the differences between the peers, in robust standard deviations.
  double outlier_min = 3;
  // Steps and time before it is said at all, and before it is certain. The time is for short
  // steps: a busy minute of a host outlasts four of them.
  int suspect_after = 4;
  int confirm_after = 5;
  model::DurationNs suspect_time = 2500 * model::kMillisecond;
  model::DurationNs confirm_time = 3500 * model::kMillisecond;
  // A host that is a little late may be busy with something for a while: below this excess, as a
  // share of the step, it takes this many times as long to believe it.
  double little = 0.06;
  int little_patience = 3;
  // Who is slow because the host is late: share of the excess that passed before the host called.
  double host_share = 0.5;
  // A slow GPU is slow everywhere: share of the computing time in which the excess must show.
  double spread_min = 0.6;
  // Others that are named beside the worst have at least this part of its excess.
  double second_min = 0.5;
};

class SlowRankDetector {
 public:
  explicit SlowRankDetector(const SlowRankOptions& options = {}) : options_(options) {}

  void Add(const model::JobModel& job, const model::Operation& operation) {
    rhythms_[operation.rank].Add(job, operation);
  }
  void Settle(const model::Operation& operation);
  // The worst first.
  std::vector<model::Finding> Detect(const model::JobModel& job, model::TimeNs now);

  model::DurationNs Step() const;  // median over ranks of the last steps; 0: no rhythm
  std::uint64_t Steps() const;

 private:
  struct Streak {
    Persistence excess;
    bool suspected = false;
    model::TimeNs confirmed = 0;
  };
  struct Slow {
    int rank = -1;
    Streak streak;
    double step_ns = 0;
    double sigma = 0;
    std::size_t peers = 0;
    double host_share = 0;
    double spread = 1;  // share of the computing time in which the excess shows
    bool host = false;
    bool uneven = false;
  };
  std::uint64_t StageOf(int rank, int depth) const;
  void Assign(int rank);
  void Judge(PeerGroup* group);
  std::vector<Slow> Collect() const;
  model::Finding Describe(const model::JobModel& job, const Slow& slow, model::TimeNs now) const;
  void MergeNodes(const model::JobModel& job, std::vector<model::Finding>* findings) const;

  const SlowRankOptions options_;
  std::map<int, RankRhythm> rhythms_;
  std::map<int, std::uint64_t> group_of_;
  std::map<std::uint64_t, PeerGroup> groups_;
  std::map<int, Streak> streaks_;
};

}  // namespace c4::detect
