// A grid of styled characters: what the interactive commands draw into. From it come the bytes for
// a terminal (only what changed) and, for the README's picture, an SVG. Wide characters take two
// cells. Pure: no terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace laya::apps {

enum class Style : std::uint8_t { Plain, Ghost, Strong, Dim, Number, Bar };

struct Cell {
  std::string text = " ";  ///< one grapheme cluster; empty: right half of the wide one before it
  Style style = Style::Plain;

  bool operator==(const Cell&) const = default;
};

class Screen {
 public:
  Screen(std::size_t rows, std::size_t columns);

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  const Cell& at(std::size_t row, std::size_t column) const {
    return cells_[row * columns_ + column];
  }

  /// Writes `text` (made printable) from `column` on, cut at the right edge by whole clusters.
  /// Returns the column behind it.
  std::size_t put(std::size_t row, std::size_t column, std::string_view text, Style style);
  /// The rest of the row in `style`.
  void fill(std::size_t row, std::size_t column, Style style);
  void set_caret(std::size_t row, std::size_t column);
  std::size_t caret_row() const { return caret_row_; }
  std::size_t caret_column() const { return caret_column_; }

  /// Row as text, trailing blanks cut; for tests.
  std::string row_text(std::size_t row) const;

  /// Bytes that turn a terminal showing `before` into this one; all of it when `before` is null or
  /// of another size.
  std::string update_from(const Screen* before) const;

  /// A picture of the screen with a window frame; the same bytes for the same screen.
  std::string to_svg(std::string_view title) const;

 private:
  std::size_t rows_;
  std::size_t columns_;
  std::vector<Cell> cells_;
  std::size_t caret_row_ = 0;
  std::size_t caret_column_ = 0;
};

}  // namespace laya::apps
