// Evidence on NICs and on the paths between them: ports that went down, transport errors of the
// counters, and the far ends that error texts name.
//
// Failures are looked at both ways, by local device and by peer: what is constant while the other
// varies is the part. An error at both ends of one hop is the hop; after-effects (flushed queues)
// count for nothing. Two ends that accuse each other accuse neither. Pure function.
#pragma once

#include <vector>

#include "analyzer/localise/clue.h"
#include "analyzer/localise/context.h"

namespace c4::localise {

struct NicClues {
  std::vector<Clue> clues;
  // Errors on several sides that no one part explains: what they are, for people.
  std::vector<model::Evidence> symmetric;
};

// Of the NICs that `ranks` use, within [from, now].
NicClues FindNicClues(const Context& context, const std::vector<int>& ranks, model::TimeNs from);

// Ranks of a NIC; the one rank that uses it, when it is one, goes into the component.
void NameRanks(const model::JobModel& job, model::Component* component);

}  // namespace c4::localise
