#include "laya/type/type_view.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/printable.h"
#include "base/utf8_boundary.h"
#include "text/grapheme.h"

namespace laya::apps {
namespace {

constexpr std::string_view kFromAfar = " \xE2\x86\x97";  // ↗: a completion server's candidate

constexpr std::string_view kPinyin = " \xE6\x8B\xBC ";  // 拼: letters are pinyin

/// One cluster placed on the wrapped page.
struct Placed {
  std::size_t line;
  std::size_t column;
  std::string_view cluster;
  Style style;
};

/// Wraps clusters at the screen's width. Views must outlive it.
class Page {
 public:
  explicit Page(std::size_t columns) : columns_(columns) {}

  void add(std::string_view text, Style style) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text::next_grapheme(text, at);
      const std::string_view cluster = text.substr(at, end - at);
      at = end;
      if (cluster == "\n" || cluster == "\r\n") {
        ++line_;
        column_ = 0;
        continue;
      }
      // Controls and ill-formed bytes are drawn as one U+FFFD.
      const std::size_t width =
          std::max<std::size_t>(text::display_width(base::printable(cluster)), 1);
      if (width > columns_ - std::min(columns_, column_)) {
        ++line_;
        column_ = 0;
      }
      placed_.push_back({line_, column_, cluster, style});
      column_ += width;
    }
  }

  /// Where the next cluster would stand.
  std::size_t line() const { return column_ >= columns_ ? line_ + 1 : line_; }
  std::size_t column() const { return column_ >= columns_ ? 0 : column_; }
  const std::vector<Placed>& placed() const { return placed_; }

 private:
  std::size_t columns_;
  std::size_t line_ = 0;
  std::size_t column_ = 0;
  std::vector<Placed> placed_;
};

/// The part of `before` that can matter to a screen of `budget` bytes. Its start moves in steps,
/// and to a line's start where there is one, so that the text does not wrap anew at every key.
std::string_view visible_tail(std::string_view before, std::size_t budget) {
  if (before.size() <= 2 * budget) {
    return before;
  }
  std::size_t start = (before.size() - budget) / budget * budget;
  const std::size_t newline = before.find('\n', start);
  if (newline != std::string_view::npos && newline - start < budget / 2) {
    start = newline + 1;
  }
  return before.substr(base::boundary_from(before, start));
}

void draw_text(const TypeEditor& editor, Screen& screen, std::size_t first_row, std::size_t rows) {
  const std::size_t budget = std::max<std::size_t>(1024, screen.columns() * rows * 4);
  Page page(screen.columns());
  page.add(visible_tail(editor.before(), budget), Style::Plain);
  std::string_view ghost = editor.ghost();
  if (editor.owes_space()) {
    page.add(" ", Style::Ghost);
    if (ghost.starts_with(' ')) ghost.remove_prefix(1);
  }
  page.add(editor.composed_letters(), Style::Strong);
  const std::size_t caret_line = page.line();
  const std::size_t caret_column = page.column();
  page.add(ghost, Style::Ghost);
  const std::size_t ghost_line = page.line();
  page.add(editor.after().substr(0, budget), Style::Plain);

  // The caret's line is always shown, and below it as much of the ghost as there is room for.
  const std::size_t bottom = std::min(ghost_line, caret_line + rows - 1);
  const std::size_t top = bottom >= rows ? bottom - rows + 1 : 0;
  for (const Placed& placed : page.placed()) {
    if (placed.line >= top && placed.line - top < rows) {
      screen.put(first_row + placed.line - top, placed.column, placed.cluster, placed.style);
    }
  }
  screen.set_caret(first_row + caret_line - top, caret_column);
}

void draw_offers(const TypeEditor& editor, Screen& screen, std::size_t row) {
  std::size_t column = 0;
  std::size_t number = 0;
  for (const TypeEditor::Offer& offer : editor.offers()) {
    const std::string label = std::to_string(++number) + " ";
    const std::string text = base::printable(offer.text);
    const std::size_t gap = column == 0 ? 1 : 3;
    const std::size_t mark =
        offer.tier == predict::Tier::Remote ? text::display_width(kFromAfar) : 0;
    if (column + gap + label.size() + text::display_width(text) + mark > screen.columns() &&
        number > 1) {
      break;  // half a candidate is worse than none
    }
    column = screen.put(row, column + gap, label, Style::Number);
    column = screen.put(row, column, text, Style::Strong);
    if (offer.tier == predict::Tier::Remote) {
      column = screen.put(row, column, kFromAfar, Style::Dim);
    }
  }
  if (number == 0) {
    screen.put(row, 1, "nothing to offer here", Style::Dim);
  }
}

}  // namespace

std::string status_line(const TypeEditor& editor) {
  const observe::LatencySummary summary = editor.latency().summary();
  const auto ms = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e6; };
  char line[200];
  if (editor.deep_state() != predict::DeepState::None) {
    const observe::LatencySummary deep = editor.deep_latency().summary();
    char took[32] = "\xE2\x80\xA6";  // not yet
    if (editor.deep_us() > 0) {
      std::snprintf(took, sizeof(took), "%.2f ms", editor.deep_us() / 1000);
    }
    std::snprintf(line, sizeof(line),
                  "instant %.2f ms p50 %.2f  deep %s p50 %.2f | %llu keys for %llu: %.0f %% saved",
                  editor.instant_us() / 1000, ms(editor.instant_latency().summary().p50_ns), took,
                  ms(deep.p50_ns), static_cast<unsigned long long>(editor.keys()),
                  static_cast<unsigned long long>(editor.characters()), editor.saved_percent());
    return line;
  }
  std::snprintf(line, sizeof(line),
                "%.2f ms  p50 %.2f  p95 %.2f  p99 %.2f | %llu keys, %llu characters: %.0f %% saved",
                editor.last_us() / 1000, ms(summary.p50_ns), ms(summary.p95_ns), ms(summary.p99_ns),
                static_cast<unsigned long long>(editor.keys()),
                static_cast<unsigned long long>(editor.characters()), editor.saved_percent());
  return line;
}

Screen draw(const TypeEditor& editor, std::size_t rows, std::size_t columns, std::string_view about,
            std::string_view deep) {
  Screen screen(std::max<std::size_t>(rows, 1), std::max<std::size_t>(columns, 1));
  rows = screen.rows();
  const bool has_title = rows >= 5;
  const bool has_offers = rows >= 2;
  const bool has_status = rows >= 3;
  if (has_title) {
    constexpr const char* kKeys =
        " Tab word  \xE2\x86\x92 all  Alt+1\xE2\x80\xA6"
        "5 pick  Esc hide  Ctrl-C quit";
    const std::size_t end =
        screen.put(0, screen.put(0, 0, " Laya ", Style::Bar), kKeys, Style::Bar);
    screen.fill(0, end, Style::Bar);
    const std::size_t width = text::display_width(deep) + 1;
    if (!deep.empty() && end + 2 + width <= columns) {
      screen.put(0, columns - width, deep, Style::Bar);
    }
  }
  const std::size_t below = (has_offers ? 1 : 0) + (has_status ? 1 : 0);
  const std::size_t first_row = has_title ? 1 : 0;
  draw_text(editor, screen, first_row, rows - first_row - below);
  if (has_offers) {
    draw_offers(editor, screen, rows - below);
  }
  if (has_status) {
    std::string status(editor.is_pinyin() ? kPinyin : " ");
    status += editor.notice().empty() ? status_line(editor) : base::printable(editor.notice());
    const std::string model = " | " + std::string(about);
    if (!about.empty() && text::display_width(status + model) <= columns) {
      status += model;  // whole or not at all
    }
    screen.put(rows - 1, 0, status, Style::Dim);
  }
  return screen;
}

}  // namespace laya::apps
