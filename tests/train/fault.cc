// Implementation of fault.h.
#include "tests/train/fault.h"

#include <charconv>
#include <fstream>
#include <iterator>

namespace c4::train {
namespace {

struct NamedKind {
  std::string_view name;
  Fault::Kind kind;
};
constexpr NamedKind kKinds[] = {
    {"none", Fault::Kind::kNone},          {"slow-gpu", Fault::Kind::kSlowGpu},
    {"slow-host", Fault::Kind::kSlowHost}, {"hang-host", Fault::Kind::kHangHost},
    {"hang-gpu", Fault::Kind::kHangGpu},   {"dead-rank", Fault::Kind::kDeadRank},
    {"mismatch", Fault::Kind::kMismatch},
};

template <typename Number>
bool ParseNumber(std::string_view text, Number* number) {
  Number parsed{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc() || end != text.data() + text.size() || parsed < 0) return false;
  *number = parsed;
  return true;
}

bool ParseKind(std::string_view name, Fault::Kind* kind) {
  for (const NamedKind& candidate : kKinds) {
    if (candidate.name != name) continue;
    *kind = candidate.kind;
    return true;
  }
  return false;
}

bool ApplyWord(std::string_view key, std::string_view value, Fault* fault) {
  if (key == "fault") return ParseKind(value, &fault->kind);
  if (key == "rank") return ParseNumber(value, &fault->rank);
  if (key == "step") return ParseNumber(value, &fault->step);
  if (key == "percent") return ParseNumber(value, &fault->percent);
  if (key == "ms") return ParseNumber(value, &fault->ms);
  if (key == "kind" && value == "count") {
    fault->mismatch_kind = Fault::MismatchKind::kCount;
    return true;
  }
  if (key == "kind" && value == "op") {
    fault->mismatch_kind = Fault::MismatchKind::kOperation;
    return true;
  }
  return false;
}

}  // namespace

bool ApplyFaultWords(std::string_view words, Fault* fault) {
  Fault changed = *fault;
  while (true) {
    const size_t begin = words.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) break;
    words.remove_prefix(begin);
    const std::string_view word = words.substr(0, words.find_first_of(" \t\r\n"));
    words.remove_prefix(word.size());
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) return false;
    if (!ApplyWord(word.substr(0, equals), word.substr(equals + 1), &changed)) return false;
  }
  *fault = changed;
  return true;
}

std::optional<Fault> ReadTrigger(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  Fault fault;
  if (!ApplyFaultWords(text, &fault) || fault.kind == Fault::Kind::kNone) return std::nullopt;
  return fault;
}

}  // namespace c4::train
