#include "analyzer/cli/table.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "analyzer/cli/text.h"
#include "common/check.h"

namespace c4::cli {
namespace {

constexpr std::size_t kGap = 2;

}  // namespace

std::string Paint(const std::string& text, Color color, const Output& output) {
  if (!output.color || color == Color::kNone) return text;
  const char* code = color == Color::kRed      ? "\033[31m"
                     : color == Color::kYellow ? "\033[33m"
                                               : "\033[32m";
  return code + text + "\033[0m";
}

void Table::Add(std::vector<Cell> row) {
  C4_CHECK(row.size() == columns_.size());
  rows_.push_back(std::move(row));
}

std::vector<std::size_t> Table::Widths(const Output& output) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(Columns(columns_[i].heading));
    for (const std::vector<Cell>& row : rows_) {
      widths[i] = std::max(widths[i], Columns(row[i].text));
    }
    if (i < fixed_.size()) widths[i] = std::max(widths[i], fixed_[i]);
  }
  if (output.width <= 0) return widths;
  std::size_t total = std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
  while (total > static_cast<std::size_t>(output.width)) {
    std::size_t victim = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const Column& column = columns_[i];
      if (column.shortest == 0 || widths[i] <= column.shortest) continue;
      if (victim == widths.size() || column.order < columns_[victim].order) victim = i;
    }
    if (victim == widths.size()) break;
    --widths[victim];
    --total;
  }
  return widths;
}

std::string Table::Render(const Output& output, bool heading) const {
  const std::vector<std::size_t> widths = Widths(output);
  std::string text;
  const auto line = [&](const auto& cell_of) {
    std::string pending;  // blanks, written only when something follows
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Cell cell = cell_of(i);
      const std::string shown = Shorten(cell.text, widths[i]);
      if (!shown.empty()) text += std::exchange(pending, "") + Paint(shown, cell.color, output);
      pending += std::string(widths[i] - Columns(shown) + kGap, ' ');
    }
    text += '\n';
  };
  if (heading) line([&](std::size_t i) { return Cell{columns_[i].heading}; });
  for (const std::vector<Cell>& row : rows_) line([&](std::size_t i) { return row[i]; });
  return text;
}

}  // namespace c4::cli
