#include "analyzer/localise/hang.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/localise/sink.h"
#include "analyzer/localise/stuck_path.h"
#include "analyzer/model/describe.h"

namespace c4::localise {
namespace {

using model::Finding;

// Ranks of the circle whose program is known to be at another step than the others'.
void AddStepOffsets(const Context& context, Finding* finding) {
  for (const auto& [rank, offset] : context.facts.job().step_offset) {
    if (offset != 0) {
      finding->evidence.push_back({"job", finding->onset,
                                   fmt::format("rank {} is at another step than the others", rank),
                                   static_cast<double>(offset), "steps"});
    }
  }
}

Finding CycleFinding(const Context& context, const WaitGraph& graph, const HangTimes& times) {
  Finding finding;
  finding.verdict_class = model::verdict_class::kMismatchedCollective;
  finding.component.kind = model::component_kind::kSoftware;
  finding.onset = times.onset;
  finding.confirmed = context.now;
  finding.confidence = 0.8;
  finding.action = model::action::kAlert;
  finding.victims = graph.waiting;
  const std::vector<int>& cycle = graph.cycles.front();
  for (const int number : cycle) {
    const auto found = context.job.ranks().find(number);
    if (found == context.job.ranks().end()) {
      continue;
    }
    for (const model::Operation* operation : found->second.open) {
      if (operation->StartedBy(context.now)) {
        if (finding.anchor.empty()) {
          finding.anchor = model::AnchorOf(context.job, *operation);
        }
        finding.evidence.push_back(
            {"wait_graph", operation->start,
             fmt::format("rank {} is inside {}", number, model::Describe(context.job, *operation)),
             static_cast<double>(context.now - operation->start) / 1e9, "s"});
        break;
      }
    }
  }
  AddStepOffsets(context, &finding);
  finding.summary = fmt::format(
      "{} wait for each other in a circle: the program entered its communicators in different "
      "orders.",
      model::DescribeRanks(cycle));
  return finding;
}

}  // namespace

std::vector<Finding> LocaliseHang(const Context& context, const HangTimes& times,
                                  const HangOptions& options) {
  WaitGraph graph = BuildWaitGraph(context.job, context.now);
  if (!graph.full.empty()) {
    // Everybody whom the operation needs is in it: whoever is absent elsewhere may be so because of
    // it, so this comes before the sinks. A sink that nobody in a full operation depends on stands
    // for itself.
    return {StuckPathFinding(context, graph, times, options)};
  }
  // process_failure says it better.
  std::erase_if(graph.sinks, [&](const Sink& sink) {
    return context.job.ExitOf(sink.rank, context.now).has_value();
  });
  if (!graph.sinks.empty()) {
    return {SinkFinding(context, graph, times, options)};
  }
  if (!graph.cycles.empty()) {
    return {CycleFinding(context, graph, times)};
  }
  return {};
}

}  // namespace c4::localise
