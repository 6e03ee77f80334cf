#include "agent/telemetry/process_watch.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "agent/limits.h"
#include "agent/telemetry/proc_parsers.h"
#include "common/file.h"

namespace c4::agent {
namespace {

// linux/pidfd.h of 6.15 and newer; Debian 12's headers are older. The first published size.
struct PidfdInfo {
  std::uint64_t mask;
  std::uint64_t cgroup_id;
  std::uint32_t pid, tgid, ppid;
  std::uint32_t ids[8];
  std::int32_t exit_code;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr unsigned long kPidfdGetInfo = _IOWR(0xFF, 11, PidfdInfo);
constexpr std::uint64_t kPidfdInfoExit = 1 << 3;

std::optional<ProcStat> ReadStat(const std::string& proc_root, pid_t pid) {
  const absl::StatusOr<std::string> text =
      ReadFile(proc_root + "/" + std::to_string(pid) + "/stat", kProcFileBytesMax);
  return text.ok() ? ParseStat(*text) : std::nullopt;
}

bool IsProcess(const std::string& proc_root, pid_t pid, std::uint64_t start_ticks) {
  const std::optional<ProcStat> stat = ReadStat(proc_root, pid);
  return stat && stat->start_ticks == start_ticks;
}

}  // namespace

ExitStatus FromWaitStatus(std::int32_t wait_status) {
  if (WIFSIGNALED(wait_status)) {
    return {-1, WTERMSIG(wait_status)};
  }
  return {WEXITSTATUS(wait_status), 0};
}

ProcessWatch::ProcessWatch(std::string proc_root, pid_t pid, std::uint64_t start_ticks)
    : proc_root_(std::move(proc_root)), pid_(pid), start_ticks_(start_ticks) {
  // pid and proc_root may belong to a namespace that is not ours: the descriptor must be of the
  // process that our own /proc shows with this start time.
  pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (pidfd_ >= 0 && !IsProcess("/proc", pid_, start_ticks_)) {
    close(pidfd_);
    pidfd_ = -1;
  }
}

ProcessWatch::~ProcessWatch() {
  if (pidfd_ >= 0) {
    close(pidfd_);
  }
}

bool ProcessWatch::HasEnded() const {
  if (pidfd_ >= 0) {
    pollfd ended = {.fd = pidfd_, .events = POLLIN, .revents = 0};
    return poll(&ended, 1, 0) > 0;
  }
  const std::optional<ProcStat> stat = ReadStat(proc_root_, pid_);
  return !stat || stat->start_ticks != start_ticks_ || stat->state == 'Z' || stat->state == 'X';
}

std::optional<ExitStatus> ProcessWatch::ReadExitStatus() const {
  const std::optional<ExitStatus> status = FromPidfd();
  return status ? status : FromZombie();
}

std::optional<ExitStatus> ProcessWatch::FromPidfd() const {
  PidfdInfo info{};
  info.mask = kPidfdInfoExit;
  if (pidfd_ < 0 || ioctl(pidfd_, kPidfdGetInfo, &info) != 0 || (info.mask & kPidfdInfoExit) == 0) {
    return std::nullopt;
  }
  return FromWaitStatus(info.exit_code);
}

std::optional<ExitStatus> ProcessWatch::FromZombie() const {
  const std::optional<ProcStat> stat = ReadStat(proc_root_, pid_);
  if (!stat || stat->start_ticks != start_ticks_ || stat->state != 'Z') {
    return std::nullopt;
  }
  // The kernel shows 0 to those who may not trace the process, and 0 is also success.
  struct stat owner {};
  const std::string path = proc_root_ + "/" + std::to_string(pid_);
  if (geteuid() != 0 && (::stat(path.c_str(), &owner) != 0 || owner.st_uid != geteuid())) {
    return std::nullopt;
  }
  return FromWaitStatus(stat->exit_code);
}

}  // namespace c4::agent
