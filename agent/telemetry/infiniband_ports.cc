#include "agent/telemetry/infiniband_ports.h"

#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "agent/limits.h"
#include "agent/telemetry/sys_files.h"

namespace c4::agent {
namespace {

constexpr std::array<CollectorField, 5> kFields = {{
    {"nic_link_down", "", "state left ACTIVE, or link_downed grew"},
    {"nic_link_up", "", "state is ACTIVE again"},
    {"nic_errors", "events", "a counter of counters/ or hw_counters/ has grown"},
    {"port_active", "0 or 1", "state"},
    {"rate_gbps", "Gbit/s", "rate"},
}};
constexpr CollectorInfo kInfo = {"infiniband_ports", 200 * kMillisecondNs, kSecondNs, kFields};

// Signal quality and what it costs. port_xmit_wait and the like are congestion, which is ordinary.
constexpr const char* kErrorCounters[] = {
    "counters/symbol_error",           "counters/link_error_recovery",
    "counters/port_rcv_errors",        "counters/local_link_integrity_errors",
    "counters/port_xmit_discards",     "hw_counters/local_ack_timeout_err",
    "hw_counters/packet_seq_err",      "hw_counters/roce_adp_retrans_to",
    "hw_counters/rx_icrc_encapsulated"};

// "400 Gb/sec (4X NDR)".
std::optional<double> ParseRate(const std::string& text) {
  double rate = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
  if (error != std::errc() || rate <= 0 ||
      !std::string(end, text.data() + text.size()).starts_with(" Gb/sec")) {
    return std::nullopt;
  }
  return rate;
}

LinkLook LookAt(const std::string& path) {
  LinkLook look;
  look.is_up = ReadText(path + "/state").value_or("").starts_with("4:");
  look.rate_gbps = ParseRate(ReadText(path + "/rate").value_or(""));
  look.downs = ReadInteger(path + "/counters/link_downed");
  for (const std::string counter : kErrorCounters) {
    if (const auto value = ReadInteger(path + "/" + counter)) {
      look.error_counters[counter.substr(counter.find('/') + 1)] = *value;
    }
  }
  return look;
}

}  // namespace

const CollectorInfo& InfinibandPorts::info() const { return kInfo; }

Outcome InfinibandPorts::Collect(std::int64_t now_ns, Samples* samples, std::string* /*error*/) {
  const std::string root = sys_root_ + "/class/infiniband";
  const auto devices = ListNames(root, kInterfacesMax);
  if (!devices || devices->empty()) {
    if (links_.empty()) {
      return Outcome::kUnsupported;
    }
  }
  const std::size_t before = samples->size();
  std::set<std::string> seen;
  for (const std::string& device : devices.value_or(std::vector<std::string>())) {
    const std::string ports = root + "/" + device + "/ports";
    for (const std::string& port : ListNames(ports, 8).value_or(std::vector<std::string>())) {
      const std::string name = port == "1" ? device : device + ":" + port;
      seen.insert(name);
      links_.try_emplace(name, name)
          .first->second.Take(LookAt(ports + "/" + port), now_ns, samples);
    }
  }
  for (auto link = links_.begin(); link != links_.end();) {
    if (seen.contains(link->first)) {
      ++link;
    } else {
      link->second.Vanish(now_ns, samples);
      link = links_.erase(link);
    }
  }
  return samples->size() > before ? Outcome::kData : Outcome::kNoData;
}

void InfinibandPorts::Rewind() {
  for (auto& [name, link] : links_) {
    link.Rewind();
  }
}

}  // namespace c4::agent
