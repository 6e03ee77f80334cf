#include "analyzer/cli/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

namespace c4::cli {
namespace {

using Steady = std::chrono::steady_clock;

// A year is for ever, and does not overflow.
Steady::time_point After(absl::Duration duration) {
  return Steady::now() + absl::ToChronoMilliseconds(std::min(duration, absl::Hours(24 * 365)));
}

// poll() takes at most 24 days; waking up once in between does no harm.
int Left(Steady::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Steady::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000'000));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Interrupt>> Interrupt::Start(Options options,
                                                            std::function<void()> cancel) {
  auto interrupt = std::unique_ptr<Interrupt>(new Interrupt(options, std::move(cancel)));
  if (::pipe2(interrupt->told_, O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "cannot create a pipe");
  }
  interrupt->thread_ = std::thread([raw = interrupt.get()] { raw->Run(); });
  return interrupt;
}

void Interrupt::Tell(char what) {
  // One byte into an empty pipe never blocks and never fails but for a signal.
  while (::write(told_[1], &what, 1) < 0) {
  }
}

void Interrupt::Run() {
  bool answered = false;
  Steady::time_point deadline = After(options_.answer_within);
  while (true) {
    pollfd waits[] = {{told_[0], POLLIN, 0}, {options_.stop_fd, POLLIN, 0}};
    const int ready = ::poll(waits, 2, Left(deadline));
    if (ready < 0) continue;  // a signal
    if ((waits[0].revents & POLLIN) != 0) {
      char what = 0;
      if (::read(told_[0], &what, 1) != 1 || what != 'a') return;
      answered = true;
      deadline = After(options_.duration);
    } else if (waits[1].revents != 0) {
      cause_ = Cause::kStopped;
      break;
    } else if (Left(deadline) == 0) {
      cause_ = answered ? Cause::kTimeIsUp : Cause::kNoAnswer;
      break;
    }
  }
  cancel_();
}

Interrupt::Cause Interrupt::End() {
  if (thread_.joinable()) {
    Tell('e');
    thread_.join();
    ::close(told_[0]);
    ::close(told_[1]);
  }
  return cause_;
}

}  // namespace c4::cli
