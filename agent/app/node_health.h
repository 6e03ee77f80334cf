// The collectors and the way from their samples to the batch: whose process, which words, clean
// text. Owned by the event loop's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "agent/app/batch_builder.h"
#include "agent/app/hook_files.h"
#include "agent/app/loss_ledger.h"
#include "agent/telemetry/collector.h"
#include "agent/telemetry/collector_runner.h"
#include "common/clock.h"

namespace c4::agent {

class NodeHealth {
 public:
  // `processes` is what the collectors look at and outlives them, hung ones too: it is shared.
  NodeHealth(std::vector<std::unique_ptr<Collector>> collectors,
             std::shared_ptr<WatchedProcesses> processes, const Clock* clock);

  void Start();
  // Tells the collectors which processes there are, and the batch what they have found.
  void Pass(std::int64_t now_ns, HookFiles* files, BatchBuilder* builder, LossLedger* losses);
  void Rewind();
  void Stop();

 private:
  const std::shared_ptr<WatchedProcesses> processes_;
  std::vector<std::unique_ptr<CollectorRunner>> runners_;
  Samples samples_;
};

}  // namespace c4::agent
