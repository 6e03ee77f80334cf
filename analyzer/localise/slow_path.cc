#include "analyzer/localise/slow_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/localise/configuration.h"
#include "analyzer/localise/hardware.h"
#include "analyzer/localise/nic_clues.h"
#include "analyzer/localise/path.h"
#include "analyzer/localise/shared_nic.h"
#include "analyzer/model/describe.h"

namespace c4::localise {
namespace {

using model::Finding;
using model::PathState;
using model::TimeNs;

// Hardware evidence counts this long before the slowness was first seen.
constexpr model::DurationNs kEvidenceBefore = 60 * model::kSecond;
// More equal suspects than a link and its two ends are no diagnosis.
constexpr std::size_t kSuspectsMax = 3;
// Slow transfers without a part are worth an operator's look when they are this slow for this long:
// a busy host makes them slow too, for seconds.
constexpr double kVagueRatio = 1.5;
constexpr model::DurationNs kVagueTime = 30 * model::kSecond;
// Of what the operator declared to be the longest normal collective.
constexpr double kExpectedRatio = 1.5;

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

// Ranks that every slow path has.
std::vector<int> CommonRanks(const model::JobModel& job, const std::vector<PathState>& paths) {
  std::vector<int> common;
  bool first = true;
  for (const PathState& state : paths) {
    if (!state.slow) {
      continue;
    }
    std::vector<int> ranks = job.MustStart(*state.example);
    ranks.push_back(state.example->rank);
    std::sort(ranks.begin(), ranks.end());
    if (!first) {
      std::erase_if(ranks, [&](int rank) {
        return std::find(common.begin(), common.end(), rank) == common.end();
      });
    }
    common = std::move(ranks);
    first = false;
  }
  return common;
}

// Slower than the operator says is normal, whatever their past.
void MarkUnexpected(const Context& context, std::vector<PathState>* paths) {
  const double expected = context.facts.job().expected_collective_seconds * 1e9;
  for (PathState& state : *paths) {
    if (expected > 0 && !state.slow && state.now_ns >= kExpectedRatio * expected) {
      state.slow = state.informative = true;
      state.past_ns = expected;
      state.onset = state.certain = context.now;
    }
  }
}

void NameNobody(const Context& context, double ratio, TimeNs certain, Finding* finding) {
  finding->confidence = 0.5;
  finding->action = model::action::kAlert;
  if (ratio < kVagueRatio || context.now - certain < kVagueTime) {
    finding->severity = model::Severity::kInfo;
  }
}

}  // namespace

std::optional<Finding> LocaliseSlowPaths(const Context& context,
                                         const std::vector<PathState>& all_paths,
                                         model::DurationNs step) {
  if (auto setting = FindSharedNicSlow(context, all_paths, step); setting.has_value()) {
    return setting;
  }
  const TimeNs now = context.now;
  std::vector<PathState> paths = all_paths;
  MarkUnexpected(context, &paths);
  Finding finding;
  std::vector<Path> shapes;
  std::vector<Path> used;
  double cost = 0;
  double ratio = 0;
  TimeNs onset = now;
  TimeNs certain = 0;
  std::size_t slow = 0;
  for (const PathState& state : paths) {
    Path path = PathOf(context.job, *state.example);
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
  const bool inside = place.suspects.empty();
  PromoteByHardware(context, CommonRanks(context.job, paths), onset - kEvidenceBefore, &place,
                    &finding);
  if (place.suspects.empty()) {
    finding.component.kind = model::component_kind::kUnknown;
    finding.weakened_by.push_back(
        "the slow transfers stay inside nodes: no data tells their links apart");
    NameNobody(context, ratio, certain, &finding);
  } else if (place.suspects.size() > kSuspectsMax ||
             place.suspects.front().component.kind == model::component_kind::kNetwork) {
    finding.component.kind = model::component_kind::kNetwork;
    finding.weakened_by.push_back(
        fmt::format("{} parts are equally suspect and nothing tells them "
                    "apart",
                    place.suspects.size()));
    place.reason = "which part of it is not known";
    NameNobody(context, ratio, certain, &finding);
  } else {
    for (model::Suspect& suspect : place.suspects) {
      NameRanks(context.job, &suspect.component);
    }
    finding.suspects = place.suspects;
    finding.component = place.suspects.front().component;
    finding.confidence = place.unique ? 0.9 : 0.6;
    // A path whose ends are both good elsewhere is not mended by taking one of them away.
    const bool part = place.unique && finding.component.kind != model::component_kind::kLink;
    finding.action = part ? model::action::kIsolateRestart : model::action::kAlert;
  }
  // Where the part is not certain yet, other paths may still turn slow: wait for one more second.
  const TimeNs confirmed = place.unique ? certain : certain + model::kSecond;
  finding.confirmed = confirmed <= now ? confirmed : 0;
  AddEvidence(paths, shapes, &finding);
  finding.evidence.push_back(
      {"collectives", now, "cost per step of the slowest path",
       100 * cost / static_cast<double>(std::max<model::DurationNs>(step, 1)), "% of the step"});
  const bool nowhere = inside && finding.component.kind == model::component_kind::kUnknown;
  finding.summary = fmt::format("Transfers take {:.1f} times as long as they did: {}, {}.", ratio,
                                nowhere ? "inside one node" : DescribePart(finding.component),
                                place.reason.empty() ? "which part is not known" : place.reason);
  return finding;
}

}  // namespace c4::localise
