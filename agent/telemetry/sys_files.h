// Small files and folders of /sys and /proc. A missing one is no error: drivers differ in what they
// show.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace c4::agent {

// Trimmed; nothing when it cannot be read.
std::optional<std::string> ReadText(const std::string& path);
std::optional<std::int64_t> ReadInteger(const std::string& path);

// Names in a directory, sorted, at most `count_max`; nothing when there is no such directory.
std::optional<std::vector<std::string>> ListNames(const std::string& path, std::size_t count_max);

// Where a link of /sys/class leads in the device tree; empty when nowhere.
std::string ResolvePath(const std::string& path);

}  // namespace c4::agent
