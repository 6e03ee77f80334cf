// Files of /proc/<pid>, untrusted text, to values. Pure functions: no file, no clock. A process can
// choose its own name and environment, so any bytes may come.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace c4::agent {

// /proc/<pid>/stat, see proc(5).
struct ProcStat {
  char state = '?';
  std::uint64_t user_ticks = 0;
  std::uint64_t system_ticks = 0;
  std::uint64_t start_ticks = 0;
  std::int32_t exit_code = 0;  // as wait(2) gives it; meaningful for a zombie only
};
std::optional<ProcStat> ParseStat(std::string_view text);

// /proc/<pid>/io.
struct ProcIo {
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
};
std::optional<ProcIo> ParseIo(std::string_view text);

// The last number of NSpid in /proc/<pid>/status: the pid that the process itself sees. Nothing on
// kernels without it.
std::optional<std::int32_t> ParseInnermostPid(std::string_view status);

// The value of a variable in /proc/<pid>/environ (NAME=VALUE, separated by NUL).
std::optional<std::string> FindVariable(std::string_view environ, std::string_view name);

// A whole decimal number, nothing else (leading blanks and a final newline apart).
std::optional<std::int64_t> ParseInteger(std::string_view text);

// Without blanks and newlines at both ends.
std::string_view Trim(std::string_view text);

}  // namespace c4::agent
