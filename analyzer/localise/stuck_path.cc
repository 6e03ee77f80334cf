#include "analyzer/localise/stuck_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyzer/localise/configuration.h"
#include "analyzer/localise/flow_matrix.h"
#include "analyzer/localise/gpu_clues.h"
#include "analyzer/localise/hardware.h"
#include "analyzer/localise/nic_clues.h"
#include "analyzer/localise/path.h"
#include "analyzer/model/describe.h"

namespace c4::localise {
namespace {

using model::Finding;
using model::JobModel;
using model::Operation;
using model::TimeNs;

// More equal suspects than a link and its two ends are no diagnosis: one of them would be a guess.
constexpr std::size_t kSuspectsMax = 3;

// The stuck operations, and what is known of the paths they take.
struct Stuck {
  const Operation* first = nullptr;  // the one that was complete, and stuck, first
  TimeNs since = 0;                  // when its last member came: before that it only waited
  std::vector<int> ranks;            // its members
  std::vector<Path> paths;           // stuck ones, and those on which something still went through
};

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

Stuck Collect(const Context& context, const WaitGraph& graph, Finding* finding) {
  Stuck stuck;
  stuck.since = context.now;
  std::map<std::string, Path> paths;
  for (const Operation* operation : graph.full) {
    Path path = PathOf(context.job, *operation);
    path.bad = true;
    if (paths.emplace(path.label, path).second && paths.size() <= 4) {
      finding->evidence.push_back(
          {"collectives", operation->start,
           "everybody has started and nobody ended: " + model::Describe(context.job, *operation),
           static_cast<double>(context.now - operation->start) / 1e9, "s"});
    }
    TimeNs complete = operation->start;
    if (const model::Instance* instance = context.job.InstanceOf(*operation); instance != nullptr) {
      for (const Operation* member : instance->members) {
        complete = std::max(complete, member->StartedBy(context.now) ? member->start : 0);
      }
    }
    if (stuck.first == nullptr || complete < stuck.since) {
      stuck.since = complete;
      stuck.first = operation;
    }
  }
  stuck.ranks = context.job.MustStart(*stuck.first);
  stuck.ranks.push_back(stuck.first->rank);
  for (auto& [label, path] : paths) {
    stuck.paths.push_back(path);
  }
  for (Path& path : GoodPaths(context.job, stuck.since, context.now)) {
    if (!paths.contains(path.label)) {
      stuck.paths.push_back(std::move(path));
    }
  }
  return stuck;
}

// No operation of the communicator has ever ended: what is wrong may have been so from the start.
bool NeverWorked(const Context& context, const Operation& stuck) {
  for (const auto& [number, rank] : context.job.ranks()) {
    for (const Operation& operation : rank.operations) {
      if (operation.communicator == stuck.communicator &&
          (operation.EndedBy(context.now) || (operation.sequence > 0 && stuck.sequence > 0))) {
        return false;
      }
    }
  }
  return true;
}

// Clues on parts that something has gone through since are acquitted.
std::vector<Clue> Clues(const Context& context, const Stuck& stuck, TimeNs from, NicClues* nics) {
  *nics = FindNicClues(context, stuck.ranks, from);
  std::vector<Clue> clues = GpuClues(context, stuck.ranks, from);
  clues.insert(clues.end(), nics->clues.begin(), nics->clues.end());
  if (auto flow = StuckConnection(context, stuck.ranks, stuck.since); flow.has_value()) {
    clues.push_back(*std::move(flow));
  }
  std::erase_if(clues, [&](const Clue& clue) {
    return clue.part.kind == model::component_kind::kNic &&
           std::any_of(stuck.paths.begin(), stuck.paths.end(), [&](const Path& path) {
             return !path.bad && path.endpoints.size() > 1 &&
                    path.endpoints.contains({clue.part.node, clue.part.nic});
           });
  });
  return Joined(std::move(clues));
}

void BlameClue(const Clue& clue, const std::string& what, Finding* finding) {
  finding->component = clue.part;
  finding->suspects = {{clue.part, 1.0}};
  finding->evidence.insert(finding->evidence.end(), clue.evidence.begin(), clue.evidence.end());
  // What NVIDIA or the counters call broken; below that, likely.
  finding->confidence = clue.weight >= 30 ? 0.92 : 0.8;
  const bool setting = clue.part.kind == model::component_kind::kConfig || clue.application;
  finding->action = setting ? model::action::kAlert : model::action::kIsolateRestart;
  finding->summary = fmt::format(
      "Every member is inside {} and none leaves it: {}, by its own "
      "evidence.",
      what, DescribePart(clue.part));
}

// Two GPUs of one machine that have both worked with others: the path between the two.
bool BlamePair(const Context& context, const Stuck& stuck, const std::string& what,
               Finding* finding) {
  if (stuck.ranks.size() != 2 || context.job.NodesOf(stuck.ranks).size() != 1) {
    return false;
  }
  for (const int number : stuck.ranks) {
    const auto rank = context.job.ranks().find(number);
    const bool works =
        rank != context.job.ranks().end() &&
        std::any_of(rank->second.operations.begin(), rank->second.operations.end(),
                    [&](const Operation& operation) {
                      return operation.EndedBy(context.now) &&
                             operation.communicator != stuck.first->communicator &&
                             context.job.communicator(operation.communicator).ranks.size() > 1;
                    });
    if (!works) {
      return false;
    }
  }
  // In the order of their communicator.
  const std::vector<int>& members = context.job.communicator(stuck.first->communicator).ranks;
  const auto place = [&](int rank) { return std::find(members.begin(), members.end(), rank); };
  const bool in_order = place(stuck.ranks[0]) < place(stuck.ranks[1]);
  finding->component.kind = model::component_kind::kLink;
  finding->component.rank = stuck.ranks[in_order ? 0 : 1];
  finding->component.peer_rank = stuck.ranks[in_order ? 1 : 0];
  finding->component.node = finding->component.peer_node = context.job.NodeOf(stuck.ranks[0]);
  finding->suspects = {{finding->component, 1.0}};
  finding->confidence = 0.75;
  finding->action = model::action::kAlert;
  finding->summary = fmt::format(
      "Both members are inside {} and neither leaves it, while each works with others: {}.", what,
      DescribePart(finding->component));
  return true;
}

void BlamePaths(const Stuck& stuck, const std::vector<Clue>& clues, const std::string& what,
                Finding* finding) {
  Localisation place = Intersect(stuck.paths);
  // Weak evidence decides between few.
  if (!place.suspects.empty() && place.suspects.size() <= kSuspectsMax) {
    for (const Clue& clue : clues) {
      const auto found = std::find_if(place.suspects.begin(), place.suspects.end(),
                                      [&](const model::Suspect& suspect) {
                                        return suspect.component.kind == clue.part.kind &&
                                               suspect.component.node == clue.part.node &&
                                               suspect.component.nic == clue.part.nic;
                                      });
      if (found != place.suspects.end() && clue.weight >= 5) {
        std::rotate(place.suspects.begin(), found, found + 1);
        finding->evidence.insert(finding->evidence.end(), clue.evidence.begin(),
                                 clue.evidence.end());
        break;
      }
    }
    finding->suspects = place.suspects;
    finding->component = place.suspects.front().component;
    finding->confidence = place.unique ? 0.9 : 0.6;
    finding->action = place.unique ? model::action::kIsolateRestart : model::action::kRestart;
    finding->summary = fmt::format("Every member is inside {} and none leaves it: {}, {}.", what,
                                   DescribePart(finding->component), place.reason);
    return;
  }
  finding->component.kind = model::component_kind::kUnknown;
  finding->confidence = 0.5;
  finding->action = model::action::kRestart;
  const std::set<std::string> nodes = [&] {
    std::set<std::string> names;
    for (const Path& path : stuck.paths) {
      for (const Endpoint& end : path.endpoints) {
        names.insert(end.node);
      }
    }
    return names;
  }();
  const char* why = nodes.size() > 1
                        ? "no data on its connections, and nothing tells its parts apart"
                        : "no data on the paths inside a node";
  finding->weakened_by.push_back(why);
  finding->summary = fmt::format(
      "Every member is inside {} and none leaves it; unknown, because "
      "there is {}.",
      what, why);
}

}  // namespace

Finding StuckPathFinding(const Context& context, const WaitGraph& graph, const HangTimes& times,
                         const HangOptions& options) {
  Finding finding;
  finding.verdict_class = model::verdict_class::kCommunicationHang;
  finding.onset = times.onset;
  finding.victims = graph.waiting;
  const TimeNs confirmed = times.suspected + options.confirm_after;
  finding.confirmed = confirmed <= context.now ? confirmed : 0;
  const Stuck stuck = Collect(context, graph, &finding);
  finding.anchor = model::AnchorOf(context.job, *stuck.first);
  const std::string what = model::Describe(context.job, *stuck.first);
  NicClues nics;
  const std::vector<Clue> clues =
      Clues(context, stuck, times.onset - options.evidence_before, &nics);
  Clue node;
  if (const Clue* decisive = Decisive(clues, &node); decisive != nullptr) {
    BlameClue(*decisive, what, &finding);
    return finding;
  }
  finding.evidence.insert(finding.evidence.end(), nics.symmetric.begin(), nics.symmetric.end());
  if (NeverWorked(context, *stuck.first)) {
    const Configuration configuration =
        CompareNodes(context, context.job.NodesOf(stuck.ranks), Symptom::kHang);
    finding.summary = fmt::format(
        "Every member is inside {}, the first of its communicator, and "
        "none leaves it: it has never worked.",
        what);
    if (!configuration.differences.empty() || !configuration.shared.empty()) {
      BlameConfiguration(configuration, &finding);
      return finding;
    }
    if (!nics.symmetric.empty()) {
      // Both sides fail to reach each other and no port lost its link.
      finding.component.kind = model::component_kind::kConfig;
      finding.confidence = 0.5;
      finding.action = model::action::kAlert;
      finding.summary +=
          " Both sides fail alike and no port lost its link: addressing or configuration.";
      finding.weakened_by.push_back("no setting is known to differ between the nodes");
      return finding;
    }
    finding.weakened_by.push_back(
        "the communicator has never worked: a configuration is as likely as a part");
  } else if (!nics.symmetric.empty()) {
    finding.weakened_by.push_back("errors on several sides accuse each other");
  }
  if (!NeverWorked(context, *stuck.first) || !BlamePair(context, stuck, what, &finding)) {
    BlamePaths(stuck, clues, what, &finding);
  }
  return finding;
}

}  // namespace c4::localise
