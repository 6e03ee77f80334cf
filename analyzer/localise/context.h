// What every localiser looks at: one job, what is known beside its operations, the nodes, and the
// moment as of which it is judged. References to what the engine owns; good for one tick.
#pragma once

#include "analyzer/model/job_facts.h"
#include "analyzer/model/job_model.h"
#include "analyzer/model/node_facts.h"

namespace c4::localise {

struct Context {
  const model::JobModel& job;
  const model::JobFacts& facts;
  const model::NodeFacts& nodes;
  model::TimeNs now = 0;
};

}  // namespace c4::localise
