#include "laya/type/screen.h"

#include <algorithm>

#include "base/printable.h"
#include "text/grapheme.h"

namespace laya::apps {
namespace {

/// The terminal's SGR parameters of a style; greys come from the 256-colour cube so that they are
/// grey on every palette.
const char* sgr(Style style) {
  switch (style) {
    case Style::Plain:
      return "0";
    case Style::Ghost:
      return "0;38;5;244";
    case Style::Strong:
      return "0;1";
    case Style::Dim:
      return "0;2";
    case Style::Number:
      return "0;36";
    case Style::Bar:
      return "0;7";
  }
  return "0";
}

std::string move_to(std::size_t row, std::size_t column) {
  return "\x1b[" + std::to_string(row + 1) + ";" + std::to_string(column + 1) + "H";
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

struct Colours {
  const char* ink;
  const char* paper;
  const char* extra;
};

Colours colours(Style style) {
  switch (style) {
    case Style::Plain:
      return {"#e6e6e6", nullptr, ""};
    case Style::Ghost:
      return {"#808894", nullptr, ""};
    case Style::Strong:
      return {"#ffffff", nullptr, " font-weight=\"bold\""};
    case Style::Dim:
      return {"#9aa2ad", nullptr, ""};
    case Style::Number:
      return {"#56c8d8", nullptr, ""};
    case Style::Bar:
      return {"#1b1f27", "#c9d1d9", ""};
  }
  return {"#e6e6e6", nullptr, ""};
}

}  // namespace

Screen::Screen(std::size_t rows, std::size_t columns)
    : rows_(rows), columns_(columns), cells_(rows * columns) {}

std::size_t Screen::put(std::size_t row, std::size_t column, std::string_view text, Style style) {
  if (row >= rows_) {
    return column;
  }
  const std::string safe = base::printable(text);
  for (std::size_t at = 0; at < safe.size();) {
    const std::size_t end = text::next_grapheme(safe, at);
    const std::string_view cluster = std::string_view(safe).substr(at, end - at);
    const std::size_t width = text::display_width(cluster);
    at = end;
    if (width > columns_ - std::min(columns_, column)) {
      break;
    }
    if (width == 0) {  // a mark without a letter: on the cell before it
      if (column > 0 && column <= columns_) cells_[row * columns_ + column - 1].text += cluster;
      continue;
    }
    Cell* cell = &cells_[row * columns_ + column];
    cell[0] = {std::string(cluster), style};
    for (std::size_t i = 1; i < width; ++i) {
      cell[i] = {"", style};
    }
    column += width;
  }
  return column;
}

void Screen::fill(std::size_t row, std::size_t column, Style style) {
  for (; row < rows_ && column < columns_; ++column) {
    cells_[row * columns_ + column] = {" ", style};
  }
}

void Screen::set_caret(std::size_t row, std::size_t column) {
  caret_row_ = std::min(row, rows_ - 1);
  caret_column_ = std::min(column, columns_ - 1);
}

std::string Screen::row_text(std::size_t row) const {
  std::string text;
  for (std::size_t column = 0; column < columns_; ++column) {
    text += at(row, column).text;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string Screen::update_from(const Screen* before) const {
  const bool anew = before == nullptr || before->rows_ != rows_ || before->columns_ != columns_;
  std::string out = "\x1b[?25l";  // the caret does not flicker about
  if (anew) {
    out += "\x1b[0m\x1b[2J";
  }
  for (std::size_t row = 0; row < rows_; ++row) {
    const auto changed = [&](std::size_t column) {
      return anew || !(at(row, column) == before->at(row, column));
    };
    std::size_t first = 0;
    while (first < columns_ && !changed(first)) ++first;
    if (first == columns_) {
      continue;
    }
    // From the first change to the end of the row: terminals disagree on the width of some emoji,
    // and this way an error ends with the row.
    while (first > 0 && at(row, first).text.empty()) --first;
    std::size_t last = columns_;
    while (last > first && at(row, last - 1) == Cell{}) --last;
    out += move_to(row, first);
    const char* style = nullptr;
    for (std::size_t column = first; column < last; ++column) {
      const Cell& cell = at(row, column);
      if (const char* wanted = sgr(cell.style); style != wanted) {
        out += std::string("\x1b[") + wanted + "m";
        style = wanted;
      }
      out += cell.text;
    }
    out += "\x1b[0m\x1b[K";
  }
  out += move_to(caret_row_, caret_column_) + "\x1b[?25h";
  return out;
}

std::string Screen::to_svg(std::string_view title) const {
  constexpr std::size_t kCellWidth = 9;
  constexpr std::size_t kCellHeight = 20;
  constexpr std::size_t kMargin = 14;
  constexpr std::size_t kTitleHeight = 30;
  const std::size_t width = columns_ * kCellWidth + 2 * kMargin;
  const std::size_t height = rows_ * kCellHeight + kMargin + kTitleHeight + kMargin / 2;
  const auto number = [](std::size_t n) { return std::to_string(n); };
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(width) + " " +
      number(height) + "\" width=\"" + number(width) + "\" height=\"" + number(height) +
      "\" font-family=\"'DejaVu Sans Mono','Noto Sans Mono CJK SC','Noto Sans CJK SC',"
      "Menlo,Consolas,monospace\" font-size=\"15\">\n<rect width=\"100%\" height=\"100%\" "
      "rx=\"8\" fill=\"#1b1f27\"/>\n";
  const char* const kButtons[] = {"#ff5f57", "#febc2e", "#28c840"};
  for (std::size_t i = 0; i < 3; ++i) {
    svg += "<circle cx=\"" + number(kMargin + 6 + i * 18) + "\" cy=\"16\" r=\"5\" fill=\"" +
           kButtons[i] + "\"/>\n";
  }
  svg += "<text x=\"" + number(width / 2) + "\" y=\"21\" fill=\"#9aa2ad\" text-anchor=\"middle\" " +
         "font-size=\"13\">" + escaped(title) + "</text>\n";
  const auto x_of = [&](std::size_t column) { return kMargin + column * kCellWidth; };
  const auto y_of = [&](std::size_t row) { return kTitleHeight + row * kCellHeight; };
  for (std::size_t row = 0; row < rows_; ++row) {
    for (std::size_t column = 0; column < columns_;) {
      const Style style = at(row, column).style;
      std::size_t end = column;
      while (end < columns_ && at(row, end).style == style) ++end;
      const Colours colour = colours(style);
      if (colour.paper != nullptr) {
        svg += "<rect x=\"" + number(x_of(column)) + "\" y=\"" + number(y_of(row)) + "\" width=\"" +
               number((end - column) * kCellWidth) + "\" height=\"" + number(kCellHeight) +
               "\" fill=\"" + colour.paper + "\"/>\n";
      }
      // One element a character: a viewer's font need not have our cell width.
      for (; column < end; ++column) {
        const Cell& cell = at(row, column);
        if (cell.text.empty() || cell.text == " ") {
          continue;
        }
        svg += "<text x=\"" + number(x_of(column)) + "\" y=\"" + number(y_of(row) + 15) +
               "\" fill=\"" + colour.ink + "\"" + colour.extra + ">" + escaped(cell.text) +
               "</text>\n";
      }
    }
  }
  svg += "<rect x=\"" + number(x_of(caret_column_)) + "\" y=\"" + number(y_of(caret_row_) + 1) +
         "\" width=\"2\" height=\"" + number(kCellHeight - 3) + "\" fill=\"#56c8d8\"/>\n</svg>\n";
  return svg;
}

}  // namespace laya::apps
