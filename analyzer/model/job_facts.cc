#include "analyzer/model/job_facts.h"

#include <algorithm>

namespace c4::model {

void JobFacts::Apply(const PhaseRecord& record) {
  phases_[record.time] = record.name;
  if (phases_.size() > kPhasesMax) {
    phases_.erase(phases_.begin());
  }
}

void JobFacts::Apply(const FlowRecord& record) {
  const Connection key{record.rank, record.peer, record.communicator, record.channel};
  const auto found = flows_.find(key);
  if (found == flows_.end() && flows_.size() >= kConnectionsMax) {
    return;
  }
  std::map<TimeNs, FlowRecord>& windows = found == flows_.end() ? flows_[key] : found->second;
  windows[record.to] = record;
  if (windows.size() > kFlowsPerConnection) {
    windows.erase(windows.begin());
  }
}

PhaseRecord JobFacts::PhaseAt(TimeNs now) const {
  PhaseRecord phase;
  phase.job = job_.job;
  if (const auto later = phases_.upper_bound(now); later != phases_.begin()) {
    phase.time = std::prev(later)->first;
    phase.name = std::prev(later)->second;
  }
  return phase;
}

DurationNs JobFacts::LongestPhase(const std::string& name, TimeNs now) const {
  DurationNs longest = 0;
  for (auto phase = phases_.begin(); phase != phases_.end(); ++phase) {
    const auto next = std::next(phase);
    if (phase->second == name && next != phases_.end() && next->first <= now) {
      longest = std::max(longest, next->first - phase->first);
    }
  }
  return longest;
}

std::vector<FlowRecord> JobFacts::Flows(TimeNs from, TimeNs to) const {
  std::vector<FlowRecord> flows;
  for (const auto& [connection, windows] : flows_) {
    for (auto window = windows.upper_bound(from); window != windows.end() && window->first <= to;
         ++window) {
      flows.push_back(window->second);
    }
  }
  return flows;
}

}  // namespace c4::model
