// Reading a whole small file (procfs, sysfs, configuration) with an upper bound.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace c4 {

// At most `bytes_max` bytes; a longer file is an error (kResourceExhausted), a missing one
// kNotFound, an unreadable one kPermissionDenied. Names the path in every error. Never blocks on a
// FIFO or device: only regular files are read.
absl::StatusOr<std::string> ReadFile(const std::string& path, std::size_t bytes_max);

}  // namespace c4
