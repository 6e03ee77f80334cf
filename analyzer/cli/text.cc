#include "analyzer/cli/text.h"

#include <algorithm>
#include <cmath>

#include "absl/time/time.h"
#include "fmt/format.h"

namespace c4::cli {
namespace {

std::string Format(const char* format, std::int64_t time_ns) {
  if (time_ns == 0) return "-";
  return absl::FormatTime(format, absl::FromUnixNanos(time_ns), absl::UTCTimeZone());
}

// "2d3h", and "2d" when the smaller unit is zero.
std::string TwoUnits(std::int64_t large, const char* large_unit, std::int64_t small,
                     const char* small_unit) {
  if (small == 0) return fmt::format("{}{}", large, large_unit);
  return fmt::format("{}{}{}{}", large, large_unit, small, small_unit);
}

// " on n0", or nothing.
std::string On(const std::string& node) { return node.empty() ? "" : fmt::format(" on {}", node); }

std::string End(const std::string& node, const std::string& nic, bool has_rank, int rank) {
  if (!nic.empty()) return node.empty() ? nic : fmt::format("{} {}", node, nic);
  if (has_rank) return fmt::format("rank {}", rank);
  return node.empty() ? "?" : node;
}

std::string WithRank(std::string text, const v1::Component& component) {
  if (component.has_rank()) text += fmt::format(" (rank {})", component.rank());
  return text;
}

std::string RawComponentText(const v1::Component& c) {
  const std::string& kind = c.kind();
  if (kind == "gpu") {
    const std::string name = c.has_gpu()       ? fmt::format("gpu {}", c.gpu())
                             : c.pci().empty() ? "gpu"
                                               : fmt::format("gpu {}", c.pci());
    return WithRank(name + On(c.node()), c);
  }
  if (kind == "nic") return fmt::format("nic {}{}", c.nic().empty() ? "?" : c.nic(), On(c.node()));
  if (kind == "link") {
    return fmt::format("link {} - {}", End(c.node(), c.nic(), c.has_rank(), c.rank()),
                       End(c.peer_node(), c.peer_nic(), c.has_peer_rank(), c.peer_rank()));
  }
  if (kind == "node") return fmt::format("node {}", c.node());
  if (kind == "rank") return fmt::format("rank {}{}", c.rank(), On(c.node()));
  return WithRank((kind.empty() ? "unknown" : kind) + On(c.node()), c);
}

}  // namespace

std::string Age(std::int64_t duration_ns) {
  const std::int64_t seconds = std::max<std::int64_t>(duration_ns, 0) / 1'000'000'000;
  const std::int64_t minutes = seconds / 60;
  const std::int64_t hours = minutes / 60;
  const std::int64_t days = hours / 24;
  if (seconds < 120) return fmt::format("{}s", seconds);
  if (minutes < 10) return TwoUnits(minutes, "m", seconds % 60, "s");
  if (hours < 3) return fmt::format("{}m", minutes);
  if (hours < 8) return TwoUnits(hours, "h", minutes % 60, "m");
  if (hours < 48) return fmt::format("{}h", hours);
  if (days < 8) return TwoUnits(days, "d", hours % 24, "h");
  if (days < 2 * 365) return fmt::format("{}d", days);
  if (days < 8 * 365) return TwoUnits(days / 365, "y", days % 365, "d");
  return fmt::format("{}y", days / 365);
}

std::string Timestamp(std::int64_t time_ns) { return Format("%Y-%m-%d %H:%M:%E3S", time_ns); }
std::string TimeOfDay(std::int64_t time_ns) { return Format("%H:%M:%E3S", time_ns); }

std::string Delta(std::int64_t duration_ns) {
  return fmt::format("{:+.3f} s", static_cast<double>(duration_ns) / 1e9);
}

std::string ComponentText(const v1::Component& component) {
  return Printable(RawComponentText(component));
}

std::string RankList(std::vector<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] <= ranks[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += ranks[i] == ranks[last] ? fmt::format("{}", ranks[i])
                                    : fmt::format("{}-{}", ranks[i], ranks[last]);
    i = last + 1;
  }
  return text;
}

std::string Printable(std::string_view text) {
  std::string printable(text);
  for (char& c : printable) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == '\n' || byte == '\t') {
      c = ' ';
    } else if (byte < 0x20 || byte == 0x7f) {
      c = '?';
    }
  }
  // C1 controls are two bytes in UTF-8, and some terminals obey them.
  for (std::size_t i = 0; i + 1 < printable.size(); ++i) {
    if (printable[i] == '\xC2' && static_cast<unsigned char>(printable[i + 1]) < 0xA0) {
      printable.replace(i, 2, "?");
    }
  }
  return printable;
}

std::size_t Columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string Shorten(std::string_view text, std::size_t columns) {
  if (Columns(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  std::size_t end = 0;
  for (std::size_t shown = 0; shown < columns; ++shown) {
    ++end;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    if (shown + 2 == columns || columns == 1) break;
  }
  return columns == 1 ? "…" : fmt::format("{}…", text.substr(0, end));
}

}  // namespace c4::cli
