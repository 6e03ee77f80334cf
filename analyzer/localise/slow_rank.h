// What makes a slow rank slow: its GPU throttled, its process bound badly, its share of the work
// larger, its machine as a whole. Turns what detect/slow_rank found into one finding. Pure
// function.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/localise/context.h"
#include "analyzer/model/finding.h"

namespace c4::localise {

// `found`: slow ranks, the largest excess first. None when nobody waits for any of them: who is
// late and keeps nobody waiting is only waiting elsewhere.
std::optional<model::Finding> ExplainSlowRanks(const Context& context,
                                               std::vector<model::Finding> found);

// How long the others wait for `rank` in the operations of one communicator that it started within
// [from, now], the median; the largest over its communicators. Durations only: no clock of another
// node is needed.
double WaitCausedNs(const model::JobModel& job, int rank, model::TimeNs from, model::TimeNs now);

}  // namespace c4::localise
