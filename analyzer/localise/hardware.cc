#include "analyzer/localise/hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyzer/localise/gpu_clues.h"
#include "analyzer/localise/nic_clues.h"

namespace c4::localise {
namespace {

using model::Component;

// Ports of a job are bought alike; one at half rate has renegotiated. Three quarters is between one
// step of the rates there are (400, 200, 100) and a rounding.
constexpr double kRateRatio = 0.75;
constexpr double kSlowPortWeight = 50;
// What makes a GPU's own traffic slow explains slow transfers better than it explains a hang.
constexpr double kPcieWeight = 30;

bool Contains(const Component& suspect, const Component& part) {
  return (suspect.node == part.node && (suspect.nic == part.nic || suspect.nic.empty())) ||
         (suspect.peer_node == part.node &&
          (suspect.peer_nic == part.nic || suspect.peer_nic.empty()));
}

bool MakesTransfersSlow(const Clue& clue) {
  return std::any_of(clue.evidence.begin(), clue.evidence.end(), [](const auto& evidence) {
    return evidence.text.rfind("pcie_", 0) == 0 || evidence.text.rfind("nvlink_", 0) == 0;
  });
}

}  // namespace

std::vector<model::Suspect> SlowPorts(const Context& context, model::Finding* finding) {
  std::map<std::pair<std::string, std::string>, double> rates;
  for (const auto& [number, rank] : context.job.ranks()) {
    const auto gauge = context.nodes.Gauge(rank.info.node, "rate_gbps", context.now);
    if (const auto rate = gauge.find(rank.info.nic); rate != gauge.end()) {
      rates[{rank.info.node, rank.info.nic}] = rate->second;
    }
  }
  std::vector<double> sorted;
  for (const auto& [nic, rate] : rates) {
    sorted.push_back(rate);
  }
  std::sort(sorted.begin(), sorted.end());
  std::vector<model::Suspect> slow;
  for (const auto& [nic, rate] : rates) {
    const double usual = sorted[sorted.size() / 2];
    if (rate < kRateRatio * usual) {
      Component part;
      part.kind = model::component_kind::kNic;
      part.node = nic.first;
      part.nic = nic.second;
      slow.push_back({part, kSlowPortWeight});
      finding->evidence.push_back({"hardware", context.now,
                                   fmt::format("{} of {} runs at {:g} Gb/s, its peers at {:g}",
                                               nic.second, nic.first, rate, usual),
                                   rate, "Gb/s"});
    }
  }
  return slow;
}

void PromoteByHardware(const Context& context, const std::vector<int>& ranks, model::TimeNs from,
                       Localisation* place, model::Finding* finding) {
  std::vector<Clue> clues = FindNicClues(context, ranks, from).clues;
  for (const model::Suspect& port : SlowPorts(context, finding)) {
    Clue clue;
    clue.part = port.component;
    clue.weight = port.score;
    clues.push_back(std::move(clue));
  }
  for (Clue& clue : GpuClues(context, ranks, from)) {
    if (MakesTransfersSlow(clue)) {
      clue.weight = kPcieWeight;
      clues.push_back(std::move(clue));
    }
  }
  const bool network = !place->suspects.empty() &&
                       place->suspects.front().component.kind == model::component_kind::kNetwork;
  std::erase_if(clues, [&](const Clue& clue) {
    const bool gpu = clue.part.kind == model::component_kind::kGpu;
    const auto found = context.job.ranks().find(clue.part.rank.value_or(-1));
    Component part = clue.part;
    if (gpu && found != context.job.ranks().end()) {
      part.nic = found->second.info.nic;
    }
    return !network && !place->suspects.empty() &&
           std::none_of(place->suspects.begin(), place->suspects.end(),
                        [&](const auto& suspect) { return Contains(suspect.component, part); });
  });
  clues = Joined(std::move(clues));
  Clue node;
  if (const Clue* decisive = Decisive(clues, &node); decisive != nullptr) {
    finding->evidence.insert(finding->evidence.end(), decisive->evidence.begin(),
                             decisive->evidence.end());
    place->suspects = {{decisive->part, 1.0}};
    place->unique = true;
    place->reason = "the one with hardware evidence";
  }
}

std::string DescribePart(const Component& component) {
  const auto nic = [](const std::string& name, const std::string& node) {
    return name.empty() ? "the NIC of " + node : fmt::format("NIC {} of {}", name, node);
  };
  if (component.kind == model::component_kind::kNic) {
    return nic(component.nic, component.node);
  }
  if (component.kind == model::component_kind::kGpu) {
    return component.gpu.has_value() ? fmt::format("GPU {} of {}", *component.gpu, component.node)
                                     : fmt::format("the GPU of rank {} on {}",
                                                   component.rank.value_or(-1), component.node);
  }
  if (component.kind == model::component_kind::kRank) {
    return fmt::format("the process of rank {}", component.rank.value_or(-1));
  }
  if (component.kind == model::component_kind::kNode) {
    return "node " + component.node;
  }
  if (component.kind == model::component_kind::kConfig) {
    return "a setting of " + (component.node.empty() ? "the nodes" : component.node);
  }
  if (component.kind == model::component_kind::kLink) {
    if (component.node == component.peer_node && component.rank.has_value() &&
        component.peer_rank.has_value()) {
      return fmt::format("the path between the GPUs of ranks {} and {}", *component.rank,
                         *component.peer_rank);
    }
    return fmt::format("the path between {} and {}", nic(component.nic, component.node),
                       nic(component.peer_nic, component.peer_node));
  }
  return "the network";
}

}  // namespace c4::localise
