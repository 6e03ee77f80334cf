// Why a process that others wait for is gone: its GPU failed under it, or its program did. Refines
// what detect/process found. Pure function.
#pragma once

#include "analyzer/localise/context.h"
#include "analyzer/model/finding.h"

namespace c4::localise {

void ExplainLostProcess(const Context& context, model::Finding* finding);

}  // namespace c4::localise
