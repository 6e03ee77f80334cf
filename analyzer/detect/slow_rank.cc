#include "analyzer/detect/slow_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/model/describe.h"

namespace c4::detect {
namespace {

using model::TimeNs;

constexpr std::size_t kWindow = 4;  // steps that a rank's present is judged by

template <typename T>
double Median(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n == 0
             ? 0
             : (static_cast<double>(values[(n - 1) / 2]) + static_cast<double>(values[n / 2])) / 2;
}

struct Present {
  double own = 0;
  double host = 0;
  double span = 0;
};

Present PresentOf(const CycleTracker& tracker) {
  std::vector<model::DurationNs> own;
  std::vector<model::DurationNs> host;
  std::vector<model::DurationNs> span;
  const std::size_t size = tracker.cycles().size();
  for (std::size_t i = size - std::min(size, kWindow); i < size; ++i) {
    own.push_back(tracker.cycles()[i].own);
    host.push_back(tracker.cycles()[i].host);
    span.push_back(tracker.cycles()[i].span());
  }
  return {Median(own), Median(host), Median(span)};
}

}  // namespace

void SlowRankDetector::Judge(const std::vector<int>& peers, std::map<int, int>& closed) {
  std::map<int, Present> present;
  std::vector<double> spans;
  for (const int rank : peers) {
    present[rank] = PresentOf(trackers_.at(rank));
    spans.push_back(present[rank].span);
  }
  const double span = Median(spans);
  for (const int rank : peers) {
    if (closed[rank] == 0) {
      continue;
    }
    std::vector<double> own;
    std::vector<double> host;
    for (const int other : peers) {
      if (other != rank) {
        own.push_back(present[other].own);
        host.push_back(present[other].host);
      }
    }
    const double middle = Median(own);
    std::vector<double> deviations;
    for (const double value : own) {
      deviations.push_back(std::abs(value - middle));
    }
    // 1.4826 makes the MAD of a normal distribution its standard deviation; half a percent of the
    // step keeps a perfect simulation, or a single peer, from making everything significant.
    const double sigma = 1.4826 * Median(deviations) + 0.005 * span;
    Streak& streak = streaks_[rank];
    // Each of the steps that closed, against what the peers do at present.
    const auto& cycles = trackers_.at(rank).cycles();
    const int fresh = std::min<int>(closed[rank], static_cast<int>(cycles.size()));
    for (std::size_t i = cycles.size() - static_cast<std::size_t>(fresh); i < cycles.size(); ++i) {
      const double excess = static_cast<double>(cycles[i].own) - middle;
      if (excess < options_.effect_min * span || excess < options_.z_min * sigma) {
        // One step on time in between is noise of the others' median; two are an end.
        if (++streak.misses > 1) {
          streak = Streak{};
        }
        continue;
      }
      streak.misses = 0;
      if (streak.steps++ == 0) {
        streak.onset = cycles[i].begin;
      }
      const model::DurationNs lasted = cycles[i].end - streak.onset;
      streak.suspected |= streak.steps >= options_.suspect_after && lasted >= options_.suspect_time;
      if (streak.confirmed == 0 && streak.steps >= options_.confirm_after &&
          lasted >= options_.confirm_time) {
        streak.confirmed = cycles[i].end;
      }
    }
    if (streak.steps > 0) {
      streak.excess_ns = present[rank].own - middle;
      streak.host_ns = present[rank].host - Median(host);
      streak.effect = span > 0 ? streak.excess_ns / span : 0;
      streak.z = streak.excess_ns / sigma;
      streak.peers = own.size();
    }
  }
}

std::vector<model::Finding> SlowRankDetector::Detect(const model::JobModel& job, TimeNs now) {
  std::map<int, int> closed;
  std::map<std::uint64_t, std::vector<int>> roles;
  for (auto& [rank, tracker] : trackers_) {
    closed[rank] = tracker.Advance(now);
    if (tracker.found() &&
        tracker.cycles().size() >= static_cast<std::size_t>(options_.suspect_after)) {
      roles[tracker.role()].push_back(rank);
    } else {
      streaks_[rank] = Streak{};
    }
  }
  for (const auto& [role, peers] : roles) {
    if (peers.size() > 1) {
      Judge(peers, closed);
    }
  }
  std::vector<model::Finding> findings;
  for (const auto& [rank, streak] : streaks_) {
    if (!streak.suspected || streak.excess_ns <= 0) {
      continue;
    }
    const bool host = streak.host_ns >= options_.host_share * streak.excess_ns;
    model::Finding finding;
    finding.verdict_class = model::verdict_class::kNonCommunicationSlow;
    finding.component = host ? model::RankComponent(job, rank) : model::GpuComponent(job, rank);
    finding.onset = streak.onset;
    finding.confirmed = streak.confirmed;
    // Two peers cannot outvote a third as well as seven can.
    finding.confidence = streak.peers >= 3 ? 0.92 : 0.8;
    finding.action = host ? model::action::kAlert : model::action::kIsolateRestart;
    finding.anchor = fmt::format("slow/{}", rank);
    finding.evidence.push_back(
        {"collectives", streak.onset,
         fmt::format("own time between collectives above the median of {} peers", streak.peers),
         streak.excess_ns / 1e6, "ms per step"});
    finding.evidence.push_back({"collectives", now, "share of the step", streak.effect * 100, "%"});
    finding.evidence.push_back({"collectives", now, "deviation from peers", streak.z, "sigma"});
    finding.evidence.push_back(
        {"collectives", now, "part of it before the host called (the GPU had nothing to do)",
         100 * std::clamp(streak.host_ns / streak.excess_ns, 0.0, 1.0), "%"});
    finding.evidence.push_back(
        {"collectives", now, "steps in a row", static_cast<double>(streak.steps), "steps"});
    finding.summary = fmt::format(
        "{} of {} takes {} longer than its {} peers in every step, {:.0f} % of the step{}.",
        host ? "The process" : "The GPU", model::DescribeRank(job, rank),
        model::Seconds(static_cast<model::DurationNs>(streak.excess_ns)), streak.peers,
        streak.effect * 100,
        host ? ": its host calls late, the GPU waits for work" : ", with its host ahead of it");
    findings.push_back(std::move(finding));
  }
  // The largest excess first: a second one may only be its echo.
  std::stable_sort(findings.begin(), findings.end(), [](const auto& a, const auto& b) {
    return a.evidence[0].value > b.evidence[0].value;
  });
  return findings;
}

model::DurationNs SlowRankDetector::Step() const {
  std::vector<double> spans;
  for (const auto& [rank, tracker] : trackers_) {
    if (tracker.found() && !tracker.cycles().empty()) {
      spans.push_back(PresentOf(tracker).span);
    }
  }
  return static_cast<model::DurationNs>(Median(spans));
}

std::uint64_t SlowRankDetector::Steps() const {
  std::uint64_t steps = 0;
  for (const auto& [rank, tracker] : trackers_) {
    steps = std::max(steps, tracker.total());
  }
  return steps;
}

}  // namespace c4::detect
