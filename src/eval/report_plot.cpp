#include "eval/report_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "text/grapheme.h"

namespace laya::eval {
namespace {

constexpr double kWidth = 760;
constexpr std::size_t kColours = 6;

// What the widest of `rows`' labels needs, never more than half of the picture. Browsers differ in
// their fonts: reckoned from the wide ones.
template <typename Rows>
double label_width(const Rows& rows) {
  constexpr double kColumn = 7.2;
  double widest = 0;
  for (const auto& row : rows) {
    widest = std::max(widest, kColumn * static_cast<double>(text::display_width(row.label)));
  }
  return std::clamp(widest + 16, 60.0, kWidth / 2);
}

std::string colour(std::size_t series) { return "s" + std::to_string(series % kColours); }

// Builds one <svg>. Coordinates are CSS pixels of a picture kWidth wide.
class Picture {
 public:
  explicit Picture(double height) : height_(height) {}

  void line(double x1, double y1, double x2, double y2, const std::string& style) {
    body_ += "<line x1=\"" + number(x1, 1) + "\" y1=\"" + number(y1, 1) + "\" x2=\"" +
             number(x2, 1) + "\" y2=\"" + number(y2, 1) + "\" class=\"" + style + "\"/>";
  }
  void text(double x, double y, const std::string& what, const std::string& style) {
    body_ += "<text x=\"" + number(x, 1) + "\" y=\"" + number(y, 1) + "\" class=\"" + style +
             "\">" + escaped(what) + "</text>";
  }
  void turned_text(double x, double y, const std::string& what) {
    body_ += "<text transform=\"translate(" + number(x, 1) + " " + number(y, 1) +
             ") rotate(-90)\" class=\"axis mid\">" + escaped(what) + "</text>";
  }
  void dot(double x, double y, const std::string& style, const std::string& title) {
    body_ += "<circle cx=\"" + number(x, 1) + "\" cy=\"" + number(y, 1) + "\" r=\"4.5\" class=\"" +
             style + "\"><title>" + escaped(title) + "</title></circle>";
  }
  void diamond(double x, double y, const std::string& title) {
    body_ += "<path d=\"M" + number(x, 1) + " " + number(y - 5.5, 1) +
             "l5.5 5.5l-5.5 5.5l-5.5 -5.5z\" class=\"before\"><title>" + escaped(title) +
             "</title></path>";
  }
  void bar(double x, double y, double width, double height, const std::string& style,
           const std::string& title) {
    body_ += "<rect x=\"" + number(x, 1) + "\" y=\"" + number(y, 1) + "\" width=\"" +
             number(std::max(width, 0.0), 1) + "\" height=\"" + number(height, 1) + "\" class=\"" +
             style + "\"><title>" + escaped(title) + "</title></rect>";
  }
  void path(const std::string& d, const std::string& style) {
    body_ += "<path d=\"" + d + "\" class=\"" + style + "\"/>";
  }
  std::string done(const std::string& label) const {
    return "<svg viewBox=\"0 0 " + number(kWidth, 0) + " " + number(height_, 0) +
           "\" role=\"img\" aria-label=\"" + escaped(label) + "\">" + body_ + "</svg>\n";
  }

 private:
  double height_;
  std::string body_;
};

// A linear axis with round ticks.
struct Axis {
  double low;
  double high;
  double step;
  double from;  // pixels
  double to;

  double at(double value) const { return from + (value - low) / (high - low) * (to - from); }
  int digits() const { return step >= 1 ? 0 : step >= 0.1 ? 1 : 2; }
};

struct Range {
  double low = 1e300;
  double high = -1e300;
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void take(const std::optional<Interval>& interval) {
    if (interval) {
      take(interval->low);
      take(interval->high);
    }
  }
};

Axis axis_over(double low, double high, double from, double to) {
  if (!(high > low)) {
    high = low + 1;
  }
  const double rough = (high - low) / 6;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = power;
  for (const double times : {1.0, 2.0, 5.0, 10.0}) {
    step = times * power;
    if (step >= rough) break;
  }
  return {std::floor(low / step) * step, std::ceil(high / step) * step, step, from, to};
}

// Where values are counts, no tick stands between them.
Axis counting_axis(const Range& range, double from, double to) {
  if (range.low == std::floor(range.low) && range.high == std::floor(range.high) &&
      range.high > range.low && range.high - range.low <= 6) {
    return {range.low, range.high, 1, from, to};
  }
  return axis_over(range.low, range.high, from, to);
}

void x_grid(Picture& picture, const Axis& x, double top, double bottom, const std::string& label) {
  for (double tick = x.low; tick <= x.high + x.step / 2; tick += x.step) {
    picture.line(x.at(tick), top, x.at(tick), bottom, "grid");
    picture.text(x.at(tick), bottom + 16, number(tick, x.digits()), "axis mid");
  }
  picture.text((x.from + x.to) / 2, bottom + 36, label, "axis mid");
}

void y_grid(Picture& picture, const Axis& y, double left, double right, const std::string& label) {
  for (double tick = y.low; tick <= y.high + y.step / 2; tick += y.step) {
    picture.line(left, y.at(tick), right, y.at(tick), "grid");
    picture.text(left - 8, y.at(tick) + 4, number(tick, y.digits()), "axis end");
  }
  picture.turned_text(16, (y.from + y.to) / 2, label);
}

std::string said(const std::string& label, double value, const std::optional<Interval>& interval) {
  std::string title = label + ": " + number(value, 2);
  if (interval) {
    title += " (95 %: " + number(interval->low, 2) + " to " + number(interval->high, 2) + ")";
  }
  return title;
}

void vertical_interval(Picture& picture, double x, const Axis& y,
                       const std::optional<Interval>& interval, const std::string& style) {
  if (interval) {
    picture.line(x, y.at(interval->low), x, y.at(interval->high), "reach " + style);
  }
}

}  // namespace

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
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string number(double value, int digits) {
  if (!std::isfinite(value)) {
    return "–";
  }
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits,
                std::clamp(value, -1e12, 1e12));  // sizes of a picture, not of the universe
  return text.data();
}

std::string dot_plot(const std::vector<DotRow>& rows, const std::string& axis) {
  constexpr double kRow = 24;
  const double left = label_width(rows);
  Range range;
  for (const DotRow& row : rows) {
    range.take(row.value);
    range.take(row.interval);
    if (row.before) range.take(*row.before);
  }
  range.take(0);  // so that lengths can be compared
  const double bottom = 10 + kRow * static_cast<double>(rows.size());
  Picture picture(bottom + 46);
  const Axis x = axis_over(range.low, range.high, left, kWidth - 70);
  x_grid(picture, x, 8, bottom, axis);
  double y = 10 + kRow / 2;
  for (const DotRow& row : rows) {
    const std::string title = said(row.label, row.value, row.interval);
    picture.text(left - 12, y + 4, row.label, "label end");
    if (row.interval) {
      picture.line(x.at(row.interval->low), y, x.at(row.interval->high), y,
                   "reach " + colour(row.series));
    }
    if (row.before) {
      picture.diamond(x.at(*row.before), y,
                      row.label + ", last release: " + number(*row.before, 2));
    }
    picture.dot(x.at(row.value), y, "dot " + colour(row.series), title);
    picture.text(kWidth - 4, y + 4, number(row.value, 2), "value end");
    y += kRow;
  }
  return picture.done(axis);
}

std::string scatter_plot(const std::vector<ScatterPoint>& points, const std::string& x_axis,
                         const std::string& y_axis, double mark_x, const std::string& mark_label) {
  constexpr double kTop = 16;
  constexpr double kBottom = 320;
  constexpr double kLeft = 66;
  const double right = kWidth - label_width(points);
  Range xs;
  Range ys;
  for (const ScatterPoint& point : points) {
    xs.take(std::log10(point.x));
    ys.take(point.y);
    ys.take(point.interval);
  }
  xs.take(std::log10(mark_x));
  Picture picture(kBottom + 46);
  const double low = std::floor(xs.low);
  const double high = std::max(low + 1, std::ceil(xs.high));
  const auto at_x = [&](double value) {
    return kLeft + (std::log10(value) - low) / (high - low) * (right - kLeft);
  };
  for (double decade = low; decade <= high; ++decade) {
    for (const double times : {1.0, 2.0, 5.0}) {
      const double value = times * std::pow(10.0, decade);
      if (std::log10(value) > high + 1e-9) break;
      picture.line(at_x(value), kTop, at_x(value), kBottom, times == 1 ? "grid" : "grid faint");
      picture.text(at_x(value), kBottom + 16,
                   number(value, value < 0.1 ? 2
                                 : value < 1 ? 1
                                             : 0),
                   "axis mid");
    }
  }
  picture.text((kLeft + right) / 2, kBottom + 36, x_axis, "axis mid");
  const Axis y = axis_over(ys.low, ys.high, kBottom, kTop);
  y_grid(picture, y, kLeft, right, y_axis);
  picture.line(at_x(mark_x), kTop, at_x(mark_x), kBottom, "mark");
  picture.text(at_x(mark_x) + 4, kTop + 10, mark_label, "axis");
  double last_y = -100;
  std::vector<ScatterPoint> sorted = points;
  std::sort(sorted.begin(), sorted.end(),
            [](const ScatterPoint& a, const ScatterPoint& b) { return a.y > b.y; });
  for (const ScatterPoint& point : sorted) {
    const double at = y.at(point.y);
    vertical_interval(picture, at_x(point.x), y, point.interval, colour(point.series));
    picture.dot(at_x(point.x), at, "dot " + colour(point.series),
                said(point.label, point.y, point.interval) + ", " + number(point.x, 3) + " ms");
    const double label_y = std::max(at, last_y + 14);  // labels must not lie on each other
    picture.text(at_x(point.x) + 10, label_y + 4, point.label, "label");
    last_y = label_y;
  }
  return picture.done(y_axis + " against " + x_axis);
}

std::string bar_plot(const std::vector<BarRow>& rows, const std::vector<std::string>& names,
                     const std::string& axis) {
  constexpr double kRow = 28;
  const double left = label_width(rows);
  constexpr double kTop = 34;
  double longest = 0;
  for (const BarRow& row : rows) {
    double sum = 0;
    for (const auto& [name, length] : row.parts) sum += std::max(length, 0.0);
    longest = std::max(longest, sum);
  }
  const double bottom = kTop + kRow * static_cast<double>(rows.size());
  Picture picture(bottom + 46);
  const Axis x = axis_over(0, longest, left, kWidth - 30);
  x_grid(picture, x, kTop, bottom, axis);
  double legend = left;
  for (std::size_t i = 0; i < names.size(); ++i) {
    picture.bar(legend, 8, 12, 12, "fill " + colour(i), names[i]);
    picture.text(legend + 17, 18, names[i], "label");
    legend += 34 + 7.2 * static_cast<double>(names[i].size());
  }
  double y = kTop + 5;
  for (const BarRow& row : rows) {
    picture.text(left - 12, y + 13, row.label, "label end");
    double from = 0;
    for (const auto& [name, length] : row.parts) {
      const auto index =
          static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
      const double shown = std::max(length, 0.0);
      picture.bar(x.at(from), y, x.at(from + shown) - x.at(from), kRow - 10,
                  "fill " + colour(index), row.label + ", " + name + ": " + number(length, 2));
      from += shown;
    }
    y += kRow;
  }
  return picture.done(axis);
}

std::string line_plot(const std::vector<LineSeries>& series, const std::string& x_axis,
                      const std::string& y_axis) {
  constexpr double kTop = 12;
  constexpr double kBottom = 290;
  constexpr double kLeft = 66;
  const double right = kWidth - label_width(series);
  Range xs;
  Range ys;
  for (const LineSeries& one : series) {
    for (const LineSeries::At& at : one.points) {
      xs.take(at.x);
      ys.take(at.y);
      ys.take(at.interval);
    }
  }
  Picture picture(kBottom + 46);
  const Axis x = counting_axis(xs, kLeft, right);
  const Axis y = axis_over(ys.low, ys.high, kBottom, kTop);
  x_grid(picture, x, kTop, kBottom, x_axis);
  y_grid(picture, y, kLeft, right, y_axis);
  std::vector<std::pair<double, const LineSeries*>> ends;
  for (const LineSeries& one : series) {
    std::string d;
    for (const LineSeries::At& at : one.points) {
      d += (d.empty() ? "M" : "L") + number(x.at(at.x), 1) + " " + number(y.at(at.y), 1);
    }
    picture.path(d, std::string(one.dashed ? "curve dashed " : "curve ") + colour(one.series));
    for (const LineSeries::At& at : one.points) {
      vertical_interval(picture, x.at(at.x), y, at.interval, colour(one.series));
      picture.dot(x.at(at.x), y.at(at.y), "dot " + colour(one.series),
                  said(one.label, at.y, at.interval) + at.title);
    }
    if (!one.points.empty()) {
      ends.emplace_back(y.at(one.points.back().y), &one);
    }
  }
  std::sort(ends.begin(), ends.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  double last_y = -100;
  for (const auto& [at, one] : ends) {
    last_y = std::max(at, last_y + 16);
    picture.text(right + 12, last_y + 4, one->label, "label " + colour(one->series));
  }
  return picture.done(y_axis + " against " + x_axis);
}

}  // namespace laya::eval
