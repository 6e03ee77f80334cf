#include "analyzer/localise/slow_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/localise/hardware.h"
#include "analyzer/localise/path.h"
#include "analyzer/model/describe.h"

namespace c4::localise {
namespace {

using model::Finding;
using model::PathState;
using model::TimeNs;

// Hardware evidence counts this long before the slowness was first seen.
constexpr model::DurationNs kEvidenceBefore = 60 * model::kSecond;

void AddEvidence(const std::vector<PathState>& paths, const std::vector<Path>& shapes,
                 Finding* finding) {
  int slow = 0;
  int good = 0;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (shapes[i].endpoints.size() < 2 || (!paths[i].slow && !paths[i].informative)) {
      continue;
    }
    if ((paths[i].slow ? slow : good)++ < 4) {
      finding->evidence.push_back(
          {"collectives", paths[i].onset,
           fmt::format("{}: transfer {} now, {} before{}", shapes[i].label,
                       model::Seconds(static_cast<model::DurationNs>(paths[i].now_ns)),
                       model::Seconds(static_cast<model::DurationNs>(paths[i].past_ns)),
                       paths[i].slow ? "" : " (not slow)"),
           paths[i].ratio(), "x"});
    }
  }
}

}  // namespace

std::optional<Finding> LocaliseSlowPaths(const model::JobModel& job, const model::NodeFacts& nodes,
                                         const std::vector<PathState>& paths,
                                         model::DurationNs step, TimeNs now) {
  Finding finding;
  std::vector<Path> shapes;
  std::vector<Path> used;
  double cost = 0;
  double ratio = 0;
  TimeNs onset = now;
  TimeNs certain = 0;
  std::size_t slow = 0;
  for (const PathState& state : paths) {
    Path path = PathOf(job, *state.example);
    path.bad = state.slow;
    shapes.push_back(path);
    if (state.slow) {
      ++slow;
      cost = std::max(cost, (state.now_ns - state.past_ns) * state.per_step);
      ratio = std::max(ratio, state.ratio());
      onset = std::min(onset, state.onset);
      certain = certain == 0 ? state.certain : std::min(certain, state.certain);
    }
    if (state.slow || state.informative) {
      used.push_back(path);
    }
  }
  if (certain == 0) {
    return std::nullopt;
  }
  finding.verdict_class = model::verdict_class::kCommunicationSlow;
  finding.onset = onset;
  finding.anchor = "slow-path";
  Localisation place = Intersect(used);
  if (!place.suspects.empty() &&
      place.suspects.front().component.kind == model::component_kind::kNetwork &&
      slow * 2 < used.size()) {
    // Everything that the few slow paths use works for others: not a part of the network.
    return std::nullopt;
  }
  if (place.suspects.empty()) {
    finding.component.kind = model::component_kind::kUnknown;
    finding.confidence = 0.5;
    finding.action = model::action::kAlert;
    finding.weakened_by.push_back(
        "the slow transfers stay inside nodes: no data tells their links apart");
  } else {
    PromoteByHardware(nodes, onset - kEvidenceBefore, now, &place, &finding);
    finding.suspects = place.suspects;
    finding.component = place.suspects.front().component;
    finding.confidence = place.unique ? 0.9 : 0.6;
    finding.action = place.unique ? model::action::kIsolateRestart : model::action::kAlert;
  }
  if (finding.component.kind == model::component_kind::kUnknown ||
      finding.component.kind == model::component_kind::kNetwork) {
    // Worth saying, accuses nothing: a busy host makes transfers slow too.
    finding.severity = model::Severity::kInfo;
  }
  // Where the part is not certain yet, other paths may still turn slow: wait for one more second.
  const TimeNs confirmed = place.unique ? certain : certain + model::kSecond;
  finding.confirmed = confirmed <= now ? confirmed : 0;
  AddEvidence(paths, shapes, &finding);
  finding.evidence.push_back(
      {"collectives", now, "cost per step of the slowest path",
       100 * cost / static_cast<double>(std::max<model::DurationNs>(step, 1)), "% of the step"});
  finding.summary = fmt::format("Transfers take {:.1f} times as long as they did: {}, {}.", ratio,
                                finding.component.kind == model::component_kind::kUnknown
                                    ? "inside one node"
                                    : DescribePart(finding.component),
                                place.reason.empty() ? "which part is not known" : place.reason);
  return finding;
}

}  // namespace c4::localise
