#include "analyzer/ingest/watermark_tracker.h"

#include <algorithm>

namespace c4::ingest {

void WatermarkTracker::Heard(const std::string& node, model::TimeNs complete_until,
                             std::int64_t now) {
  auto found = agents_.find(node);
  if (found == agents_.end()) {
    if (agents_.size() >= limits::kNodesMax) return;
    found = agents_.emplace(node, Agent{}).first;
  }
  Agent& agent = found->second;
  if (first_heard_ == 0) first_heard_ = now;
  agent.heard = std::max(agent.heard, now);
  agent.complete_until = std::max(agent.complete_until, complete_until);
  if (agent.silent) agent.returned = true;
}

void WatermarkTracker::FindSilent(std::int64_t now, std::vector<model::AgentRecord>& changes) {
  for (auto& [node, agent] : agents_) {
    if (agent.returned) {
      agent.silent = agent.returned = false;
      changes.push_back({node, watermark_ + 1, false});
    } else if (!agent.silent && now - agent.heard > options_.silent_after) {
      agent.silent = true;
      // Its last word was complete_until. Later than the watermark, which is already judged.
      changes.push_back({node, std::max(watermark_, agent.complete_until) + 1, true});
    }
  }
}

model::TimeNs WatermarkTracker::MinimumOfLiving(model::TimeNs realtime) const {
  const model::TimeNs highest = realtime + options_.ahead_max;
  model::TimeNs most_advanced = 0;
  for (const auto& [node, agent] : agents_) {
    if (!agent.silent) most_advanced = std::max(most_advanced, agent.complete_until);
  }
  most_advanced = std::min(most_advanced, highest);
  model::TimeNs minimum = most_advanced;
  for (const auto& [node, agent] : agents_) {
    // An agent that has not said anything yet (it has just come) is not waited for either.
    if (!agent.silent && agent.complete_until >= most_advanced - options_.lag_max) {
      minimum = std::min(minimum, agent.complete_until);
    }
  }
  return minimum;
}

model::TimeNs WatermarkTracker::WithoutAgents(std::int64_t now) const {
  model::TimeNs latest = 0;
  for (const auto& [node, agent] : agents_) {
    if (agent.complete_until == 0) continue;
    latest = std::max(latest, agent.complete_until + (now - agent.heard) - options_.silent_after);
  }
  return latest;
}

WatermarkTracker::Change WatermarkTracker::Update(std::int64_t now, model::TimeNs realtime) {
  Change change;
  if (last_update_ != 0 && now - last_update_ > options_.pause_min) {
    const std::int64_t pause = now - last_update_;
    for (auto& [node, agent] : agents_) agent.heard = std::min(now, agent.heard + pause);
  }
  last_update_ = now;
  if (first_heard_ == 0 || now - first_heard_ < options_.settle) return change;

  FindSilent(now, change.agents);
  const bool alive = std::any_of(agents_.begin(), agents_.end(),
                                 [](const auto& entry) { return !entry.second.silent; });
  const model::TimeNs candidate = alive
                                      ? MinimumOfLiving(realtime)
                                      : std::min(WithoutAgents(now), realtime + options_.ahead_max);
  watermark_ = std::max(watermark_, candidate);
  // Never all of them: the last ones carry the watermark while nobody lives.
  if (alive) {
    std::erase_if(agents_, [&](const auto& entry) {
      return entry.second.silent && now - entry.second.heard > options_.forget_after;
    });
  }
  change.watermark = watermark_;
  return change;
}

}  // namespace c4::ingest
