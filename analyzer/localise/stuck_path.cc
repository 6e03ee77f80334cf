#include "analyzer/localise/stuck_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyzer/localise/hardware.h"
#include "analyzer/localise/path.h"
#include "analyzer/model/describe.h"

namespace c4::localise {
namespace {

using model::Finding;
using model::JobModel;
using model::Operation;
using model::TimeNs;

// Paths on which something that began after the stuck ones still went through.
std::vector<Path> GoodPaths(const JobModel& job, TimeNs stuck_since, TimeNs now) {
  std::map<std::string, Path> paths;
  for (const auto& [number, rank] : job.ranks()) {
    for (auto operation = rank.operations.rbegin(); operation != rank.operations.rend();
         ++operation) {
      if (operation->EndedBy(now) && operation->end > stuck_since && operation->member >= 0 &&
          operation->start > stuck_since) {
        const Path path = PathOf(job, *operation);
        paths.emplace(path.label, path);
      }
    }
  }
  std::vector<Path> good;
  for (auto& [label, path] : paths) {
    good.push_back(path);
  }
  return good;
}

std::vector<model::Suspect> EveryNic(const std::vector<Path>& paths) {
  std::set<Endpoint> ends;
  for (const Path& path : paths) {
    if (path.bad) {
      ends.insert(path.endpoints.begin(), path.endpoints.end());
    }
  }
  std::vector<model::Suspect> suspects;
  for (const Endpoint& end : ends) {
    model::Component component;
    component.kind = model::component_kind::kNic;
    component.node = end.node;
    component.nic = end.nic;
    suspects.push_back({component, 1.0 / static_cast<double>(ends.size())});
  }
  return suspects;
}

}  // namespace

Finding StuckPathFinding(const JobModel& job, const model::NodeFacts& nodes, const WaitGraph& graph,
                         const HangTimes& times, TimeNs now, const HangOptions& options) {
  Finding finding;
  finding.verdict_class = model::verdict_class::kCommunicationHang;
  finding.onset = times.onset;
  finding.victims = graph.waiting;
  finding.action = model::action::kIsolateRestart;
  const TimeNs confirmed = times.suspected + options.confirm_after;
  finding.confirmed = confirmed <= now ? confirmed : 0;

  TimeNs stuck_since = now;
  std::map<std::string, Path> stuck;
  const Operation* first = nullptr;
  for (const Operation* operation : graph.full) {
    Path path = PathOf(job, *operation);
    path.bad = true;
    if (stuck.emplace(path.label, path).second && stuck.size() <= 4) {
      finding.evidence.push_back(
          {"collectives", operation->start,
           "everybody has started and nobody ended: " + model::Describe(job, *operation),
           static_cast<double>(now - operation->start) / 1e9, "s"});
    }
    // Stuck from when its last member came: before that it was only waiting.
    TimeNs complete = operation->start;
    if (const model::Instance* instance = job.InstanceOf(*operation); instance != nullptr) {
      for (const Operation* member : instance->members) {
        complete = std::max(complete, member->StartedBy(now) ? member->start : 0);
      }
    }
    if (complete < stuck_since) {
      stuck_since = complete;
      first = operation;
    }
  }
  finding.anchor = model::AnchorOf(job, first == nullptr ? *graph.full.front() : *first);
  std::vector<Path> paths;
  for (auto& [label, path] : stuck) {
    paths.push_back(path);
  }
  for (Path& path : GoodPaths(job, stuck_since, now)) {
    if (!stuck.contains(path.label)) {
      paths.push_back(std::move(path));
    }
  }
  Localisation place = Intersect(paths);
  if (!place.suspects.empty() &&
      place.suspects.front().component.kind == model::component_kind::kNetwork) {
    // The paths tell nothing apart: any NIC of a stuck one, if its hardware speaks against it.
    Localisation any = place;
    any.suspects = EveryNic(paths);
    PromoteByHardware(nodes, times.onset - options.evidence_before, now, &any, &finding);
    if (any.unique) {
      place = any;
    }
  } else {
    PromoteByHardware(nodes, times.onset - options.evidence_before, now, &place, &finding);
  }
  const std::string what = model::Describe(job, first == nullptr ? *graph.full.front() : *first);
  if (place.suspects.empty()) {
    finding.component.kind = model::component_kind::kUnknown;
    finding.confidence = 0.5;
    finding.action = model::action::kRestart;
    finding.summary = fmt::format(
        "Every member is inside {} and none leaves it; its members share one node, and nothing "
        "tells which of its parts is at fault.",
        what);
    finding.weakened_by.push_back("no data on the paths inside a node");
    return finding;
  }
  finding.suspects = place.suspects;
  finding.component = place.suspects.front().component;
  finding.confidence = place.unique ? 0.9 : 0.6;
  if (!place.unique) {
    finding.action = model::action::kRestart;
  }
  finding.summary = fmt::format("Every member is inside {} and none leaves it: {}, {}.", what,
                                DescribePart(finding.component), place.reason);
  return finding;
}

}  // namespace c4::localise
