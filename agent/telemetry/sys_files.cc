#include "agent/telemetry/sys_files.h"

#include <dirent.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <memory>

#include "absl/cleanup/cleanup.h"
#include "agent/limits.h"
#include "agent/telemetry/proc_parsers.h"
#include "common/file.h"

namespace c4::agent {

std::optional<std::string> ReadText(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, kProcFileBytesMax);
  if (!text.ok()) {
    return std::nullopt;
  }
  return std::string(Trim(*text));
}

std::optional<std::int64_t> ReadInteger(const std::string& path) {
  const std::optional<std::string> text = ReadText(path);
  return text ? ParseInteger(*text) : std::nullopt;
}

std::optional<std::vector<std::string>> ListNames(const std::string& path, std::size_t count_max) {
  DIR* const directory = opendir(path.c_str());
  if (directory == nullptr) {
    return std::nullopt;
  }
  const auto closer = absl::MakeCleanup([directory] { closedir(directory); });
  std::vector<std::string> names;
  while (const dirent* const entry = readdir(directory)) {
    if (entry->d_name[0] != '.' && names.size() < count_max) {
      names.emplace_back(entry->d_name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string ResolvePath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(realpath(path.c_str(), nullptr),
                                                             &std::free);
  return resolved == nullptr ? std::string() : std::string(resolved.get());
}

}  // namespace c4::agent
