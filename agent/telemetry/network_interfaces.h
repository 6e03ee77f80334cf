// Ethernet and the like: /sys/class/net. Every 200 ms, because a dead link must be known as soon as
// the collectives hang on it. Loopback and the host's ends of containers' links are left out.
#pragma once

#include <map>
#include <string>

#include "agent/telemetry/collector.h"
#include "agent/telemetry/link_state.h"

namespace c4::agent {

class NetworkInterfaces final : public Collector {
 public:
  explicit NetworkInterfaces(std::string sys_root) : sys_root_(std::move(sys_root)) {}

  const CollectorInfo& info() const override;
  Outcome Collect(std::int64_t now_ns, Samples* samples, std::string* error) override;
  void Rewind() override;

 private:
  const std::string sys_root_;
  std::map<std::string, LinkState> links_;
};

// Whether an interface of this name can carry a job's traffic out of the node.
bool IsNodeInterface(const std::string& name);

}  // namespace c4::agent
