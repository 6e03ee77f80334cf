// The way to an agent that remembers what it was told.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/api/agent_link.h"
#include "analyzer/api/mutex.h"

namespace c4::api {

class FakeLink final : public AgentLink {
 public:
  void Welcome(const std::string& analyzer_instance, std::uint64_t next_sequence) override {
    const MutexLock lock(&mutex_);
    instance_ = analyzer_instance;
    welcomed_.push_back(next_sequence);
  }
  void Acknowledge(std::uint64_t sequence) override {
    const MutexLock lock(&mutex_);
    acknowledged_.push_back(sequence);
  }
  void Close(const absl::Status& why) override {
    const MutexLock lock(&mutex_);
    closed_ = why;
  }
  void Resume() override {
    const MutexLock lock(&mutex_);
    ++resumed_;
  }

  std::vector<std::uint64_t> welcomed() const {
    const MutexLock lock(&mutex_);
    return welcomed_;
  }
  std::vector<std::uint64_t> acknowledged() const {
    const MutexLock lock(&mutex_);
    return acknowledged_;
  }
  std::optional<absl::Status> closed() const {
    const MutexLock lock(&mutex_);
    return closed_;
  }
  int resumed() const {
    const MutexLock lock(&mutex_);
    return resumed_;
  }

 private:
  mutable Mutex mutex_;
  std::string instance_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::uint64_t> welcomed_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::uint64_t> acknowledged_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> closed_ ABSL_GUARDED_BY(mutex_);
  int resumed_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace c4::api
