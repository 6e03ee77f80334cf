// What the operating system says of each rank's process: running or waiting, in which kernel
// function, how much CPU and disk. Once a second; told when it has changed in a way that means
// something, else every 5 s.
//
// State and kernel function are those of the main thread, which is the one that calls NCCL.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "agent/telemetry/collector.h"
#include "agent/telemetry/proc_parsers.h"

namespace c4::agent {

class HostStates final : public Collector {
 public:
  // `ticks_per_second` is sysconf(_SC_CLK_TCK).
  HostStates(std::string proc_root, std::shared_ptr<const WatchedProcesses> processes,
             std::int64_t ticks_per_second)
      : proc_root_(std::move(proc_root)),
        processes_(std::move(processes)),
        ticks_per_second_(ticks_per_second) {}

  const CollectorInfo& info() const override;
  Outcome Collect(std::int64_t now_ns, Samples* samples, std::string* error) override;
  void Rewind() override;

 private:
  struct Look {
    std::int64_t time_ns = 0;
    ProcStat stat;
    ProcIo io;
  };
  struct Known {
    std::uint64_t start_ticks = 0;
    Look before;
    HostStateSample told;
  };

  // False when the process is not there any more.
  bool LookAt(const WatchedProcess& process, std::int64_t now_ns, Samples* samples);

  const std::string proc_root_;
  const std::shared_ptr<const WatchedProcesses> processes_;
  const std::int64_t ticks_per_second_;
  std::map<std::int32_t, Known> known_;  // by pid
};

}  // namespace c4::agent
