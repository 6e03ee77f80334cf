#include "analyzer/localise/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace c4::localise {
namespace {

// A gauge that should be equal on like nodes. `bad`: the value that is known to cause trouble, so
// that of two nodes one can be named; none: only a minority of one is odd.
struct Setting {
  const char* gauge;
  std::optional<double> bad;
  bool hangs;
  bool slows;
  bool shared;  // speaks also when all nodes have it
  const char* text;
};
const Setting kSettings[] = {
    {"usable", 0, true, true, false, "cannot be opened"},
    {"port_active", 0, true, true, false, "has no active port"},
    {"fabricmanager_active", 0, true, false, true, "fabric manager does not run"},
    {"iommu", 1, true, true, true, "IOMMU translates peer-to-peer traffic"},
    {"acs", 1, true, true, true, "PCIe access control (ACS) redirects peer-to-peer traffic"},
    {"p2p", 0, true, true, true, "peer-to-peer between GPUs is off"},
    {"nvlink_domain", std::nullopt, true, true, false, "NVLink domain differs"},
    {"numa_nodes", std::nullopt, false, true, false, "number of NUMA nodes differs"},
    {"cpus_online", std::nullopt, false, true, false, "number of CPUs differs"},
};

using Values = std::map<std::string, double>;  // by node

void CompareSetting(const Setting& setting, const std::string& device, const Values& values,
                    std::size_t nodes, Configuration* result) {
  std::map<double, std::vector<std::string>> by_value;
  for (const auto& [node, value] : values) {
    by_value[value].push_back(node);
  }
  const auto text = [&](const std::string& node, double value) {
    return device == "host"
               ? fmt::format("{}: {} ({} = {})", node, setting.text, setting.gauge, value)
               : fmt::format("{} of {} {} ({} = {})", device, node, setting.text, setting.gauge,
                             value);
  };
  if (setting.bad.has_value()) {
    const auto bad = by_value.find(*setting.bad);
    if (bad == by_value.end()) {
      return;
    }
    const bool everywhere = by_value.size() == 1 && values.size() == nodes;
    for (const std::string& node : bad->second) {
      if (by_value.size() > 1) {
        result->differences.push_back({node, text(node, bad->first)});
      } else if (everywhere && setting.shared) {
        result->shared.push_back({node, text(node, bad->first)});
      }
    }
    return;
  }
  if (by_value.size() == 2 && values.size() >= 3) {
    for (const auto& [value, with] : by_value) {
      if (with.size() == 1) {
        result->differences.push_back({with.front(), text(with.front(), value)});
      }
    }
  }
}

// NICs that the ranks of a node use.
std::map<std::string, std::map<std::string, std::vector<int>>> UsedNics(
    const model::JobModel& job) {
  std::map<std::string, std::map<std::string, std::vector<int>>> used;
  for (const auto& [number, rank] : job.ranks()) {
    if (!rank.info.node.empty()) {
      used[rank.info.node][rank.info.nic].push_back(number);
    }
  }
  return used;
}

std::size_t RankCount(const std::map<std::string, std::vector<int>>& nics) {
  std::size_t count = 0;
  for (const auto& [nic, ranks] : nics) {
    count += ranks.size();
  }
  return count;
}

}  // namespace

std::vector<SharedNic> FindSharedNics(const model::JobModel& job) {
  const auto used = UsedNics(job);
  std::vector<SharedNic> found;
  for (const auto& [node, nics] : used) {
    // A like node spreads as many ranks over more NICs.
    const auto like = std::find_if(used.begin(), used.end(), [&](const auto& other) {
      return RankCount(other.second) == RankCount(nics) && !other.second.contains("") &&
             other.second.size() > nics.size();
    });
    if (like == used.end() || nics.contains("")) {
      continue;
    }
    std::size_t fair = 0;
    for (const auto& [nic, ranks] : like->second) {
      fair = std::max(fair, ranks.size());
    }
    for (const auto& [nic, ranks] : nics) {
      if (ranks.size() > fair) {
        found.push_back({node, nic, ranks, like->first});
      }
    }
  }
  return found;
}

Configuration CompareNodes(const Context& context, const std::set<std::string>& nodes,
                           Symptom symptom) {
  Configuration result;
  const auto used = UsedNics(context.job);
  std::map<std::size_t, std::vector<std::string>> alike;
  for (const std::string& node : nodes) {
    if (const auto found = used.find(node); found != used.end()) {
      alike[RankCount(found->second)].push_back(node);
    }
  }
  for (const auto& [count, like] : alike) {
    for (const Setting& setting : kSettings) {
      if (symptom == Symptom::kHang ? !setting.hangs : !setting.slows) {
        continue;
      }
      std::map<std::string, Values> by_device;
      for (const std::string& node : like) {
        for (const auto& [device, value] : context.nodes.Gauge(node, setting.gauge, context.now)) {
          by_device[device][node] = value;
        }
      }
      for (const auto& [device, values] : by_device) {
        CompareSetting(setting, device, values, like.size(), &result);
      }
    }
  }
  for (const SharedNic& shared : FindSharedNics(context.job)) {
    if (nodes.contains(shared.node)) {
      result.differences.push_back(
          {shared.node,
           fmt::format("{} ranks of {} share {}, while on {} each has its own or fewer "
                       "share one",
                       shared.ranks.size(), shared.node, shared.nic, shared.like)});
    }
  }
  for (const Difference& difference : result.differences) {
    const bool first = &difference == &result.differences.front();
    result.odd_node = first || result.odd_node == difference.node ? difference.node : "";
    if (result.odd_node.empty()) {
      break;
    }
  }
  return result;
}

void BlameConfiguration(const Configuration& configuration, model::Finding* finding) {
  const bool odd = !configuration.differences.empty();
  const std::vector<Difference>& reasons = odd ? configuration.differences : configuration.shared;
  finding->component = model::Component{};
  finding->component.kind = model::component_kind::kConfig;
  const bool one = std::all_of(reasons.begin(), reasons.end(), [&](const Difference& reason) {
    return reason.node == reasons.front().node;
  });
  finding->component.node = one ? reasons.front().node : "";
  finding->suspects.clear();
  finding->confidence = !odd ? 0.6 : configuration.odd_node.empty() ? 0.7 : 0.85;
  finding->action = model::action::kAlert;
  std::string text;
  for (const Difference& reason : reasons) {
    finding->evidence.push_back({"configuration", finding->onset, reason.text, 0, ""});
    if (text.size() < 300) {
      text += (text.empty() ? "" : "; ") + reason.text;
    }
  }
  finding->summary += fmt::format(" A setting to put right, not broken hardware: {}.", text);
}

}  // namespace c4::localise
