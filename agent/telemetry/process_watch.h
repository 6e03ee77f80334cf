// Tells when one process ends, and how. By pidfd where the kernel and the pid namespace allow it,
// else by looking at /proc. One owner thread; nothing here blocks.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace c4::agent {

struct ExitStatus {
  std::int32_t code = -1;   // -1: ended by a signal, or unknown
  std::int32_t signal = 0;  // 0: none, or unknown
};

// What wait(2) reports.
ExitStatus FromWaitStatus(std::int32_t wait_status);

class ProcessWatch {
 public:
  // `start_ticks` is what makes the process the right one.
  ProcessWatch(std::string proc_root, pid_t pid, std::uint64_t start_ticks);
  ~ProcessWatch();
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

  // Readable when the process has ended; -1: HasEnded() must be asked.
  int fd() const { return pidfd_; }

  bool HasEnded() const;

  // How it ended. Nothing while that is not known: the process lives, or nobody may say (yet:
  // some kernels tell only once the parent has fetched it).
  std::optional<ExitStatus> ReadExitStatus() const;

 private:
  std::optional<ExitStatus> FromPidfd() const;
  std::optional<ExitStatus> FromZombie() const;

  const std::string proc_root_;
  const pid_t pid_;
  const std::uint64_t start_ticks_;
  int pidfd_ = -1;
};

}  // namespace c4::agent
