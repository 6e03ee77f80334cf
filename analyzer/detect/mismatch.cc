#include "analyzer/detect/mismatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "analyzer/model/describe.h"

namespace c4::detect {
namespace {

using model::Dependency;
using model::Operation;

// What must be equal on all members, as text: it is shown as evidence.
std::string Signature(const Operation& operation) {
  if (model::IsPointToPoint(operation.kind)) {
    return fmt::format("{} x {}", operation.count, *operation.datatype);
  }
  std::string text =
      fmt::format("{}({} x {}", *operation.name, operation.count, *operation.datatype);
  if (operation.root >= 0) {
    text += fmt::format(", root {}", operation.root);
  }
  return text + ")";
}

}  // namespace

std::optional<model::Finding> DetectMismatch(const model::JobModel& job, const Operation& operation,
                                             model::TimeNs now) {
  const model::Instance* instance = job.InstanceOf(operation);
  if (instance == nullptr || instance->members.size() < 2 || instance->uniform) {
    return std::nullopt;
  }
  std::map<std::string, std::vector<int>> groups;
  model::TimeNs last = 0;
  for (const Operation* member : instance->members) {
    if (member->EnqueuedBy(now)) {
      groups[Signature(*member)].push_back(member->rank);
      last = std::max(last, member->enqueue);
    }
  }
  if (groups.size() < 2) {
    return std::nullopt;
  }
  model::Finding finding;
  finding.verdict_class = model::verdict_class::kMismatchedCollective;
  finding.component.kind = model::component_kind::kSoftware;
  finding.component.communicator = job.communicator(operation.communicator).id;
  finding.onset = last;
  finding.confirmed = now;
  finding.confidence = 0.97;
  finding.action = model::action::kAlert;
  finding.anchor =
      fmt::format("{}/{}", job.communicator(operation.communicator).id, operation.sequence);
  const auto biggest = std::max_element(
      groups.begin(), groups.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::vector<int> odd;
  std::string calls;
  for (const auto& [signature, ranks] : groups) {
    calls += fmt::format("{}{} called {}", calls.empty() ? "" : ", ", model::DescribeRanks(ranks),
                         signature);
    finding.evidence.push_back({"collectives", last,
                                fmt::format("{}: {}", model::DescribeRanks(ranks), signature),
                                static_cast<double>(ranks.size()), "ranks"});
    if (signature != biggest->first) {
      odd.insert(odd.end(), ranks.begin(), ranks.end());
    }
  }
  // Named for the search in the program, not accused: with a tie nobody is the odd one.
  const std::size_t total = biggest->second.size() + odd.size();
  if (odd.size() == 1 && biggest->second.size() * 2 > total) {
    finding.component.rank = odd.front();
    finding.component.node = job.NodeOf(odd.front());
  }
  finding.summary =
      fmt::format("The program's ranks do not agree on operation #{} of communicator {}: {}.",
                  operation.sequence, job.communicator(operation.communicator).id, calls);
  return finding;
}

}  // namespace c4::detect
