// Hardware evidence on GPUs and machines: Xids, ECC, NVLink, driver, services. Of the ranks that
// the collectives point at and of nobody else. Pure function.
#pragma once

#include <vector>

#include "analyzer/localise/clue.h"
#include "analyzer/localise/context.h"

namespace c4::localise {

// Within [from, now].
std::vector<Clue> GpuClues(const Context& context, const std::vector<int>& ranks,
                           model::TimeNs from);

}  // namespace c4::localise
