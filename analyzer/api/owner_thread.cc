#include "analyzer/api/owner_thread.h"

namespace c4::api {

OwnerThread::OwnerThread(Options options, IntakeQueue* queue, Owner* owner)
    : options_(options),
      queue_(queue),
      owner_(owner),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void OwnerThread::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    for (const Intake& intake : queue_->TakeAll(options_.tick)) owner_->Take(intake);
    owner_->Tick();
  }
  owner_->CloseStreams(absl::UnavailableError("the analyzer is stopping"));
}

void OwnerThread::Stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  queue_->Stop();
  thread_.join();
}

}  // namespace c4::api
