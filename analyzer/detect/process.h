// A rank's process is gone, or its node is silent, while others wait for it (process_failure).
//
// The exit outranks every later timeout. A job that ends, with all ranks leaving one after another
// and nobody waiting, is no failure. A rank that leaves in good order while others wait in one more
// operation is the program's doing: uneven work. Pure function of the model.
#pragma once

#include <vector>

#include "analyzer/model/finding.h"
#include "analyzer/model/job_model.h"
#include "analyzer/model/node_facts.h"

namespace c4::detect {

struct ProcessOptions {
  // After a clean exit, how long the others may take to end too before their waiting counts.
  model::DurationNs clean_exit_grace = 5 * model::kSecond;
  // An agent that falls silent says nothing by itself; its ranks must be waited for this long.
  model::DurationNs silence_grace = 5 * model::kSecond;
};

std::vector<model::Finding> DetectProcessFailure(const model::JobModel& job,
                                                 const model::NodeFacts& nodes, model::TimeNs now,
                                                 const ProcessOptions& options = {});

}  // namespace c4::detect
