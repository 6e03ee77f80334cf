#include "analyzer/detect/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "analyzer/model/describe.h"

namespace c4::detect {
namespace {

using model::Finding;
using model::JobModel;
using model::Operation;
using model::TimeNs;

// Operations of others that cannot end without `rank`, which has not finished them.
std::vector<const Operation*> WaitingFor(const JobModel& job, int rank, TimeNs now) {
  std::vector<const Operation*> waiting;
  for (const auto& [number, other] : job.ranks()) {
    if (number == rank || job.ExitOf(number, now).has_value()) {
      continue;
    }
    for (const Operation* operation : other.open) {
      if (!operation->StartedBy(now)) {
        continue;
      }
      const std::vector<int> needed = job.MustStart(*operation);
      if (std::find(needed.begin(), needed.end(), rank) == needed.end()) {
        continue;
      }
      const Operation* own = job.Counterpart(*operation, rank);
      if (own == nullptr || !own->EndedBy(now)) {
        waiting.push_back(operation);
        break;
      }
    }
  }
  return waiting;
}

bool HasNumber(const std::string& text, int number) {
  const std::string digits = std::to_string(number);
  const auto is_digit = [&](std::size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  for (std::size_t at = text.find(digits); at != std::string::npos;
       at = text.find(digits, at + 1)) {
    if ((at == 0 || !is_digit(at - 1)) && !is_digit(at + digits.size())) {
      return true;
    }
  }
  return false;
}

// The kernel killed the rank's own process for memory. A killed child (a data loader) is not named
// by the rank's process id and is no exit of the rank.
std::optional<model::EventRecord> OutOfMemoryKill(const model::Rank& rank,
                                                  const model::NodeFacts& nodes, TimeNs now) {
  if (rank.info.pid <= 0) {
    return std::nullopt;
  }
  for (const model::EventRecord& event : nodes.Events(rank.info.node, 0, now)) {
    if (event.kind == "oom_kill" &&
        (event.code == rank.info.pid || HasNumber(event.text, rank.info.pid))) {
      return event;
    }
  }
  return std::nullopt;
}

std::string HowItEnded(const model::ProcessRecord& exit) {
  if (exit.signal > 0) {
    return fmt::format("was killed by signal {}", exit.signal);
  }
  return exit.code >= 0 ? fmt::format("exited with code {}", exit.code)
                        : std::string("is gone, its exit status unknown");
}

const Operation* LastOperation(const model::Rank& rank, TimeNs now) {
  const Operation* last = nullptr;
  for (const Operation& operation : rank.operations) {
    if (operation.EnqueuedBy(now) && (last == nullptr || operation.enqueue > last->enqueue)) {
      last = &operation;
    }
  }
  return last;
}

Finding Describe(const JobModel& job, int number, const std::vector<const Operation*>& waiting,
                 TimeNs now) {
  Finding finding;
  for (const Operation* operation : waiting) {
    finding.victims.push_back(operation->rank);
  }
  finding.evidence.push_back({"wait_graph", waiting.front()->start,
                              fmt::format("rank {} is inside {}", waiting.front()->rank,
                                          model::Describe(job, *waiting.front())),
                              static_cast<double>(now - waiting.front()->start) / 1e9, "s"});
  const model::Rank& rank = job.ranks().at(number);
  if (const Operation* last = LastOperation(rank, now); last != nullptr) {
    const char* state = last->EndedBy(now)     ? "ended"
                        : last->StartedBy(now) ? "started and did not end"
                                               : "was enqueued and did not start";
    finding.evidence.push_back({"collectives", last->enqueue,
                                fmt::format("last operation of rank {}: {}, which {}", number,
                                            model::Describe(job, *last), state),
                                0, ""});
  }
  for (const model::ErrorRecord& error : rank.errors) {
    if (error.time <= now) {
      finding.evidence.push_back({"process", error.time, error.text, 0, ""});
    }
  }
  return finding;
}

}  // namespace

std::vector<Finding> DetectProcessFailure(const JobModel& job, const model::NodeFacts& nodes,
                                          TimeNs now, const ProcessOptions& options) {
  std::vector<Finding> findings;
  for (const auto& [number, rank] : job.ranks()) {
    auto exit = job.ExitOf(number, now);
    const auto killed = OutOfMemoryKill(rank, nodes, now);
    if (!exit.has_value() && killed.has_value()) {
      exit = model::ProcessRecord{job.name(), number, job.incarnation(), killed->time, "exited",
                                  -1,         9};
    }
    const TimeNs silent = nodes.SilentSince(rank.info.node, now);
    if (!exit.has_value() && silent == 0) {
      continue;
    }
    const std::vector<const Operation*> waiting = WaitingFor(job, number, now);
    if (waiting.empty()) {
      continue;
    }
    const bool clean = exit.has_value() && exit->code == 0 && exit->signal == 0;
    if (clean && now - exit->time < options.clean_exit_grace) {
      continue;
    }
    if (!exit.has_value() && (now - silent < options.silence_grace ||
                              now - job.last_movement() < options.silence_grace)) {
      continue;
    }
    Finding finding = Describe(job, number, waiting, now);
    finding.onset = exit.has_value() ? exit->time : job.last_movement();
    finding.confirmed = now;
    finding.anchor = fmt::format("exit/{}", number);
    const std::string who = model::DescribeRank(job, number);
    if (clean) {
      finding.verdict_class = model::verdict_class::kMismatchedCollective;
      finding.component.kind = model::component_kind::kSoftware;
      finding.component.rank = number;
      finding.confidence = 0.85;
      finding.action = model::action::kAlert;
      finding.summary = fmt::format(
          "{} ended its work and exited with code 0 while {} wait in one more operation: uneven "
          "work, the program's doing.",
          who, model::DescribeRanks(finding.victims));
    } else if (exit.has_value()) {
      finding.verdict_class = model::verdict_class::kProcessFailure;
      finding.component = model::RankComponent(job, number);
      finding.confidence = 0.97;
      finding.action = model::action::kRestart;
      finding.summary = fmt::format("The process of {} {}; {} wait for it.", who, HowItEnded(*exit),
                                    model::DescribeRanks(finding.victims));
    } else {
      finding.verdict_class = model::verdict_class::kProcessFailure;
      finding.component.kind = model::component_kind::kNode;
      finding.component.node = rank.info.node;
      finding.anchor = "silent/" + rank.info.node;
      finding.confidence = 0.8;
      finding.action = model::action::kIsolateRestart;
      finding.weakened_by.push_back(
          "the node's agent is silent: nothing is known from the node itself");
      finding.summary = fmt::format(
          "Node {} has been silent for {} and its {} does not come to an operation in which {} "
          "wait.",
          rank.info.node, model::Seconds(now - silent), who, model::DescribeRanks(finding.victims));
    }
    if (killed.has_value()) {
      finding.evidence.insert(finding.evidence.begin(),
                              {"hardware", killed->time, "oom_kill: " + killed->text, 0, ""});
      finding.summary += " The kernel killed it for memory.";
    }
    if (exit.has_value()) {
      if (const Operation* last = LastOperation(rank, now);
          last != nullptr && last->enqueue > exit->time) {
        finding.summary += fmt::format(
            " It was started again alone and is in {}, which the others never join: all must be "
            "restarted.",
            model::Describe(job, *last));
      }
      finding.evidence.insert(
          finding.evidence.begin(),
          {"process", exit->time,
           fmt::format("the process of rank {} {}", number, HowItEnded(*exit)), 0, ""});
    }
    findings.push_back(std::move(finding));
  }
  // The first to go takes the others with it (they are torn down because of it).
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.onset < b.onset; });
  return findings;
}

}  // namespace c4::detect
