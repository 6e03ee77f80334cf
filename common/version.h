// The one version of all programs of C4. Follows project(VERSION) in CMakeLists.txt.
#pragma once

namespace c4 {

inline constexpr char kVersion[] = C4_VERSION;

}  // namespace c4
