// The agent of one node: every 200 ms a pass over the hook's files, one batch, handed to the
// uplink. Everything but the uplink and the collectors runs on the thread that calls Run().
//
//   run directory ──inotify──┐
//   processes ──pidfd────────┼─> event loop ──Pass()──> batches ──> uplink's thread ──> analyzer
//   timer, 200 ms ───────────┤
//   collectors, own threads ─┘
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/app/batch_builder.h"
#include "agent/app/event_loop.h"
#include "agent/app/hook_files.h"
#include "agent/app/loss_ledger.h"
#include "agent/app/node_health.h"
#include "agent/app/options.h"
#include "agent/rings/run_directory.h"
#include "agent/uplink/uplink.h"
#include "common/clock.h"

namespace c4::agent {

class Agent {
 public:
  struct Dependencies {
    const Clock* clock = nullptr;
    std::function<double()> uniform;  // random numbers in [0, 1), for the uplink's thread
    std::string agent_instance;
    int stop_fd = -1;  // Run() ends when it becomes readable
  };

  static absl::StatusOr<std::unique_ptr<Agent>> Create(const Options& options,
                                                       Dependencies dependencies);

  // Until the stop descriptor says so; what is still unsent then gets two seconds.
  absl::Status Run();

 private:
  Agent(const Options& options, Dependencies dependencies, std::unique_ptr<EventLoop> loop);

  absl::Status Prepare();
  void Pass();
  void WatchProcess(int pidfd, bool is_new);
  void NoteUplinkLosses(const Uplink::Stats& stats);

  const Options options_;
  const Dependencies dependencies_;
  const Clock* const clock_;
  const NodeTime time_;
  std::unique_ptr<EventLoop> loop_;
  RunDirectory directory_;
  HookFiles files_;
  BatchBuilder builder_;
  LossLedger losses_;
  NodeHealth health_;
  Uplink uplink_;
  std::int64_t refreshed_ns_ = 0;
  std::int64_t complete_until_ns_ = 0;  // monotonic; never goes back
};

}  // namespace c4::agent
