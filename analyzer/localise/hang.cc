#include "analyzer/localise/hang.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/localise/stuck_path.h"
#include "analyzer/model/describe.h"

namespace c4::localise {
namespace {

using model::Evidence;
using model::Finding;
using model::JobModel;
using model::TimeNs;

std::vector<int> Victims(const WaitGraph& graph, int culprit) {
  std::vector<int> victims = graph.waiting;
  std::erase(victims, culprit);
  return victims;
}

void AddHostState(const JobModel& job, int rank, TimeNs now, Finding* finding) {
  const auto found = job.ranks().find(rank);
  if (found == job.ranks().end()) {
    return;
  }
  for (auto host = found->second.hosts.rbegin(); host != found->second.hosts.rend(); ++host) {
    if (host->time <= now) {
      finding->evidence.push_back(
          {"host", host->time,
           fmt::format("process of rank {} is in state {}{}", rank, host->state,
                       host->wchan.empty() || host->wchan == "0" ? "" : " in " + host->wchan),
           host->cpu, "cores"});
      return;
    }
  }
}

// A sink: the rank where the waiting ends.
Finding SinkFinding(const JobModel& job, const WaitGraph& graph, const Sink& sink,
                    const HangTimes& times, TimeNs now, const HangOptions& options) {
  Finding finding;
  finding.verdict_class = model::verdict_class::kNonCommunicationHang;
  finding.onset = times.onset;
  finding.victims = Victims(graph, sink.rank);
  finding.anchor = model::AnchorOf(job, *sink.waiters.front().operation);
  const bool gpu = sink.pending != nullptr;
  finding.component =
      gpu ? model::GpuComponent(job, sink.rank) : model::RankComponent(job, sink.rank);
  const model::DurationNs wait =
      gpu ? options.confirm_after
          : std::max(options.confirm_after, job.longest_gap() > 2 * model::kSecond
                                                ? 3 * job.longest_gap()
                                                : options.confirm_absent_after);
  finding.confirmed = times.suspected + wait <= now ? times.suspected + wait : 0;
  finding.confidence = gpu ? 0.9 : 0.85;
  finding.action = gpu ? model::action::kIsolateRestart : model::action::kRestart;
  const std::string who = model::DescribeRank(job, sink.rank);
  const std::string waited = model::Describe(job, *sink.waiters.front().operation);
  if (gpu) {
    finding.summary = fmt::format(
        "The GPU of {} has not started {}, which its host enqueued {} ago; {} wait for it.", who,
        model::Describe(job, *sink.pending), model::Seconds(now - sink.pending->enqueue),
        model::DescribeRanks(finding.victims));
    finding.evidence.push_back({"collectives", sink.pending->enqueue,
                                "enqueued and not started: " + model::Describe(job, *sink.pending),
                                static_cast<double>(now - sink.pending->enqueue) / 1e9, "s"});
  } else {
    finding.summary = fmt::format(
        "The process of {} has not called {}, in which others have waited for {}; {} "
        "wait for it.",
        who, waited, model::Seconds(now - sink.waiters.front().operation->start),
        model::DescribeRanks(finding.victims));
  }
  std::set<int> direct;
  for (const Wait& wait_of : sink.waiters) {
    if (direct.insert(wait_of.rank).second && direct.size() <= 4) {
      finding.evidence.push_back(
          {"wait_graph", wait_of.operation->start,
           fmt::format("rank {} is inside {}, which rank {} has not started", wait_of.rank,
                       model::Describe(job, *wait_of.operation), sink.rank),
           static_cast<double>(now - wait_of.operation->start) / 1e9, "s"});
    }
  }
  finding.evidence.push_back({"wait_graph", sink.last_movement,
                              fmt::format("last sign of rank {}; {} ranks wait for it directly or "
                                          "through others",
                                          sink.rank, sink.reach),
                              static_cast<double>(sink.reach), "ranks"});
  AddHostState(job, sink.rank, now, &finding);
  return finding;
}

Finding CycleFinding(const JobModel& job, const WaitGraph& graph, const HangTimes& times,
                     TimeNs now) {
  Finding finding;
  finding.verdict_class = model::verdict_class::kMismatchedCollective;
  finding.component.kind = model::component_kind::kSoftware;
  finding.onset = times.onset;
  finding.confirmed = now;
  finding.confidence = 0.8;
  finding.action = model::action::kAlert;
  finding.victims = graph.waiting;
  const std::vector<int>& cycle = graph.cycles.front();
  for (const int number : cycle) {
    const auto found = job.ranks().find(number);
    if (found == job.ranks().end()) {
      continue;
    }
    for (const model::Operation* operation : found->second.open) {
      if (operation->StartedBy(now)) {
        if (finding.anchor.empty()) {
          finding.anchor = model::AnchorOf(job, *operation);
        }
        finding.evidence.push_back(
            {"wait_graph", operation->start,
             fmt::format("rank {} is inside {}", number, model::Describe(job, *operation)),
             static_cast<double>(now - operation->start) / 1e9, "s"});
        break;
      }
    }
  }
  finding.summary = fmt::format(
      "{} wait for each other in a circle: the program entered its communicators in different "
      "orders.",
      model::DescribeRanks(cycle));
  return finding;
}

}  // namespace

std::vector<Finding> LocaliseHang(const JobModel& job, const model::NodeFacts& nodes,
                                  const HangTimes& times, TimeNs now, const HangOptions& options) {
  const WaitGraph graph = BuildWaitGraph(job, now);
  std::vector<Finding> findings;
  if (!graph.full.empty()) {
    // Everybody whom the operation needs is in it: whoever is absent elsewhere may be so because of
    // it, so this comes before the sinks. A sink that nobody in a full operation depends on stands
    // for itself.
    findings.push_back(StuckPathFinding(job, nodes, graph, times, now, options));
    return findings;
  }
  for (const Sink& sink : graph.sinks) {
    if (job.ExitOf(sink.rank, now).has_value()) {
      continue;  // process_failure says it better
    }
    findings.push_back(SinkFinding(job, graph, sink, times, now, options));
    // The others are absent because of the first, as far as anybody can tell, unless they are as
    // old.
    break;
  }
  if (findings.empty() && !graph.cycles.empty()) {
    findings.push_back(CycleFinding(job, graph, times, now));
  }
  return findings;
}

}  // namespace c4::localise
