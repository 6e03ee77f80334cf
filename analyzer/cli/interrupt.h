// Ends a call that blocks its thread: when a descriptor becomes readable (Ctrl-C), when no answer
// has come in time, or when the time that the user wanted is over. A thread waits for the three.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace c4::cli {

class Interrupt {
 public:
  enum class Cause { kNone, kStopped, kNoAnswer, kTimeIsUp };
  struct Options {
    int stop_fd = -1;  // -1: none
    absl::Duration answer_within = absl::InfiniteDuration();
    absl::Duration duration = absl::InfiniteDuration();  // from the answer on
  };

  // `cancel` is called at most once, on the waiting thread.
  static absl::StatusOr<std::unique_ptr<Interrupt>> Start(Options options,
                                                          std::function<void()> cancel);
  ~Interrupt() { End(); }
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // The first answer has come.
  void Answered() { Tell('a'); }

  // Waits for nothing any more; why `cancel` was called.
  Cause End();

 private:
  Interrupt(Options options, std::function<void()> cancel)
      : options_(options), cancel_(std::move(cancel)) {}
  void Run();
  void Tell(char what);

  const Options options_;
  const std::function<void()> cancel_;
  int told_[2] = {-1, -1};      // a pipe to the thread
  Cause cause_ = Cause::kNone;  // the thread's until it has ended
  std::thread thread_;
};

}  // namespace c4::cli
