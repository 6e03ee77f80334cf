#include "agent/app/node_health.h"

#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "agent/app/clean_text.h"

namespace c4::agent {
namespace {

class Translator {
 public:
  Translator(std::int64_t now_ns, HookFiles* files, BatchBuilder* builder)
      : now_ns_(now_ns), files_(files), builder_(builder) {}

  void operator()(const EventSample& sample) const {
    v1::Event* const event = builder_->control()->add_events();
    event->set_time(builder_->time().Unix(sample.time_ns));
    event->set_kind(CleanText(sample.kind));
    event->set_device(CleanText(sample.device));
    event->set_counter(CleanText(sample.counter));
    event->set_delta(sample.delta);
    event->set_text(CleanText(sample.text));
  }

  void operator()(const GaugeSample& sample) const {
    v1::Gauge* const gauge = builder_->control()->add_gauges();
    gauge->set_time(builder_->time().Unix(sample.time_ns));
    gauge->set_device(CleanText(sample.device));
    gauge->set_name(CleanText(sample.name));
    gauge->set_value(std::isfinite(sample.value) ? sample.value : 0);
  }

  void operator()(const HostStateSample& sample) const {
    const TrackedFile* const file = files_->FindLiving(sample.pid);
    if (file == nullptr || !file->key()) {
      return;  // it ended meanwhile
    }
    v1::HostState* const state = builder_->control()->add_host_states();
    state->set_job(file->key()->job);
    state->set_rank(file->key()->rank);
    state->set_incarnation(file->key()->incarnation);
    state->set_time(builder_->time().Unix(sample.time_ns));
    state->set_state(CleanText(std::string(1, sample.state)));
    state->set_wchan(CleanText(sample.wchan));
    state->set_cpu(sample.cpu_cores);
    state->set_read_bytes_per_s(sample.read_bytes_per_s);
    state->set_write_bytes_per_s(sample.write_bytes_per_s);
    const std::int64_t heartbeat_ns = file->reader()->health().heartbeat_ns;
    if (heartbeat_ns > 0 && heartbeat_ns <= now_ns_) {
      state->set_heartbeat_age(now_ns_ - heartbeat_ns);
    }
  }

  void operator()(const RankNicSample& sample) const {
    if (TrackedFile* const file = files_->FindLiving(sample.pid)) {
      file->SetNic(sample.nic);
    }
  }

 private:
  const std::int64_t now_ns_;
  HookFiles* const files_;
  BatchBuilder* const builder_;
};

}  // namespace

NodeHealth::NodeHealth(std::vector<std::unique_ptr<Collector>> collectors,
                       std::shared_ptr<WatchedProcesses> processes, const Clock* clock)
    : processes_(std::move(processes)) {
  for (std::unique_ptr<Collector>& collector : collectors) {
    runners_.push_back(std::make_unique<CollectorRunner>(std::move(collector), clock));
  }
}

void NodeHealth::Start() {
  for (const auto& runner : runners_) {
    runner->Start();
  }
}

void NodeHealth::Pass(std::int64_t now_ns, HookFiles* files, BatchBuilder* builder,
                      LossLedger* losses) {
  std::vector<WatchedProcess> processes;
  for (const TrackedFile* const file : files->Living()) {
    const FileIdentity& identity = file->reader()->identity();
    processes.push_back({file->pid(), identity.process_start_ticks, identity.gpu_pci});
  }
  processes_->Set(std::move(processes));

  samples_.clear();
  std::uint64_t dropped = 0;
  for (const auto& runner : runners_) {
    runner->Drain(now_ns, &samples_);
    dropped += runner->dropped();
  }
  losses->Set("collectors", "", -1, "samples_full", dropped);
  const Translator translator(now_ns, files, builder);
  for (const Sample& sample : samples_) {
    std::visit(translator, sample);
  }
}

void NodeHealth::Rewind() {
  for (const auto& runner : runners_) {
    runner->Rewind();
  }
}

void NodeHealth::Stop() {
  for (const auto& runner : runners_) {
    runner->Stop();
  }
}

}  // namespace c4::agent
