#include "analyzer/localise/sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/localise/benign.h"
#include "analyzer/localise/gpu_clues.h"
#include "analyzer/localise/host_clues.h"
#include "analyzer/localise/recurrence.h"
#include "analyzer/model/describe.h"

namespace c4::localise {
namespace {

using model::Finding;
using model::TimeNs;

// More absent ranks than this, on several nodes and alike, did not break at once: the program let
// them go elsewhere.
constexpr std::size_t kSinksMax = 3;

struct Case {
  const Sink* sink = nullptr;
  Clue clue;  // the strongest on its GPU
  const model::ErrorRecord* error = nullptr;
};

// Evidence decides between several sinks; without it the first, most waited for, stands.
Case Choose(const Context& context, const WaitGraph& graph, TimeNs from) {
  Case chosen{&graph.sinks.front(), {}, nullptr};
  for (const Sink& sink : graph.sinks) {
    std::vector<Clue> clues = GpuClues(context, {sink.rank}, from);
    std::erase_if(
        clues, [&](const Clue& clue) { return clue.part.kind == model::component_kind::kConfig; });
    if (!clues.empty() && clues.front().weight >= kDecisiveWeight &&
        clues.front().weight > chosen.clue.weight) {
      chosen.sink = &sink;
      chosen.clue = clues.front();
    }
  }
  chosen.error = OwnErrorOf(context, chosen.sink->rank, from);
  for (const Sink& sink : graph.sinks) {
    if (chosen.error == nullptr && chosen.clue.weight < kDecisiveWeight) {
      if ((chosen.error = OwnErrorOf(context, sink.rank, from)) != nullptr) {
        chosen.sink = &sink;
      }
    }
  }
  return chosen;
}

void AddWaits(const Context& context, const Sink& sink, Finding* finding) {
  std::set<int> direct;
  for (const Wait& wait : sink.waiters) {
    if (direct.insert(wait.rank).second && direct.size() <= 4) {
      finding->evidence.push_back(
          {"wait_graph", wait.operation->start,
           fmt::format("rank {} is inside {}, which rank {} has not started", wait.rank,
                       model::Describe(context.job, *wait.operation), sink.rank),
           static_cast<double>(context.now - wait.operation->start) / 1e9, "s"});
    }
  }
  finding->evidence.push_back({"wait_graph", sink.last_movement,
                               fmt::format("last sign of rank {}; {} ranks wait for it directly or "
                                           "through others",
                                           sink.rank, sink.reach),
                               static_cast<double>(sink.reach), "ranks"});
}

// The ranks of one machine are the sinks, all of them: the machine.
std::string WholeNode(const Context& context, const WaitGraph& graph) {
  std::set<int> sinks;
  for (const Sink& sink : graph.sinks) {
    sinks.insert(sink.rank);
  }
  const std::string node = context.job.NodeOf(graph.sinks.front().rank);
  std::size_t ranks = 0;
  std::set<std::string> nodes;
  for (const auto& [number, rank] : context.job.ranks()) {
    nodes.insert(rank.info.node);
    ranks += rank.info.node == node ? 1 : 0;
    if (rank.info.node == node && !sinks.contains(number)) {
      return "";
    }
  }
  return ranks >= 2 && ranks == sinks.size() && nodes.size() >= 2 ? node : "";
}

// The rank does other work than those that wait for it, by the program's own count of its steps;
// empty: not known to. A rank that merely hangs in a step has done as many as the others.
std::string UnevenWork(const Context& context, const Sink& sink) {
  const model::JobRecord& job = context.facts.job();
  const auto done = job.steps_done.find(sink.rank);
  const auto others = job.steps_done.find(sink.waiters.front().rank);
  if (done != job.steps_done.end() && others != job.steps_done.end() &&
      done->second != others->second) {
    return fmt::format("it has done {} steps, rank {} has done {}", done->second, others->first,
                       others->second);
  }
  const auto offset = job.step_offset.find(sink.rank);
  const auto other = job.step_offset.find(sink.waiters.front().rank);
  const std::int64_t apart = (offset == job.step_offset.end() ? 0 : offset->second) -
                             (other == job.step_offset.end() ? 0 : other->second);
  return apart == 0 ? "" : fmt::format("it is {} steps apart from the others", apart);
}

void BlameProgramOf(const Context& context, int rank, const std::string& why, Finding* finding) {
  finding->verdict_class = model::verdict_class::kMismatchedCollective;
  finding->component = model::Component{};
  finding->component.kind = model::component_kind::kSoftware;
  finding->component.rank = rank;
  finding->component.node = context.job.NodeOf(rank);
  finding->action = model::action::kAlert;
  finding->summary += fmt::format(" Uneven work, the program's doing: {}.", why);
}

void BlameHost(const Context& context, const Case& chosen, const HostClue& host,
               const HangTimes& times, const HangOptions& options, Finding* finding) {
  const int rank = chosen.sink->rank;
  finding->component = model::RankComponent(context.job, rank);
  finding->confidence = 0.85;
  finding->action = model::action::kRestart;
  const model::DurationNs longest = context.job.longest_gap();
  model::DurationNs wait =
      std::max(options.confirm_after,
               longest > 2 * model::kSecond ? 3 * longest : options.confirm_absent_after);
  if (chosen.error != nullptr) {
    finding->evidence.push_back({"process", chosen.error->time, chosen.error->text, 0, ""});
    finding->summary += fmt::format(" It reported: {}.", chosen.error->text.substr(0, 160));
    finding->confidence = 0.9;
    wait = options.confirm_after;
  } else if (host.activity == HostActivity::kInDriver) {
    finding->component = model::GpuComponent(context.job, rank);
    finding->summary += " Its process is blocked in the GPU's driver.";
    finding->confidence = 0.75;
    finding->action = model::action::kIsolateRestart;
    wait = options.confirm_after;
  } else if (host.activity == HostActivity::kLeaving) {
    BlameProgramOf(context, rank, fmt::format("it has left the loop and is in {}", host.frame),
                   finding);
  } else if (const std::string uneven = UnevenWork(context, *chosen.sink); !uneven.empty()) {
    BlameProgramOf(context, rank, uneven, finding);
  } else if (const std::string reason = BenignReason(context, rank, host, times, options);
             !reason.empty()) {
    finding->severity = model::Severity::kInfo;
    finding->action = model::action::kWait;
    finding->confidence = 0.5;
    finding->summary += fmt::format(" Not a fault yet: {}.", reason);
    finding->weakened_by.push_back(reason);
    return;
  } else if (times.startup) {
    finding->confidence = 0.6;
    finding->weakened_by.push_back("the job has never had a rhythm");
  }
  const TimeNs confirmed = times.suspected + wait;
  finding->confirmed = confirmed <= context.now ? confirmed : 0;
}

void BlameGpu(const Context& context, const Sink& sink, const HostClue& host,
              const HangTimes& times, const HangOptions& options, Finding* finding) {
  finding->component = model::GpuComponent(context.job, sink.rank);
  finding->confidence = 0.9;
  finding->action = model::action::kIsolateRestart;
  const TimeNs confirmed = times.suspected + options.confirm_after;
  finding->confirmed = confirmed <= context.now ? confirmed : 0;
  if (host.activity == HostActivity::kInLaunch) {
    // The GPU was never given the work.
    finding->component = model::RankComponent(context.job, sink.rank);
    finding->confidence = 0.8;
    finding->action = model::action::kRestart;
    finding->summary = fmt::format(
        "The host of {} is inside {} and has not come out for {}: it called {} and its GPU was not "
        "given it; {} wait for it.",
        model::DescribeRank(context.job, sink.rank), host.frame,
        model::Seconds(context.now - sink.pending->enqueue),
        model::Describe(context.job, *sink.pending), model::DescribeRanks(finding->victims));
  } else if (times.startup && context.now - times.onset < options.startup_idle_max) {
    finding->severity = model::Severity::kInfo;
    finding->action = model::action::kWait;
    finding->confidence = 0.5;
    finding->confirmed = 0;
    finding->weakened_by.push_back("the job starts up: the GPU may still be at its first work");
  }
}

// Names nobody: too many, alike.
void BlameProgram(const Context& context, const WaitGraph& graph, const HostClue& host,
                  const HangTimes& times, const HangOptions& options, Finding* finding) {
  std::vector<int> ranks;
  for (const Sink& sink : graph.sinks) {
    ranks.push_back(sink.rank);
  }
  finding->component = model::Component{};
  finding->component.kind = model::component_kind::kSoftware;
  finding->suspects.clear();
  finding->confidence = 0.5;
  finding->action = model::action::kRestart;
  finding->victims = graph.waiting;
  finding->summary = fmt::format(
      "{} have not come to {}, in which others wait. So many do not break at once: unknown, likely "
      "the program or what they share.",
      model::DescribeRanks(ranks),
      model::Describe(context.job, *graph.sinks.front().waiters.front().operation));
  finding->weakened_by.push_back(
      fmt::format("{} equal suspects on several nodes", graph.sinks.size()));
  const TimeNs confirmed = times.suspected + options.confirm_absent_after;
  finding->confirmed = confirmed <= context.now ? confirmed : 0;
  if (const std::string reason = BenignReason(context, ranks.front(), host, times, options);
      !reason.empty()) {
    finding->severity = model::Severity::kInfo;
    finding->action = model::action::kWait;
    finding->weakened_by.push_back(reason);
  }
}

}  // namespace

Finding SinkFinding(const Context& context, const WaitGraph& graph, const HangTimes& times,
                    const HangOptions& options) {
  const TimeNs from = times.onset - options.evidence_before;
  const Case chosen = Choose(context, graph, from);
  const Sink& sink = *chosen.sink;
  const model::Operation& waited = *sink.waiters.front().operation;
  const std::string who = model::DescribeRank(context.job, sink.rank);
  Finding finding;
  finding.verdict_class = model::verdict_class::kNonCommunicationHang;
  finding.onset = times.onset;
  finding.victims = graph.waiting;
  std::erase(finding.victims, sink.rank);
  finding.anchor = model::AnchorOf(context.job, waited);
  const HostClue host = HostOf(context, sink.rank, times.onset);
  const bool gpu = sink.pending != nullptr;
  if (gpu) {
    finding.summary = fmt::format(
        "The GPU of {} has not started {}, which its host enqueued {} ago; {} wait for it.", who,
        model::Describe(context.job, *sink.pending),
        model::Seconds(context.now - sink.pending->enqueue), model::DescribeRanks(finding.victims));
    finding.evidence.push_back(
        {"collectives", sink.pending->enqueue,
         "enqueued and not started: " + model::Describe(context.job, *sink.pending),
         static_cast<double>(context.now - sink.pending->enqueue) / 1e9, "s"});
  } else {
    finding.summary = fmt::format(
        "The process of {} has not called {}, in which others have waited for {}; {} wait for it.",
        who, model::Describe(context.job, waited), model::Seconds(context.now - waited.start),
        model::DescribeRanks(finding.victims));
  }
  AddWaits(context, sink, &finding);
  if (host.activity != HostActivity::kUnknown) {
    finding.evidence.push_back({"host", host.last, host.text, 0, ""});
  }
  if (chosen.clue.weight >= kDecisiveWeight) {
    // The collectives point at the rank and its hardware says why: nothing to wait for.
    finding.component = chosen.clue.part;
    finding.evidence.insert(finding.evidence.begin(), chosen.clue.evidence.begin(),
                            chosen.clue.evidence.end());
    finding.confidence = 0.95;
    finding.action =
        chosen.clue.application ? model::action::kRestart : model::action::kIsolateRestart;
    finding.confirmed = context.now;
    return finding;
  }
  const std::string node = chosen.error == nullptr ? WholeNode(context, graph) : "";
  if (node.empty() && chosen.error == nullptr && graph.sinks.size() > kSinksMax) {
    BlameProgram(context, graph, host, times, options, &finding);
  } else if (gpu) {
    BlameGpu(context, sink, host, times, options, &finding);
  } else {
    BlameHost(context, chosen, host, times, options, &finding);
  }
  if (!node.empty() && finding.severity == model::Severity::kFault) {
    finding.suspects = {{finding.component, 0.2}};
    finding.component = model::Component{};
    finding.component.kind = model::component_kind::kNode;
    finding.component.node = node;
    finding.suspects.insert(finding.suspects.begin(), {finding.component, 0.8});
    finding.confidence = 0.8;
    finding.action = model::action::kIsolateRestart;
    finding.summary += fmt::format(" So are all ranks of {}: the machine.", node);
  } else if (graph.sinks.size() > 1 && graph.sinks.size() <= kSinksMax && chosen.error == nullptr) {
    finding.confidence = std::min(finding.confidence, 0.7);
    finding.weakened_by.push_back(fmt::format("{} ranks are absent", graph.sinks.size()));
  }
  WeighRecurrence(context,
                  {finding.verdict_class, *waited.name,
                   host.activity == HostActivity::kInLaunch ? host.frame : "",
                   gpu ? "called, not started" : ""},
                  &finding);
  return finding;
}

}  // namespace c4::localise
