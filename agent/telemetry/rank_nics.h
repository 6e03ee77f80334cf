// Which network device serves each rank: what the rank's environment told NCCL to use, and among
// several InfiniBand devices the one that is nearest to its GPU in the PCI tree, as NCCL chooses.
// Empty when that does not single one out: a wrong name would accuse the wrong part.
//
// Sees the environment that the process was started with; what a program sets for itself later is
// not visible from outside.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/telemetry/collector.h"

namespace c4::agent {

class RankNics final : public Collector {
 public:
  RankNics(std::string proc_root, std::string sys_root,
           std::shared_ptr<const WatchedProcesses> processes)
      : proc_root_(std::move(proc_root)),
        sys_root_(std::move(sys_root)),
        processes_(std::move(processes)) {}

  const CollectorInfo& info() const override;
  Outcome Collect(std::int64_t now_ns, Samples* samples, std::string* error) override;
  void Rewind() override {}  // the event loop keeps what it was told

 private:
  std::string Choose(std::string_view environ, const std::string& gpu_pci) const;
  std::string NearestDevice(const std::vector<std::string>& devices,
                            const std::string& gpu_pci) const;

  const std::string proc_root_;
  const std::string sys_root_;
  const std::shared_ptr<const WatchedProcesses> processes_;
  std::map<std::int32_t, WatchedProcess> done_;  // by pid
};

}  // namespace c4::agent
