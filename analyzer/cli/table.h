// Aligned columns as kubectl prints them: upper-case headings, two spaces between, no lines. On a
// terminal, columns that may be shortened give way until the row fits; into a pipe everything is
// whole.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/cli/output.h"

namespace c4::cli {

enum class Color { kNone, kRed, kYellow, kGreen };

struct Cell {
  std::string text;
  Color color = Color::kNone;
};

struct Column {
  std::string heading;
  std::size_t shortest = 0;  // may be shortened to this; 0: never
  int order = 0;             // the lower ones give way first, and fully
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void Add(std::vector<Cell> row);
  // Nothing at all when there is no row and `heading` is false.
  std::string Render(const Output& output, bool heading = true) const;

  // Rows printed one by one while more are to come (--watch) keep these widths.
  void FixWidths(std::vector<std::size_t> widths) { fixed_ = std::move(widths); }
  std::vector<std::size_t> Widths(const Output& output) const;
  void Clear() { rows_.clear(); }

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
  std::vector<std::size_t> fixed_;
};

std::string Paint(const std::string& text, Color color, const Output& output);

}  // namespace c4::cli
