#include "analyzer/localise/clue.h"

#include <algorithm>

namespace c4::localise {
namespace {

bool SamePart(const model::Component& a, const model::Component& b) {
  return a.kind == b.kind && a.node == b.node && a.nic == b.nic && a.rank == b.rank &&
         a.peer_node == b.peer_node && a.peer_nic == b.peer_nic;
}

}  // namespace

std::vector<Clue> Joined(std::vector<Clue> clues) {
  std::vector<Clue> joined;
  for (Clue& clue : clues) {
    const auto found = std::find_if(joined.begin(), joined.end(), [&](const Clue& other) {
      return SamePart(other.part, clue.part) && other.application == clue.application;
    });
    if (found == joined.end()) {
      joined.push_back(std::move(clue));
      continue;
    }
    found->weight = std::max(found->weight, clue.weight);
    std::move(clue.evidence.begin(), clue.evidence.end(), std::back_inserter(found->evidence));
  }
  std::stable_sort(joined.begin(), joined.end(),
                   [](const Clue& a, const Clue& b) { return a.weight > b.weight; });
  return joined;
}

const Clue* Decisive(const std::vector<Clue>& clues, Clue* node) {
  if (clues.empty() || clues.front().weight < kDecisiveWeight) {
    return nullptr;
  }
  const Clue& first = clues.front();
  const auto behind = std::find_if(clues.begin(), clues.end(), [&](const Clue& clue) {
    return clue.weight * kDecisiveLead <= first.weight;
  });
  if (behind - clues.begin() == 1) {
    return &first;
  }
  const bool one_machine = std::all_of(clues.begin(), behind, [&](const Clue& clue) {
    return !clue.part.node.empty() && clue.part.node == first.part.node && !clue.application &&
           clue.part.kind != model::component_kind::kLink &&
           clue.part.kind != model::component_kind::kConfig;
  });
  if (!one_machine) {
    return nullptr;
  }
  *node = Clue{};
  node->part.kind = model::component_kind::kNode;
  node->part.node = first.part.node;
  node->weight = first.weight;
  for (auto clue = clues.begin(); clue != behind; ++clue) {
    node->evidence.insert(node->evidence.end(), clue->evidence.begin(), clue->evidence.end());
  }
  return node;
}

}  // namespace c4::localise
