// Fusion for slow paths: hardware evidence decides between the parts that the collectives point at.
// Evidence on a part that they do not point at convicts nobody, and clean telemetry acquits nobody.
#pragma once

#include <string>
#include <vector>

#include "analyzer/localise/context.h"
#include "analyzer/localise/tomography.h"
#include "analyzer/model/finding.h"

namespace c4::localise {

// NICs whose port runs at less than three quarters of the rate of the job's other ports.
std::vector<model::Suspect> SlowPorts(const Context& context, model::Finding* finding);

// Puts the suspect that hardware evidence in [from, now] speaks against first, alone when no other
// comes near it, and notes the evidence. `ranks`: those that every slow path has.
void PromoteByHardware(const Context& context, const std::vector<int>& ranks, model::TimeNs from,
                       Localisation* place, model::Finding* finding);

std::string DescribePart(const model::Component& component);  // "NIC hsn0 of node1"

}  // namespace c4::localise
