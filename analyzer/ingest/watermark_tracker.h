// The watermark of the live service: up to which time all living agents have delivered.
//
//   watermark = min over living agents of complete_until
//
// An agent that sends no batch for 3 s of the analyzer's clock stops holding it back; the engine is
// told (AgentRecord). While no agent is alive, the watermark follows the analyzer's clock, 3 s
// behind what the last agent would have reported, so that a dead node is still found. It never
// moves back.
//
// Time is an argument: monotonic for silence, and it measures elapsed time only; no clock of a node
// is compared with the analyzer's except to bound nonsense. Owner thread only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/ingest/limits.h"
#include "analyzer/model/node_records.h"
#include "analyzer/model/time.h"

namespace c4::ingest {

class WatermarkTracker {
 public:
  struct Options {
    // Agents send every 200 ms, at most 500 ms: six missed in a row.
    model::DurationNs silent_after = 3 * model::kSecond;
    // Nothing is judged before this much time after the first agent came: after a restart of the
    // analyzer the others need time to come back, and who is merely not back yet must not look
    // dead.
    model::DurationNs settle = 3 * model::kSecond;
    // A living agent further behind the most advanced one is not waited for: it has lost its clock
    // or works off a backlog longer than any verdict can wait.
    model::DurationNs lag_max = 60 * model::kSecond;
    // No agent's clock counts as further ahead of the analyzer's than this.
    model::DurationNs ahead_max = 10 * model::kSecond;
    // Update() is called every 100 ms. A longer pause is ours (a stopped or starved process), and
    // is not held against the agents.
    model::DurationNs pause_min = 1 * model::kSecond;
    // A node that has been gone for this long is forgotten.
    model::DurationNs forget_after = 3600 * model::kSecond;
  };

  struct Change {
    std::vector<model::AgentRecord> agents;  // to be applied before the watermark
    model::TimeNs watermark = 0;             // 0: none yet
  };

  WatermarkTracker() : WatermarkTracker(Options{}) {}
  explicit WatermarkTracker(Options options) : options_(options) {}

  // A message of the node's agent came at `now` (monotonic). complete_until 0: it did not say.
  void Heard(const std::string& node, model::TimeNs complete_until, std::int64_t now);

  // The state at `now`; `realtime` bounds complete_until.
  Change Update(std::int64_t now, model::TimeNs realtime);

 private:
  struct Agent {
    model::TimeNs complete_until = 0;
    std::int64_t heard = 0;
    bool silent = false;
    bool returned = false;  // heard again, not yet told
  };

  model::TimeNs MinimumOfLiving(model::TimeNs realtime) const;  // 0: none
  model::TimeNs WithoutAgents(std::int64_t now) const;
  void FindSilent(std::int64_t now, std::vector<model::AgentRecord>& changes);

  const Options options_;
  std::map<std::string, Agent> agents_;  // ordered: the order of changes is part of the record
  std::int64_t first_heard_ = 0;
  std::int64_t last_update_ = 0;
  model::TimeNs watermark_ = 0;
};

}  // namespace c4::ingest
