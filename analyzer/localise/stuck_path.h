// An operation that everybody has entered and nobody leaves: which path between its members. Part
// of localise/hang. Pure function.
#pragma once

#include "analyzer/localise/hang.h"

namespace c4::localise {

model::Finding StuckPathFinding(const model::JobModel& job, const model::NodeFacts& nodes,
                                const WaitGraph& graph, const HangTimes& times, model::TimeNs now,
                                const HangOptions& options);

}  // namespace c4::localise
