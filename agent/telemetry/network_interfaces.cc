#include "agent/telemetry/network_interfaces.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "agent/limits.h"
#include "agent/telemetry/sys_files.h"

namespace c4::agent {
namespace {

constexpr std::array<CollectorField, 5> kFields = {{
    {"nic_link_down", "", "operstate left 'up', or carrier_down_count grew"},
    {"nic_link_up", "", "operstate is 'up' again"},
    {"nic_errors", "packets", "a counter of statistics/ has grown"},
    {"port_active", "0 or 1", "operstate"},
    {"rate_gbps", "Gbit/s", "speed"},
}};
constexpr CollectorInfo kInfo = {"network_interfaces", 200 * kMillisecondNs, kSecondNs, kFields};

// What a cable, a transceiver or a congested switch leaves behind. Drops by a full socket buffer or
// an unknown protocol are ordinary and not here.
constexpr const char* kErrorCounters[] = {"rx_errors",      "tx_errors",
                                          "rx_crc_errors",  "rx_missed_errors",
                                          "rx_over_errors", "tx_carrier_errors"};

// Bridges, tunnels and the host's ends of containers' links come and go with the containers.
constexpr const char* kVirtualPrefixes[] = {"veth", "docker", "br-",    "cali", "cni", "flannel",
                                            "lxc",  "virbr",  "tunl",   "kube", "ifb", "dummy",
                                            "sit",  "ip6tnl", "gretap", "vnet", "tap"};

LinkLook LookAt(const std::string& path) {
  LinkLook look;
  const std::string state = ReadText(path + "/operstate").value_or("");
  // Drivers that do not report a state say "unknown"; reading carrier fails when administratively
  // down.
  look.is_up =
      state == "up" || (state == "unknown" && ReadInteger(path + "/carrier").value_or(0) == 1);
  if (const auto mbit = ReadInteger(path + "/speed"); mbit && *mbit > 0) {
    look.rate_gbps = static_cast<double>(*mbit) / 1000;
  }
  look.downs = ReadInteger(path + "/carrier_down_count");
  for (const char* const counter : kErrorCounters) {
    if (const auto value = ReadInteger(path + "/statistics/" + counter)) {
      look.error_counters[counter] = *value;
    }
  }
  return look;
}

}  // namespace

bool IsNodeInterface(const std::string& name) {
  return name != "lo" && std::none_of(std::begin(kVirtualPrefixes), std::end(kVirtualPrefixes),
                                      [&](const char* prefix) { return name.starts_with(prefix); });
}

const CollectorInfo& NetworkInterfaces::info() const { return kInfo; }

Outcome NetworkInterfaces::Collect(std::int64_t now_ns, Samples* samples, std::string* /*error*/) {
  const std::string root = sys_root_ + "/class/net";
  auto names = ListNames(root, 16 * kInterfacesMax);
  if (!names) {
    return Outcome::kUnsupported;
  }
  std::erase_if(*names, [&](const std::string& name) {
    // bonding_masters is a file among the folders.
    return !IsNodeInterface(name) || !ReadText(root + "/" + name + "/operstate");
  });
  names->resize(std::min(names->size(), kInterfacesMax));
  const std::size_t before = samples->size();
  for (auto link = links_.begin(); link != links_.end();) {
    if (std::binary_search(names->begin(), names->end(), link->first)) {
      ++link;
    } else {
      link->second.Vanish(now_ns, samples);
      link = links_.erase(link);
    }
  }
  for (const std::string& name : *names) {
    links_.try_emplace(name, name).first->second.Take(LookAt(root + "/" + name), now_ns, samples);
  }
  return samples->size() > before ? Outcome::kData : Outcome::kNoData;
}

void NetworkInterfaces::Rewind() {
  for (auto& [name, link] : links_) {
    link.Rewind();
  }
}

}  // namespace c4::agent
