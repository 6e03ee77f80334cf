// A clue: what speaks for one part being at fault, other than the collectives themselves.
#pragma once

#include <string>
#include <vector>

#include "analyzer/model/verdict.h"

namespace c4::localise {

struct Clue {
  model::Component part;
  double weight = 1;         // odds against the same part without it
  bool application = false;  // the program's own error, as its GPU reports it
  std::vector<model::Evidence> evidence;
};

// A clue decides when it is strong by itself and no other part's comes near it.
inline constexpr double kDecisiveWeight = 10;
inline constexpr double kDecisiveLead = 3;

// Clues of the same part joined (the strongest counts: they are not independent), strongest first.
std::vector<Clue> Joined(std::vector<Clue> clues);

// The one that decides; the node, when several of its parts are as suspect and no other node's;
// nullptr when nothing does. `clues` as Joined gives them.
const Clue* Decisive(const std::vector<Clue>& clues, Clue* node);

}  // namespace c4::localise
