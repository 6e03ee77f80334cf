#include "agent/telemetry/rank_nics.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "agent/limits.h"
#include "agent/telemetry/network_interfaces.h"
#include "agent/telemetry/nic_filter.h"
#include "agent/telemetry/proc_parsers.h"
#include "agent/telemetry/sys_files.h"
#include "common/file.h"

namespace c4::agent {
namespace {

constexpr std::array<CollectorField, 1> kFields = {{
    {"nic", "", "from NCCL_IB_HCA, NCCL_SOCKET_IFNAME and the PCI tree"},
}};
// environ takes the process's memory lock, which a process stuck in the kernel may hold.
constexpr CollectorInfo kInfo = {"rank_nics", kSecondNs, 2 * kSecondNs, kFields};

// How many folders two devices have in common: the more, the closer the switch that joins them.
std::ptrdiff_t CommonFolders(const std::string& a, const std::string& b) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const bool is_boundary = (end == a.end() || *end == '/') && (other == b.end() || *other == '/');
  return std::count(a.begin(), end, '/') + (is_boundary ? 1 : 0);
}

}  // namespace

const CollectorInfo& RankNics::info() const { return kInfo; }

Outcome RankNics::Collect(std::int64_t /*now_ns*/, Samples* samples, std::string* error) {
  const std::size_t before = samples->size();
  Outcome outcome = Outcome::kNoData;
  std::map<std::int32_t, WatchedProcess> done;
  for (const WatchedProcess& process : processes_->Get()) {
    // Again when more is known of its GPU.
    const auto known = done_.find(process.pid);
    if (known == done_.end() || known->second != process) {
      const std::string path = proc_root_ + "/" + std::to_string(process.pid) + "/environ";
      const absl::StatusOr<std::string> environ = ReadFile(path, kEnvironBytesMax);
      if (!environ.ok()) {
        // Once per process: rights do not come later.
        *error = path + ": cannot be read";
        outcome = Outcome::kFailed;
      } else if (std::string nic = Choose(*environ, process.gpu_pci); !nic.empty()) {
        samples->push_back(RankNicSample{process.pid, std::move(nic)});
      }
    }
    done.emplace(process.pid, process);
  }
  done_ = std::move(done);
  return samples->size() > before ? Outcome::kData : outcome;
}

std::string RankNics::Choose(std::string_view environ, const std::string& gpu_pci) const {
  const auto devices = ListNames(sys_root_ + "/class/infiniband", kInterfacesMax);
  if (devices && !devices->empty() && FindVariable(environ, "NCCL_IB_DISABLE") != "1") {
    const NicFilter filter(FindVariable(environ, "NCCL_IB_HCA").value_or(""));
    std::vector<std::string> taken;
    std::copy_if(devices->begin(), devices->end(), std::back_inserter(taken),
                 [&](const std::string& device) { return filter.Takes(device); });
    return NearestDevice(taken, gpu_pci);
  }
  const std::optional<std::string> specification = FindVariable(environ, "NCCL_SOCKET_IFNAME");
  const auto interfaces = ListNames(sys_root_ + "/class/net", 16 * kInterfacesMax);
  if (!specification || !interfaces) {
    return "";
  }
  const NicFilter filter(*specification);
  std::vector<std::string> taken;
  // Who names devices means them; who excludes some does not mean every virtual one that is left.
  std::copy_if(interfaces->begin(), interfaces->end(), std::back_inserter(taken),
               [&](const std::string& name) {
                 return filter.Takes(name) &&
                        (filter.is_exclusion() ? IsNodeInterface(name) : name != "lo");
               });
  return taken.size() == 1 ? taken.front() : "";
}

std::string RankNics::NearestDevice(const std::vector<std::string>& devices,
                                    const std::string& gpu_pci) const {
  if (devices.size() <= 1) {
    return devices.empty() ? "" : devices.front();
  }
  const std::string gpu =
      gpu_pci.empty() ? "" : ResolvePath(sys_root_ + "/bus/pci/devices/" + gpu_pci);
  if (gpu.empty()) {
    return "";
  }
  std::string nearest;
  std::ptrdiff_t common_max = 0;
  bool is_tie = false;
  for (const std::string& device : devices) {
    const std::ptrdiff_t common =
        CommonFolders(gpu, ResolvePath(sys_root_ + "/class/infiniband/" + device + "/device"));
    if (common > common_max) {
      nearest = device;
      common_max = common;
      is_tie = false;
    } else if (common == common_max) {
      is_tie = true;
    }
  }
  return is_tie ? "" : nearest;
}

}  // namespace c4::agent
