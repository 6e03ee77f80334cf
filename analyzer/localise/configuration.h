// The odd one out among like nodes: settings and device lists that should be equal and are not. A
// difference is a lead even where nothing fails, and convicts only together with collectives that
// have never worked, or that are slow where it would make them slow. Pure function.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "analyzer/localise/context.h"
#include "analyzer/model/finding.h"

namespace c4::localise {

enum class Symptom : unsigned char { kHang, kSlow };

struct Difference {
  std::string node;
  std::string text;  // "NIC erdma_1 of n1 cannot be opened (it can on n0)"
};

struct Configuration {
  std::vector<Difference> differences;  // of one node against the others
  // The same on all of them, and known to break or slow collectives.
  std::vector<Difference> shared;
  // The one that all differences are of; empty: none, or several.
  std::string odd_node;
};

// Of those of `nodes` that run as many ranks of the job as each other: others are not alike.
Configuration CompareNodes(const Context& context, const std::set<std::string>& nodes,
                           Symptom symptom);

// Nodes on which ranks share NICs while on like nodes each has its own: NIC and its ranks.
struct SharedNic {
  std::string node;
  std::string nic;
  std::vector<int> ranks;
  std::string like;  // a node where it is not so
};
std::vector<SharedNic> FindSharedNics(const model::JobModel& job);

// Makes a config finding of what was found.
void BlameConfiguration(const Configuration& configuration, model::Finding* finding);

}  // namespace c4::localise
