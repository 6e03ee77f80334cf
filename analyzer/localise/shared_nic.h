// Ranks that share a NIC where on like nodes each has its own: a setting that makes exactly the
// paths through that NIC slow, from the first step on, so that no past and no majority tells it.
// Said only when the transfers bear it out. Pure function.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/localise/context.h"
#include "analyzer/model/finding.h"
#include "analyzer/model/path_state.h"

namespace c4::localise {

std::optional<model::Finding> FindSharedNicSlow(const Context& context,
                                                const std::vector<model::PathState>& paths,
                                                model::DurationNs step);

}  // namespace c4::localise
