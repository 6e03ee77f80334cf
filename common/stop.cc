#include "common/stop.h"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

namespace c4 {

absl::StatusOr<StopSignal> StopSignal::Create() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  if (const int error = pthread_sigmask(SIG_BLOCK, &signals, nullptr); error != 0) {
    return absl::ErrnoToStatus(error, "blocking SIGINT and SIGTERM");
  }
  // A peer that closes its socket must not end the process.
  std::signal(SIGPIPE, SIG_IGN);
  const int fd = signalfd(-1, &signals, SFD_CLOEXEC);
  if (fd < 0) {
    return absl::ErrnoToStatus(errno, "signalfd");
  }
  return StopSignal(fd);
}

StopSignal::StopSignal(StopSignal&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

StopSignal::~StopSignal() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

int StopSignal::Wait() const {
  signalfd_siginfo info{};
  while (read(fd_, &info, sizeof(info)) != sizeof(info)) {
    if (errno != EINTR) {
      return 0;
    }
  }
  return static_cast<int>(info.ssi_signo);
}

}  // namespace c4
