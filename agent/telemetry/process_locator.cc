#include "agent/telemetry/process_locator.h"

#include <dirent.h>
#include <sys/stat.h>

#include "absl/cleanup/cleanup.h"
#include "agent/limits.h"
#include "agent/telemetry/proc_parsers.h"
#include "common/file.h"

namespace c4::agent {
namespace {

bool HasStarted(const std::string& directory, std::uint64_t start_ticks) {
  const absl::StatusOr<std::string> text = ReadFile(directory + "/stat", kProcFileBytesMax);
  if (!text.ok()) {
    return false;
  }
  const std::optional<ProcStat> stat = ParseStat(*text);
  // A zombie is not alive any more: nothing can be learned from it but how it ended.
  return stat && stat->start_ticks == start_ticks;
}

bool CallsItself(const std::string& directory, std::int32_t pid) {
  const absl::StatusOr<std::string> text = ReadFile(directory + "/status", kProcFileBytesMax);
  return text.ok() && ParseInnermostPid(*text) == pid;
}

std::optional<LocatedProcess> Describe(const std::string& directory, pid_t pid) {
  struct stat info {};
  if (stat(directory.c_str(), &info) != 0) {
    return std::nullopt;
  }
  return LocatedProcess{pid, info.st_uid};
}

}  // namespace

std::optional<LocatedProcess> LocateProcess(const std::string& proc_root, std::int32_t pid,
                                            std::uint64_t start_ticks) {
  const std::string direct = proc_root + "/" + std::to_string(pid);
  if (pid > 0 && HasStarted(direct, start_ticks)) {
    return Describe(direct, pid);
  }
  DIR* const directory = opendir(proc_root.c_str());
  if (directory == nullptr) {
    return std::nullopt;
  }
  const auto closer = absl::MakeCleanup([directory] { closedir(directory); });
  while (const dirent* const entry = readdir(directory)) {
    const std::optional<std::int64_t> other = ParseInteger(entry->d_name);
    const std::string path = proc_root + "/" + entry->d_name;
    if (other && *other != pid && HasStarted(path, start_ticks) && CallsItself(path, pid)) {
      return Describe(path, static_cast<pid_t>(*other));
    }
  }
  return std::nullopt;
}

}  // namespace c4::agent
