// Which part makes the slow paths slow: settings that would, tomography over slow and good paths,
// then hardware evidence. Pure function.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/localise/context.h"
#include "analyzer/model/finding.h"
#include "analyzer/model/path_state.h"

namespace c4::localise {

// None when no path is slow.
std::optional<model::Finding> LocaliseSlowPaths(const Context& context,
                                                const std::vector<model::PathState>& paths,
                                                model::DurationNs step);

}  // namespace c4::localise
