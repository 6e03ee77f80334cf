#include "agent/app/event_loop.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "agent/limits.h"
#include "common/status_macros.h"

namespace c4::agent {

absl::StatusOr<std::unique_ptr<EventLoop>> EventLoop::Create() {
  const int fd = epoll_create1(EPOLL_CLOEXEC);
  if (fd < 0) {
    return absl::ErrnoToStatus(errno, "epoll");
  }
  return std::unique_ptr<EventLoop>(new EventLoop(fd));
}

EventLoop::~EventLoop() {
  for (const int timer : timers_) {
    close(timer);
  }
  close(epoll_fd_);
}

absl::Status EventLoop::Add(int fd, std::function<void()> callback) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) != 0) {
    return absl::ErrnoToStatus(errno, "epoll");
  }
  callbacks_[fd] = std::make_shared<std::function<void()>>(std::move(callback));
  return absl::OkStatus();
}

void EventLoop::Remove(int fd) {
  if (callbacks_.erase(fd) > 0) {
    epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
  }
}

absl::Status EventLoop::AddTimer(std::int64_t period_ns, std::function<void()> callback) {
  const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (fd < 0) {
    return absl::ErrnoToStatus(errno, "timerfd");
  }
  timers_.push_back(fd);
  itimerspec period{};
  period.it_interval.tv_sec = period_ns / kSecondNs;
  period.it_interval.tv_nsec = period_ns % kSecondNs;
  period.it_value = period.it_interval;
  if (timerfd_settime(fd, 0, &period, nullptr) != 0) {
    return absl::ErrnoToStatus(errno, "timerfd");
  }
  return Add(fd, [fd, callback = std::move(callback)] {
    std::uint64_t expirations = 0;
    if (read(fd, &expirations, sizeof(expirations)) > 0) {
      callback();
    }
  });
}

absl::Status EventLoop::Run() {
  while (!is_stopped_) {
    std::array<epoll_event, 64> events;
    const int count = epoll_wait(epoll_fd_, events.data(), static_cast<int>(events.size()), -1);
    if (count < 0 && errno != EINTR) {
      return absl::ErrnoToStatus(errno, "epoll");
    }
    for (int i = 0; i < count && !is_stopped_; ++i) {
      const auto found = callbacks_.find(events[static_cast<std::size_t>(i)].data.fd);
      if (found != callbacks_.end()) {
        const std::shared_ptr<std::function<void()>> callback = found->second;
        (*callback)();
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace c4::agent
