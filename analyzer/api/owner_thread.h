// The thread that runs the owner: takes the queue, applies, ticks.
#pragma once

#include <thread>

#include "absl/time/time.h"
#include "analyzer/api/intake_queue.h"
#include "analyzer/api/owner.h"

namespace c4::api {

class OwnerThread {
 public:
  struct Options {
    // How long a tick waits for a message. Bounds how late silence is noticed.
    absl::Duration tick = absl::Milliseconds(100);
  };

  // Both outlive this. Starts at once.
  OwnerThread(Options options, IntakeQueue* queue, Owner* owner);
  ~OwnerThread() { Stop(); }
  OwnerThread(const OwnerThread&) = delete;
  OwnerThread& operator=(const OwnerThread&) = delete;

  // Closes the streams and joins. Idempotent.
  void Stop();

 private:
  void Run(const std::stop_token& stop);

  const Options options_;
  IntakeQueue* const queue_;
  Owner* const owner_;
  std::jthread thread_;
};

}  // namespace c4::api
