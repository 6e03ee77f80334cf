#include "analyzer/localise/clock_offsets.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace c4::localise {

using model::Operation;
using model::TimeNs;

ClockOffsets::Edge ClockOffsets::At(const Bound& bound, TimeNs at) {
  const double widened = kDrift * std::abs(static_cast<double>(at - bound.time));
  return {bound.lower - widened, bound.upper + widened};
}

void ClockOffsets::Tighten(const std::string& from, const std::string& to, const Bound& fresh) {
  const auto [entry, added] = bounds_.try_emplace({from, to}, fresh);
  if (added) {
    return;
  }
  Bound& bound = entry->second;
  const TimeNs at = std::max(bound.time, fresh.time);
  const Edge old = At(bound, at);
  const Edge now = At(fresh, at);
  if (std::max(old.lower, now.lower) > std::min(old.upper, now.upper)) {
    bound = fresh;  // they contradict each other: a clock was set
    return;
  }
  bound = {at, std::max(old.lower, now.lower), std::min(old.upper, now.upper)};
}

void ClockOffsets::Forget(TimeNs now) {
  std::erase_if(bounds_, [&](const auto& entry) { return now - entry.second.time > kAgeMax; });
  if (bounds_.size() > kEdgesMax) {
    bounds_.clear();
  }
}

void ClockOffsets::Add(const model::JobModel& job, const model::Instance& instance) {
  if (instance.members.empty() || instance.members.front()->kind != model::Dependency::kAll) {
    return;
  }
  struct Times {
    TimeNs last_start = 0;
    TimeNs first_end = 0;
  };
  std::map<std::string, Times> nodes;
  for (const Operation* member : instance.members) {
    const std::string node = job.NodeOf(member->rank);
    if (node.empty() || member->start == 0 || member->end < member->start) {
      continue;
    }
    const auto [entry, added] = nodes.try_emplace(node, Times{member->start, member->end});
    entry->second.last_start = std::max(entry->second.last_start, member->start);
    entry->second.first_end = std::min(entry->second.first_end, member->end);
  }
  if (nodes.size() < 2) {
    return;
  }
  // A star: pairs would cost the square of the nodes, and closing the graph gives them anyway. The
  // hub is the node that came last: its operation is the shortest and bounds the others best.
  const auto hub = std::min_element(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) {
    return a.second.first_end - a.second.last_start < b.second.first_end - b.second.last_start;
  });
  for (const auto& [node, times] : nodes) {
    if (node == hub->first) {
      continue;
    }
    Bound bound;
    bound.time = times.first_end;
    bound.lower = static_cast<double>(times.last_start - hub->second.first_end);
    bound.upper = static_cast<double>(times.first_end - hub->second.last_start);
    if (bound.lower > bound.upper) {
      continue;  // the times are not true
    }
    // One direction per pair.
    if (hub->first < node) {
      Tighten(hub->first, node, bound);
    } else {
      Tighten(node, hub->first, {bound.time, -bound.upper, -bound.lower});
    }
  }
  if (bounds_.size() > kEdgesMax) {
    Forget(hub->second.first_end);
  }
}

// Bellman and Ford: the lowest upper and the highest lower bound over all ways.
std::map<std::string, ClockOffsets::Offset> ClockOffsets::Relative(const std::string& reference,
                                                                   TimeNs at) const {
  struct Range {
    double lower = 0;
    double upper = 0;
  };
  struct Way {
    std::string from;
    std::string to;
    Edge edge;
  };
  std::vector<Way> ways;
  for (const auto& [pair, bound] : bounds_) {
    if (std::abs(at - bound.time) <= kAgeMax) {
      const Edge edge = At(bound, at);
      ways.push_back({pair.first, pair.second, edge});
      ways.push_back({pair.second, pair.first, {-edge.upper, -edge.lower}});
    }
  }
  std::map<std::string, Range> ranges{{reference, {}}};
  // A way through more nodes than this is not tighter than a shorter one in practice.
  constexpr int kHopsMax = 16;
  bool changed = true;
  for (int hop = 0; hop < kHopsMax && changed; ++hop) {
    changed = false;
    for (const Way& way : ways) {
      const auto from = ranges.find(way.from);
      if (from == ranges.end() || way.to == reference) {
        continue;
      }
      const Range next{from->second.lower + way.edge.lower, from->second.upper + way.edge.upper};
      const auto [to, added] = ranges.try_emplace(way.to, next);
      Range& known = to->second;
      if (!added && next.lower <= known.lower && next.upper >= known.upper) {
        continue;
      }
      known = {std::max(known.lower, next.lower), std::min(known.upper, next.upper)};
      changed = true;
    }
  }
  std::map<std::string, Offset> offsets;
  for (const auto& [node, range] : ranges) {
    if (range.lower <= range.upper) {
      offsets[node] = {static_cast<model::DurationNs>((range.lower + range.upper) / 2),
                       static_cast<model::DurationNs>((range.upper - range.lower) / 2) + 1};
    }
  }
  return offsets;
}

std::optional<ClockOffsets::Offset> ClockOffsets::Between(const std::string& from,
                                                          const std::string& to, TimeNs at) const {
  const auto offsets = Relative(from, at);
  const auto found = offsets.find(to);
  return found == offsets.end() ? std::nullopt : std::optional<Offset>(found->second);
}

}  // namespace c4::localise
