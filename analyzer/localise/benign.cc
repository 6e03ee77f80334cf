#include "analyzer/localise/benign.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/model/describe.h"

namespace c4::localise {
namespace {

bool Contains(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

// Training itself, or nothing announced.
bool IsOrdinary(const std::string& phase, bool startup) {
  return phase.empty() || Contains(phase, "train") || Contains(phase, "step") ||
         (!startup && (Contains(phase, "start") || Contains(phase, "init")));
}

}  // namespace

std::string BenignReason(const Context& context, int rank, const HostClue& host,
                         const HangTimes& times, const HangOptions& options) {
  const model::DurationNs absent = context.now - times.onset;
  const bool idle =
      host.activity == HostActivity::kIdle && host.last - host.since >= options.startup_idle_max;
  if (times.startup) {
    if (idle || host.activity == HostActivity::kInDriver) {
      return "";
    }
    return host.activity == HostActivity::kUnknown
               ? "the job starts up and nothing is known of what this process does"
               : fmt::format("the job starts up: {}", host.text);
  }
  const model::PhaseRecord phase = context.facts.PhaseAt(context.now);
  if (!IsOrdinary(phase.name, times.startup) &&
      absent <
          std::max(options.busy_max, 3 * context.facts.LongestPhase(phase.name, context.now))) {
    return fmt::format("the job announced the phase {}", phase.name);
  }
  if (host.activity == HostActivity::kInOut && absent < options.busy_max) {
    return fmt::format("the process reads or writes: {}", host.text);
  }
  const std::string node = context.job.NodeOf(rank);
  for (const auto& [device, count] : context.nodes.Gauge(node, "compiler_processes", context.now)) {
    if (count > 0 && absent < options.compile_max) {
      return fmt::format("{:.0f} compiler processes run on {}", count, node);
    }
  }
  return "";
}

}  // namespace c4::localise
