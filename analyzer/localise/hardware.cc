#include "analyzer/localise/hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace c4::localise {
namespace {

using model::Component;

// How much a kind of event speaks for a part, as odds against the same part without it. A port that
// lost its link explains a hang through it by itself; errors are common on healthy links too.
const std::map<std::string, double>& NicWeights() {
  static const auto* const kWeights = new std::map<std::string, double>{
      {"nic_link_down", 50}, {"nic_errors", 5}, {"pcie_degraded", 5}, {"pcie_errors", 3}};
  return *kWeights;
}

double Weigh(const model::NodeFacts& nodes, const std::string& node, const std::string& nic,
             model::TimeNs from, model::TimeNs now, std::set<std::string>* nics,
             model::Finding* finding) {
  double weight = 1;
  for (const model::EventRecord& event : nodes.Events(node, from, now)) {
    const auto found = NicWeights().find(event.kind);
    if (found == NicWeights().end() || (!nic.empty() && event.device != nic)) {
      continue;
    }
    weight = std::max(weight, found->second);
    nics->insert(event.device);
    finding->evidence.push_back({"hardware", event.time,
                                 fmt::format("{} of {} on {}{}{}", event.kind, event.device, node,
                                             event.text.empty() ? "" : ": ", event.text),
                                 found->second, "weight"});
  }
  return weight;
}

}  // namespace

void PromoteByHardware(const model::NodeFacts& nodes, model::TimeNs from, model::TimeNs now,
                       Localisation* place, model::Finding* finding) {
  std::set<std::pair<std::string, std::string>> ends;
  for (const model::Suspect& suspect : place->suspects) {
    ends.emplace(suspect.component.node, suspect.component.nic);
    if (!suspect.component.peer_node.empty()) {
      ends.emplace(suspect.component.peer_node, suspect.component.peer_nic);
    }
  }
  bool promoted = false;
  for (const auto& [node, nic] : ends) {
    std::set<std::string> nics;
    const double weight = Weigh(nodes, node, nic, from, now, &nics, finding);
    if (weight <= 1) {
      continue;
    }
    promoted = true;
    Component component;
    component.kind = model::component_kind::kNic;
    component.node = node;
    component.nic = nics.size() == 1 ? *nics.begin() : nic;
    double share = 0.5 / static_cast<double>(place->suspects.size());
    std::erase_if(place->suspects, [&](const model::Suspect& suspect) {
      const bool same = suspect.component.kind == component.kind &&
                        suspect.component.node == node && suspect.component.nic == nic;
      share = same ? suspect.score : share;
      return same;
    });
    place->suspects.insert(place->suspects.begin(), {component, share * weight});
  }
  double sum = 0;
  for (const model::Suspect& suspect : place->suspects) {
    sum += suspect.score;
  }
  for (model::Suspect& suspect : place->suspects) {
    suspect.score /= sum;
  }
  std::stable_sort(place->suspects.begin(), place->suspects.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  if (promoted && place->suspects.front().score >= 0.9) {
    if (!place->unique) {
      place->reason = "the one with hardware evidence";
    }
    place->unique = true;
  }
}

std::string DescribePart(const Component& component) {
  const auto nic = [](const std::string& name, const std::string& node) {
    return name.empty() ? "the NIC of " + node : fmt::format("NIC {} of {}", name, node);
  };
  if (component.kind == model::component_kind::kNic) {
    return nic(component.nic, component.node);
  }
  if (component.kind == model::component_kind::kLink) {
    return fmt::format("the path between {} and {}", nic(component.nic, component.node),
                       nic(component.peer_nic, component.peer_node));
  }
  return "the network";
}

}  // namespace c4::localise
