// What a stall is: follows the waits to where they end (localise/wait_graph) and says which part
// that is. Pure function of the model, the nodes' facts and `now`.
#pragma once

#include <vector>

#include "analyzer/localise/context.h"
#include "analyzer/localise/wait_graph.h"
#include "analyzer/model/finding.h"

namespace c4::localise {

struct HangTimes {
  model::TimeNs onset = 0;
  model::TimeNs suspected = 0;
  bool startup = false;  // the job has never had a rhythm
};

struct HangOptions {
  // All started and none ends, or a GPU that does not reach its work: nothing benign lasts this
  // much longer than the rhythm.
  model::DurationNs confirm_after = 10 * model::kSecond;
  // A host that is merely absent may write a checkpoint or read data.
  model::DurationNs confirm_absent_after = 60 * model::kSecond;
  // Evidence of hardware counts this long before the onset.
  model::DurationNs evidence_before = 60 * model::kSecond;
  // Who is seen to read or write, or is in an announced phase, may take this long; a compiler
  // longer. A process that starts up may take any time, unless it is seen to do nothing.
  model::DurationNs busy_max = 600 * model::kSecond;
  model::DurationNs compile_max = 1800 * model::kSecond;
  model::DurationNs startup_idle_max = 120 * model::kSecond;
};

std::vector<model::Finding> LocaliseHang(const Context& context, const HangTimes& times,
                                         const HangOptions& options = {});

}  // namespace c4::localise
