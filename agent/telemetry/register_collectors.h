// All collectors of the agent, in one place.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/telemetry/collector.h"

namespace c4::agent {

std::vector<std::unique_ptr<Collector>> RegisterAllCollectors(
    const std::string& proc_root, const std::string& sys_root,
    std::shared_ptr<const WatchedProcesses> processes);

}  // namespace c4::agent
