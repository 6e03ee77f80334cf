#include "analyzer/api/intake_queue.h"

#include <utility>

namespace c4::api {

bool IntakeQueue::Push(Intake intake) {
  const MutexLock lock(&mutex_);
  if (const auto* batch = std::get_if<ingest::DecodedBatch>(&intake.message)) {
    bytes_ += batch->size_bytes;
  }
  messages_.push_back(std::move(intake));
  mutex_.Notify();
  if (messages_.size() < options_.messages_max && bytes_ < options_.bytes_max) return true;
  paused_.push_back(messages_.back().link);
  return false;
}

std::vector<Intake> IntakeQueue::TakeAll(absl::Duration timeout) {
  std::vector<Intake> taken;
  std::vector<std::weak_ptr<AgentLink>> resumed;
  {
    const MutexLock lock(&mutex_);
    mutex_.AwaitFor(timeout, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return stopped_ || !messages_.empty();
    });
    taken.swap(messages_);
    resumed.swap(paused_);
    bytes_ = 0;
  }
  for (const std::weak_ptr<AgentLink>& paused : resumed) {
    if (const auto link = paused.lock()) link->Resume();
  }
  return taken;
}

void IntakeQueue::Stop() {
  const MutexLock lock(&mutex_);
  stopped_ = true;
  mutex_.Notify();
}

std::size_t IntakeQueue::paused() const {
  const MutexLock lock(&mutex_);
  return paused_.size();
}

}  // namespace c4::api
