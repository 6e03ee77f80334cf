// One thread that waits for descriptors and calls what was registered for them. Callbacks run on
// that thread one after the other and must not block.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace c4::agent {

class EventLoop {
 public:
  static absl::StatusOr<std::unique_ptr<EventLoop>> Create();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Calls `callback` whenever `fd` is readable. The descriptor stays the caller's, who removes it
  // before closing it.
  absl::Status Add(int fd, std::function<void()> callback);
  void Remove(int fd);

  // Every `period_ns`; what was missed while a callback ran is not made up for.
  absl::Status AddTimer(std::int64_t period_ns, std::function<void()> callback);

  // Until Stop() is called from a callback. Errors: epoll itself.
  absl::Status Run();
  void Stop() { is_stopped_ = true; }

 private:
  explicit EventLoop(int epoll_fd) : epoll_fd_(epoll_fd) {}

  const int epoll_fd_;
  bool is_stopped_ = false;
  // Shared: a callback may remove itself.
  std::map<int, std::shared_ptr<std::function<void()>>> callbacks_;
  std::vector<int> timers_;
};

}  // namespace c4::agent
