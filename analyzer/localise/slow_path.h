// Which part makes the slow paths slow: tomography over slow and good paths, then hardware
// evidence. Pure function.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/model/finding.h"
#include "analyzer/model/job_model.h"
#include "analyzer/model/node_facts.h"
#include "analyzer/model/path_state.h"

namespace c4::localise {

// None when no path is slow.
std::optional<model::Finding> LocaliseSlowPaths(const model::JobModel& job,
                                                const model::NodeFacts& nodes,
                                                const std::vector<model::PathState>& paths,
                                                model::DurationNs step, model::TimeNs now);

}  // namespace c4::localise
