// Where the waiting ends: a rank that is not in what the others wait in. Says whether it is its
// GPU, its process, its machine or the program, or that it is busy with something benign. Part of
// localise/hang. Pure function.
#pragma once

#include "analyzer/localise/hang.h"

namespace c4::localise {

// Of a graph with sinks. The others are absent because of the first, as far as anybody can tell,
// unless evidence says which.
model::Finding SinkFinding(const Context& context, const WaitGraph& graph, const HangTimes& times,
                           const HangOptions& options);

}  // namespace c4::localise
