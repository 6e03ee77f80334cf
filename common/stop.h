// SIGINT and SIGTERM as something an event loop can wait for.
//
// Create one in main() before any thread starts: the signals are blocked in the whole process and
// arrive through a signalfd only, so that no code ever runs inside a signal handler. One per
// process.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"

namespace c4 {

class StopSignal {
 public:
  static absl::StatusOr<StopSignal> Create();
  StopSignal(StopSignal&& other) noexcept;
  StopSignal& operator=(StopSignal&&) = delete;
  ~StopSignal();

  // Readable once a signal has come. For epoll.
  int fd() const { return fd_; }

  // Blocks until a signal comes; returns its number.
  int Wait() const;

 private:
  explicit StopSignal(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace c4
