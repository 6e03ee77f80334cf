// Fusion: hardware evidence near the onset decides between the parts that the collectives point at.
// Evidence on a part that they do not point at convicts nobody, and clean telemetry acquits nobody.
#pragma once

#include <string>

#include "analyzer/localise/tomography.h"
#include "analyzer/model/finding.h"
#include "analyzer/model/node_facts.h"

namespace c4::localise {

// Raises suspects with evidence in [from, now], and notes that evidence in the finding.
void PromoteByHardware(const model::NodeFacts& nodes, model::TimeNs from, model::TimeNs now,
                       Localisation* place, model::Finding* finding);

std::string DescribePart(const model::Component& component);  // "NIC hsn0 of node1"

}  // namespace c4::localise
