// Which part explains that some paths are bad and others good: binary tomography over the paths
// that the job's own communicators and Send/Recv pairs take between nodes.
//
// A path touches its members' NICs (endpoints) and, when it has exactly two nodes, the link between
// them. A part that a good path uses is acquitted; of the rest, the smallest that explains every
// bad path is named. What the paths cannot tell apart stays in the list with its share of the
// belief: a single bad pair with neither end seen elsewhere is "one of" two NICs and the link
// between them. Pure function.
#pragma once

#include <compare>
#include <set>
#include <string>
#include <vector>

#include "analyzer/model/verdict.h"

namespace c4::localise {

struct Endpoint {
  std::string node;
  std::string nic;  // empty: not known, then the node stands for all its NICs
  auto operator<=>(const Endpoint&) const = default;
};

struct Path {
  std::string label;  // for people: which operation of which communicator
  std::set<Endpoint> endpoints;
  bool bad = false;
};

struct Localisation {
  std::vector<model::Suspect> suspects;  // best first, scores sum to 1
  bool unique = false;                   // the first one alone explains everything
  std::string reason;                    // one clause for people
};

// `paths` without a bad one gives no suspects. Paths inside one node are ignored.
Localisation Intersect(const std::vector<Path>& paths);

}  // namespace c4::localise
