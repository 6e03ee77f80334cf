// C4_CHECK(condition) and C4_CHECK(condition, "why"): aborts on a bug of our own, in every build.
// Never for input, the environment or another process: those are absl::Status.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace c4 {

[[noreturn]] inline void CheckFailed(const char* file, int line, const char* condition,
                                     const char* why = "") {
  // stderr, not the logger: the logger may be what is broken.
  std::fprintf(stderr, "%s:%d: C4_CHECK failed: %s %s\n", file, line, condition, why);
  std::abort();
}

}  // namespace c4

#define C4_CHECK(condition, ...)      \
  ((condition) ? static_cast<void>(0) \
               : ::c4::CheckFailed(__FILE__, __LINE__, #condition __VA_OPT__(, ) __VA_ARGS__))
