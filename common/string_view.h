// Debian builds Abseil with its own absl::string_view, which is not std::string_view. Our
// interfaces use std; this is the bridge for calls into Abseil.
#pragma once

#include <string_view>

#include "absl/strings/string_view.h"

namespace c4 {

inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view ToStd(absl::string_view text) { return {text.data(), text.size()}; }

}  // namespace c4
