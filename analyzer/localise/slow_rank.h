// What makes a slow rank slow: its GPU throttled, its process bound badly, its share of the work
// larger. Explains what detect/slow_rank found. Pure function.
#pragma once

#include <vector>

#include "analyzer/localise/context.h"
#include "analyzer/model/finding.h"

namespace c4::localise {

// `found`: slow ranks, or a slow node with its ranks as suspects. Without those that keep nobody
// waiting: who is late and is not waited for only waits elsewhere.
std::vector<model::Finding> ExplainSlowRanks(const Context& context,
                                             std::vector<model::Finding> found);

// What part of the time within [from, now] the others, the one who waits longest, wait for `rank`.
// Durations only: no clock of another node is needed.
double WaitCaused(const model::JobModel& job, int rank, model::TimeNs from, model::TimeNs now);

}  // namespace c4::localise
