#include "agent/telemetry/proc_parsers.h"

#include <algorithm>
#include <charconv>

namespace c4::agent {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

template <typename Number>
bool ParseNumber(std::string_view text, Number* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

// The next field of `text`, which is cut off it; empty at the end.
std::string_view TakeField(std::string_view* text) {
  const std::size_t begin = text->find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) {
    *text = {};
    return {};
  }
  const std::size_t end = std::min(text->find_first_of(kBlanks, begin), text->size());
  const std::string_view field = text->substr(begin, end - begin);
  text->remove_prefix(end);
  return field;
}

// "name: value" anywhere at the beginning of a line.
std::optional<std::string_view> FindLine(std::string_view text, std::string_view name) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (line.starts_with(name) && line.substr(name.size()).starts_with(':')) {
      return Trim(line.substr(name.size() + 1));
    }
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace

std::string_view Trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::optional<std::int64_t> ParseInteger(std::string_view text) {
  std::int64_t value = 0;
  if (!ParseNumber(Trim(text), &value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<ProcStat> ParseStat(std::string_view text) {
  // The command is in brackets and may contain anything, brackets too: fields count from the last.
  const std::size_t bracket = text.rfind(')');
  if (bracket == std::string_view::npos) {
    return std::nullopt;
  }
  text.remove_prefix(bracket + 1);
  ProcStat stat;
  const std::string_view state = TakeField(&text);
  if (state.size() != 1) {
    return std::nullopt;
  }
  stat.state = state[0];
  bool is_valid = true;
  bool has_start = false;
  for (int field = 4; field <= 52; ++field) {
    const std::string_view value = TakeField(&text);
    if (value.empty()) {
      break;  // older kernels have fewer
    }
    switch (field) {
      case 14:
        is_valid &= ParseNumber(value, &stat.user_ticks);
        break;
      case 15:
        is_valid &= ParseNumber(value, &stat.system_ticks);
        break;
      case 22:
        has_start = ParseNumber(value, &stat.start_ticks);
        break;
      case 52:
        is_valid &= ParseNumber(value, &stat.exit_code);
        break;
      default:
        break;
    }
  }
  if (!is_valid || !has_start) {
    return std::nullopt;
  }
  return stat;
}

std::optional<ProcIo> ParseIo(std::string_view text) {
  const std::optional<std::string_view> read = FindLine(text, "read_bytes");
  const std::optional<std::string_view> write = FindLine(text, "write_bytes");
  ProcIo io;
  if (!read || !write || !ParseNumber(*read, &io.read_bytes) ||
      !ParseNumber(*write, &io.write_bytes)) {
    return std::nullopt;
  }
  return io;
}

std::optional<std::int32_t> ParseInnermostPid(std::string_view status) {
  const std::optional<std::string_view> pids = FindLine(status, "NSpid");
  if (!pids) {
    return std::nullopt;
  }
  const std::size_t last = pids->find_last_of(kBlanks);
  std::int32_t pid = 0;
  if (!ParseNumber(last == std::string_view::npos ? *pids : pids->substr(last + 1), &pid)) {
    return std::nullopt;
  }
  return pid;
}

std::optional<std::string> FindVariable(std::string_view environ, std::string_view name) {
  for (std::size_t begin = 0; begin < environ.size();) {
    const std::size_t end = std::min(environ.find('\0', begin), environ.size());
    const std::string_view entry = environ.substr(begin, end - begin);
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) {
      return std::string(entry.substr(name.size() + 1));
    }
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace c4::agent
