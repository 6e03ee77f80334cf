#include "agent/app/agent.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "agent/app/clean_text.h"
#include "agent/limits.h"
#include "agent/telemetry/proc_parsers.h"
#include "agent/telemetry/register_collectors.h"
#include "common/file.h"
#include "common/status_macros.h"
#include "common/version.h"
#include "spdlog/spdlog.h"

namespace c4::agent {
namespace {

// What inotify misses (queue overflow, a new directory) is found within this time.
constexpr std::int64_t kRefreshPeriodNs = 2 * kSecondNs;
constexpr std::int64_t kFlushNs = 2 * kSecondNs;
// An operation that began before this much is told late rather than holding the watermark back: a
// file may hold one that has been stuck for hours.
constexpr std::int64_t kReplayFloorNs = 30 * kSecondNs;

Uplink::Options UplinkOptions(const Options& options, const std::string& agent_instance) {
  Uplink::Options uplink;
  uplink.address = options.analyzer;
  uplink.hello.set_node(CleanText(options.node));
  uplink.hello.set_agent_version(kVersion);
  uplink.hello.set_agent_instance(agent_instance);
  const absl::StatusOr<std::string> boot_id =
      ReadFile(options.proc_root + "/sys/kernel/random/boot_id", kProcFileBytesMax);
  if (boot_id.ok()) {
    uplink.hello.set_boot_id(CleanText(Trim(*boot_id)));
  }
  return uplink;
}

NodeHealth MakeHealth(const Options& options, const Clock* clock) {
  auto processes = std::make_shared<WatchedProcesses>();
  auto collectors = RegisterAllCollectors(options.proc_root, options.sys_root, processes);
  return {std::move(collectors), std::move(processes), clock};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Agent>> Agent::Create(const Options& options,
                                                     Dependencies dependencies) {
  C4_ASSIGN_OR_RETURN(std::unique_ptr<EventLoop> loop, EventLoop::Create());
  auto agent = std::unique_ptr<Agent>(new Agent(options, std::move(dependencies), std::move(loop)));
  C4_RETURN_IF_ERROR(agent->Prepare());
  return agent;
}

Agent::Agent(const Options& options, Dependencies dependencies, std::unique_ptr<EventLoop> loop)
    : options_(options),
      dependencies_(std::move(dependencies)),
      clock_(dependencies_.clock),
      time_(*clock_),
      loop_(std::move(loop)),
      directory_(options.run_dir),
      files_(&directory_, options.proc_root,
             [this](int pidfd, bool is_new) { WatchProcess(pidfd, is_new); }),
      builder_(time_),
      health_(MakeHealth(options, clock_)),
      uplink_(UplinkOptions(options, dependencies_.agent_instance), clock_, dependencies_.uniform) {
}

absl::Status Agent::Prepare() {
  if (const absl::Status status = directory_.Start(); status.ok()) {
    C4_RETURN_IF_ERROR(loop_->Add(directory_.inotify_fd(), [this] {
      // A file that appears and whose process ends before the next pass is still caught.
      directory_.DrainEvents();
      files_.Sync(clock_->MonotonicNs());
    }));
  } else {
    spdlog::warn("no inotify: new hook files are found every {} s", kRefreshPeriodNs / kSecondNs);
  }
  C4_RETURN_IF_ERROR(loop_->Add(dependencies_.stop_fd, [this] { loop_->Stop(); }));
  return loop_->AddTimer(kPassPeriodNs, [this] { Pass(); });
}

absl::Status Agent::Run() {
  uplink_.Start();
  health_.Start();
  Pass();
  const absl::Status status = loop_->Run();
  Pass();
  health_.Stop();
  uplink_.Stop(kFlushNs);
  return status;
}

void Agent::WatchProcess(int pidfd, bool is_new) {
  if (!is_new) {
    loop_->Remove(pidfd);
    return;
  }
  const absl::Status status =
      loop_->Add(pidfd, [this] { files_.CheckProcesses(clock_->MonotonicNs()); });
  if (!status.ok()) {
    spdlog::debug("a process is watched by the passes alone");
  }
}

void Agent::Pass() {
  const bool is_restart = uplink_.TakeRestartRequest();
  if (is_restart) {
    files_.Rewind();
    losses_.Rewind();
    health_.Rewind();
  }
  // Before anything is read: what happens from here on may be missing from this pass.
  const std::int64_t now_ns = clock_->MonotonicNs();
  directory_.DrainEvents();
  if (refreshed_ns_ == 0 || now_ns - refreshed_ns_ >= kRefreshPeriodNs) {
    refreshed_ns_ = now_ns;
    directory_.Refresh();
  }
  files_.Sync(now_ns);
  const std::int64_t hold_ns = files_.Poll(now_ns, &builder_, &losses_);
  health_.Pass(now_ns, &files_, &builder_, &losses_);
  NoteUplinkLosses(uplink_.GetStats());
  losses_.Write(&builder_);

  // All that the hook has published by now is read. It publishes an enqueue within microseconds, a
  // start or end with its poller's delay; a position that was claimed and not yet published holds
  // its pass back (hold_ns).
  const std::int64_t partial_ns =
      is_restart ? std::max(builder_.oldest_enqueue_ns() - 1, now_ns - kReplayFloorNs)
                 : complete_until_ns_;
  const std::int64_t read_until_ns = hold_ns == 0 ? now_ns : std::min(now_ns, hold_ns);
  complete_until_ns_ = std::max(complete_until_ns_, read_until_ns - kPublishDelayNs);
  std::vector<Payload> payloads = builder_.Take(
      time_.Unix(complete_until_ns_), time_.Unix(std::min(partial_ns, complete_until_ns_)));
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    if (i == 0 && is_restart) {
      uplink_.PushRestart(std::move(payloads[i]));
    } else {
      uplink_.Push(std::move(payloads[i]));
    }
  }
}

void Agent::NoteUplinkLosses(const Uplink::Stats& stats) {
  for (const auto& [who, count] : stats.dropped) {
    losses_.Set("uplink", who.first, who.second, "spool_full", count);
  }
  for (const auto& [who, count] : stats.rejected) {
    losses_.Set("uplink", who.first, who.second, "batch_rejected", count);
  }
}

}  // namespace c4::agent
