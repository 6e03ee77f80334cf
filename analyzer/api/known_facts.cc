#include "analyzer/api/known_facts.h"

#include <algorithm>

namespace c4::api {

KnownFacts::Job& KnownFacts::Of(const std::string& name) {
  const auto [job, is_new] = jobs_.try_emplace(name);
  if (is_new) ++size_;
  job->second.heard = ++turns_;
  return job->second;
}

void KnownFacts::MakeRoom() {
  while (size_ >= size_max_ && !jobs_.empty()) {
    const auto oldest = std::min_element(jobs_.begin(), jobs_.end(), [](auto& a, auto& b) {
      return a.second.heard < b.second.heard;
    });
    size_ -= 1 + oldest->second.ranks.size();
    jobs_.erase(oldest);
  }
}

void KnownFacts::Keep(const model::JobRecord& job) {
  MakeRoom();
  Of(job.job).record = job;
}

void KnownFacts::Keep(const model::RankRecord& rank) {
  MakeRoom();
  const auto [slot, is_new] = Of(rank.job).ranks.try_emplace(rank.rank);
  if (is_new) ++size_;
  if (slot->second.record.incarnation < rank.incarnation) slot->second.exit.reset();
  slot->second.record = rank;
}

void KnownFacts::Keep(const model::ProcessRecord& process) {
  const auto job = jobs_.find(process.job);
  if (job == jobs_.end()) return;
  const auto rank = job->second.ranks.find(process.rank);
  if (rank == job->second.ranks.end()) return;
  if (process.incarnation < rank->second.record.incarnation) return;
  if (process.state == "exited") {
    rank->second.exit = process;
  } else {
    rank->second.exit.reset();
  }
}

void KnownFacts::Keep(const model::AgentRecord& agent) {
  if (!agent.silent) {
    silent_.erase(agent.node);
  } else if (silent_.size() < ingest::limits::kNodesMax) {
    silent_[agent.node] = agent;
  }
}

void KnownFacts::Visit(const std::function<void(const model::Record&)>& give) const {
  for (const auto& [name, job] : jobs_) {
    if (job.record) give(*job.record);
    for (const auto& [number, rank] : job.ranks) {
      give(rank.record);
      if (rank.exit) give(*rank.exit);
    }
  }
  for (const auto& [node, agent] : silent_) give(agent);
}

}  // namespace c4::api
