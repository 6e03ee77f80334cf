// InfiniBand and RoCE: /sys/class/infiniband/<device>/ports/<n>. A device is named as NCCL names it
// ("mlx5_0"); further ports of one device as "mlx5_0:2".
#pragma once

#include <map>
#include <string>

#include "agent/telemetry/collector.h"
#include "agent/telemetry/link_state.h"

namespace c4::agent {

class InfinibandPorts final : public Collector {
 public:
  explicit InfinibandPorts(std::string sys_root) : sys_root_(std::move(sys_root)) {}

  const CollectorInfo& info() const override;
  Outcome Collect(std::int64_t now_ns, Samples* samples, std::string* error) override;
  void Rewind() override;

 private:
  const std::string sys_root_;
  std::map<std::string, LinkState> links_;
};

}  // namespace c4::agent
