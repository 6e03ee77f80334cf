#include "analyzer/detect/slow_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/detect/hash.h"
#include "analyzer/detect/statistics.h"
#include "analyzer/model/describe.h"

namespace c4::detect {
namespace {

using model::Finding;
using model::TimeNs;

// Noise below this share of the step is not believed: a quiet job would make everything
// significant.
constexpr double kSigmaMin = 0.004;
constexpr int kStagesMax = 1024;
// A place shows the excess when it has this part of what it would have if all places had alike.
constexpr double kShows = 0.3;

double SpreadOf(const Segments& segments) {
  double excess = 0;
  double usual = 0;
  for (std::size_t i = 0; i < segments.usual_ns.size(); ++i) {
    excess += segments.excess_ns[i];
    usual += segments.usual_ns[i];
  }
  if (usual <= 0 || excess <= 0) {
    return 1;
  }
  const double ratio = excess / usual;
  double showing = 0;
  for (std::size_t i = 0; i < segments.usual_ns.size(); ++i) {
    if (segments.excess_ns[i] >= kShows * ratio * segments.usual_ns[i]) {
      showing += segments.usual_ns[i];
    }
  }
  return showing / usual;
}

}  // namespace

void SlowRankDetector::Settle(const model::Operation& operation) {
  if (const auto found = rhythms_.find(operation.rank); found != rhythms_.end()) {
    found->second.Settle(operation);
  }
}

// Hops down the pipeline to its first stage.
std::uint64_t SlowRankDetector::StageOf(int rank, int depth) const {
  const auto rhythm = rhythms_.find(rank);
  if (rhythm == rhythms_.end() || rhythm->second.below().empty() || depth == kStagesMax) {
    return 0;
  }
  // The nearest of them.
  return 1 + StageOf(*rhythm->second.below().rbegin(), depth + 1);
}

void SlowRankDetector::Assign(int rank) {
  const RankRhythm& rhythm = rhythms_.at(rank);
  const std::uint64_t group =
      rhythm.found() ? HashMix(rhythm.role(), StageOf(rank, 0)) : std::uint64_t{0};
  std::uint64_t& current = group_of_[rank];
  if (group == current) {
    return;
  }
  if (const auto old = groups_.find(current); old != groups_.end()) {
    old->second.Leave(rank);
    if (old->second.size() == 0) {
      groups_.erase(old);
    }
  }
  streaks_.erase(rank);
  current = group;
  if (group != 0) {
    groups_.try_emplace(group, rhythm.offsets()).first->second.Join(rank);
  }
}

void SlowRankDetector::Judge(PeerGroup* group) {
  for (const PeerGroup::Excess& excess : group->Evaluate()) {
    Streak& streak = streaks_[excess.rank];
    const bool idle = !streak.excess.active();
    streak.excess.Add(excess.share, std::max(group->Sigma(), kSigmaMin), options_.effect_min,
                      excess.begin);
    group->SetSuspect(excess.rank, streak.excess.active(),
                      streak.excess.sum() >= Persistence::kSuspectSum);
    if (!streak.excess.active() || idle) {
      group->Forget(excess.rank);
    }
    if (!streak.excess.active()) {
      streak = Streak{};
      continue;
    }
    const Segments& segments = group->SegmentsOf(excess.rank);
    const bool host = segments.host_ns >= options_.host_share * segments.total_ns;
    const int patience =
        host && streak.excess.mean() < options_.little ? options_.little_patience : 1;
    const auto lasted = [&](int steps, model::DurationNs time) {
      return streak.excess.steps() >= patience * steps &&
             excess.end - streak.excess.onset() >= patience * time;
    };
    streak.suspected |= streak.excess.sum() >= Persistence::kSuspectSum &&
                        lasted(options_.suspect_after, options_.suspect_time);
    if (streak.confirmed == 0 && streak.excess.sum() >= Persistence::kConfirmSum &&
        lasted(options_.confirm_after, options_.confirm_time)) {
      streak.confirmed = excess.end;
    }
  }
}

std::vector<SlowRankDetector::Slow> SlowRankDetector::Collect() const {
  std::vector<Slow> slow;
  for (const auto& [rank, streak] : streaks_) {
    if (!streak.suspected || streak.excess.mean() < options_.effect_min) {
      continue;
    }
    const PeerGroup& group = groups_.at(group_of_.at(rank));
    if (streak.excess.mean() < options_.outlier_min * group.SigmaBetween()) {
      continue;
    }
    const Segments& segments = group.SegmentsOf(rank);
    Slow one{.rank = rank,
             .streak = streak,
             .step_ns = static_cast<double>(rhythms_.at(rank).span()),
             .sigma = std::max(group.Sigma(), kSigmaMin),
             .peers = group.size() - 1};
    one.host_share = segments.total_ns > 0 ? segments.host_ns / segments.total_ns : 0;
    one.spread = SpreadOf(segments);
    one.host = one.host_share >= options_.host_share;
    one.uneven = !one.host && one.spread < options_.spread_min;
    // Worth telling only when it is plain: nothing is broken.
    if (!one.uneven || (streak.confirmed != 0 && streak.excess.mean() >= options_.little)) {
      slow.push_back(std::move(one));
    }
  }
  std::stable_sort(slow.begin(), slow.end(), [](const Slow& a, const Slow& b) {
    return a.streak.excess.mean() > b.streak.excess.mean();
  });
  std::erase_if(slow, [&](const Slow& one) {
    return one.streak.excess.mean() < options_.second_min * slow.front().streak.excess.mean();
  });
  return slow;
}

Finding SlowRankDetector::Describe(const model::JobModel& job, const Slow& slow, TimeNs now) const {
  const Streak& streak = slow.streak;
  const bool host = slow.host;
  const bool uneven = slow.uneven;
  Finding finding;
  finding.verdict_class = model::verdict_class::kNonCommunicationSlow;
  finding.component =
      host || uneven ? model::RankComponent(job, slow.rank) : model::GpuComponent(job, slow.rank);
  finding.onset = streak.excess.onset();
  finding.confirmed = streak.confirmed;
  finding.severity = uneven ? model::Severity::kInfo : model::Severity::kFault;
  // Two peers cannot outvote a third as well as seven can.
  finding.confidence = slow.peers >= 3 ? 0.92 : 0.8;
  finding.action = host || uneven ? model::action::kAlert : model::action::kIsolateRestart;
  finding.anchor = fmt::format("slow/{}", slow.rank);
  const double excess_ns = streak.excess.mean() * slow.step_ns;
  finding.evidence.push_back(
      {"collectives", streak.excess.onset(),
       fmt::format("own time between collectives above the median of {} peers", slow.peers),
       excess_ns / 1e6, "ms per step"});
  finding.evidence.push_back(
      {"collectives", now, "share of the step", streak.excess.mean() * 100, "%"});
  finding.evidence.push_back({"collectives", now, "deviation from peers in a step",
                              streak.excess.mean() / slow.sigma, "sigma"});
  finding.evidence.push_back({"collectives", now,
                              "part of it before the host called (the GPU had nothing to do)",
                              100 * std::clamp(slow.host_share, 0.0, 1.0), "%"});
  finding.evidence.push_back(
      {"collectives", now, "share of the computing time that is longer", 100 * slow.spread, "%"});
  finding.evidence.push_back(
      {"collectives", now, "steps in a row", static_cast<double>(streak.excess.steps()), "steps"});
  const std::string amount =
      fmt::format("{} takes {} longer than its {} peers in a step, {:.0f} % of it",
                  model::DescribeRank(job, slow.rank),
                  model::Seconds(static_cast<model::DurationNs>(excess_ns)), slow.peers,
                  streak.excess.mean() * 100);
  finding.summary =
      host ? fmt::format("The process of {}: its host calls late, the GPU waits for work.", amount)
      : uneven ? fmt::format("The work of {}, in a part of the step only: uneven work.", amount)
               : fmt::format("The GPU of {}, with its host ahead of it.", amount);
  return finding;
}

// All ranks of a node and none besides: the node.
void SlowRankDetector::MergeNodes(const model::JobModel& job,
                                  std::vector<Finding>* findings) const {
  std::set<std::string> nodes;
  std::set<int> slow;
  for (const Finding& finding : *findings) {
    nodes.insert(finding.component.node);
    slow.insert(finding.component.rank.value_or(-1));
  }
  if (slow.size() < 2 || nodes.size() != 1 || nodes.begin()->empty()) {
    return;
  }
  for (const auto& [number, rank] : job.ranks()) {
    if (rank.info.node == *nodes.begin() && !slow.contains(number)) {
      return;
    }
  }
  Finding node = findings->front();
  node.component = {};
  node.component.kind = model::component_kind::kNode;
  node.component.node = *nodes.begin();
  node.anchor = "slow-node/" + *nodes.begin();
  node.action = model::action::kIsolateRestart;
  node.summary = fmt::format("All ranks of node {} are slow: {}", *nodes.begin(), node.summary);
  for (const Finding& finding : *findings) {
    node.suspects.push_back({finding.component, 0.5 / static_cast<double>(findings->size())});
  }
  node.suspects.insert(node.suspects.begin(), {node.component, 0.5});
  findings->assign(1, std::move(node));
}

std::vector<Finding> SlowRankDetector::Detect(const model::JobModel& job, TimeNs now) {
  for (auto& [rank, rhythm] : rhythms_) {
    rhythm.Advance(now);
  }
  for (auto& [rank, rhythm] : rhythms_) {
    std::vector<RankStep> steps = rhythm.Take();
    Assign(rank);
    const auto group = groups_.find(group_of_[rank]);
    for (RankStep& step : steps) {
      if (group != groups_.end()) {
        group->second.Add(rank, std::move(step));
      }
    }
  }
  for (auto& [key, group] : groups_) {
    if (group.size() > 1) {
      Judge(&group);
    }
  }
  std::vector<Finding> findings;
  for (const Slow& slow : Collect()) {
    findings.push_back(Describe(job, slow, now));
  }
  MergeNodes(job, &findings);
  return findings;
}

model::DurationNs SlowRankDetector::Step() const {
  std::vector<double> spans;
  for (const auto& [rank, rhythm] : rhythms_) {
    if (rhythm.found() && rhythm.span() != 0) {
      spans.push_back(static_cast<double>(rhythm.span()));
    }
  }
  return static_cast<model::DurationNs>(Median(spans));
}

std::uint64_t SlowRankDetector::Steps() const {
  std::uint64_t steps = 0;
  for (const auto& [rank, rhythm] : rhythms_) {
    steps = std::max(steps, rhythm.total());
  }
  return steps;
}

}  // namespace c4::detect
