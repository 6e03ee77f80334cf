// Where a command writes, and for whom. Data goes to `out`, everything else to `err`. Commands
// never touch the process's own streams, so that tests read what they print.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

namespace c4::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitError = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitFault = 10;  // analyze --exit-code

struct Output {
  std::ostream* out = nullptr;
  std::ostream* err = nullptr;
  bool color = false;                 // `out` is a terminal and the user has not asked for none
  int width = 0;                      // of the terminal; 0: not one, nothing is shortened
  std::function<std::int64_t()> now;  // Unix ns, for ages
  bool progress = false;              // `err` is a terminal: somebody watches
};

enum class Format { kTable, kWide, kJson, kName };

}  // namespace c4::cli
