// An operation that everybody has entered and nobody leaves: which part of the paths between its
// members. Part of localise/hang. Pure function.
#pragma once

#include "analyzer/localise/hang.h"

namespace c4::localise {

model::Finding StuckPathFinding(const Context& context, const WaitGraph& graph,
                                const HangTimes& times, const HangOptions& options);

}  // namespace c4::localise
