// What a stall is: follows the waits to where they end (localise/wait_graph) and says which part
// that is. Pure function of the model, the nodes' facts and `now`.
#pragma once

#include <vector>

#include "analyzer/localise/wait_graph.h"
#include "analyzer/model/finding.h"
#include "analyzer/model/job_model.h"
#include "analyzer/model/node_facts.h"

namespace c4::localise {

struct HangTimes {
  model::TimeNs onset = 0;
  model::TimeNs suspected = 0;
};

struct HangOptions {
  // All started and none ends, or a GPU that does not reach its work: nothing benign lasts this
  // much longer than the rhythm.
  model::DurationNs confirm_after = 10 * model::kSecond;
  // A host that is merely absent may write a checkpoint or read data.
  model::DurationNs confirm_absent_after = 60 * model::kSecond;
  // Evidence of hardware counts this long before the onset.
  model::DurationNs evidence_before = 60 * model::kSecond;
};

std::vector<model::Finding> LocaliseHang(const model::JobModel& job, const model::NodeFacts& nodes,
                                         const HangTimes& times, model::TimeNs now,
                                         const HangOptions& options = {});

}  // namespace c4::localise
