#include "agent/telemetry/register_collectors.h"

#include <unistd.h>

#include "agent/telemetry/host_states.h"
#include "agent/telemetry/infiniband_ports.h"
#include "agent/telemetry/network_interfaces.h"
#include "agent/telemetry/rank_nics.h"

namespace c4::agent {

std::vector<std::unique_ptr<Collector>> RegisterAllCollectors(
    const std::string& proc_root, const std::string& sys_root,
    std::shared_ptr<const WatchedProcesses> processes) {
  std::vector<std::unique_ptr<Collector>> collectors;
  collectors.push_back(std::make_unique<NetworkInterfaces>(sys_root));
  collectors.push_back(std::make_unique<InfinibandPorts>(sys_root));
  collectors.push_back(std::make_unique<HostStates>(proc_root, processes, sysconf(_SC_CLK_TCK)));
  collectors.push_back(std::make_unique<RankNics>(proc_root, sys_root, processes));
  return collectors;
}

}  // namespace c4::agent
