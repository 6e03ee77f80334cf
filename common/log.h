// Sets up spdlog for a program: one line per event on stderr, RFC 3339 UTC time, level, program.
// Call once in main() before threads start; afterwards use spdlog::info() and friends anywhere.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace c4 {

// `level`: trace | debug | info | warn | error | off.
absl::Status InitLogging(const std::string& program, const std::string& level);

}  // namespace c4
