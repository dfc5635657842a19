// The report's plots as inline SVG. No script, no reference to anything outside; colours come from
// the page's style sheet, so that they follow light and dark. Every mark has a <title>, which a
// browser shows when the pointer rests on it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "eval/interval.h"

namespace laya::eval {

/// `text` with & < > " ' as references.
std::string escaped(std::string_view text);
/// A number with `digits` behind the point.
std::string number(double value, int digits);

/// A row of a dot plot. Values are in the axis's unit.
struct DotRow {
  std::string label;
  double value = 0;
  std::optional<Interval> interval = {};
  std::optional<double> before = {};  ///< the last release
  std::size_t series = 0;             ///< colour
};
/// One dot a row with its 95 % interval; the last release as a hollow diamond.
std::string dot_plot(const std::vector<DotRow>& rows, const std::string& axis);

struct ScatterPoint {
  std::string label;
  double x = 0;  ///< > 0; the axis is logarithmic
  double y = 0;
  std::optional<Interval> interval = {};
  std::size_t series = 0;
};
/// `mark_x`: a vertical line, with its label.
std::string scatter_plot(const std::vector<ScatterPoint>& points, const std::string& x_axis,
                         const std::string& y_axis, double mark_x, const std::string& mark_label);

struct BarRow {
  std::string label;
  std::vector<std::pair<std::string, double>> parts;  ///< name and length, in the axis's unit
};
/// Stacked bars; `names` gives each part's colour and the legend.
std::string bar_plot(const std::vector<BarRow>& rows, const std::vector<std::string>& names,
                     const std::string& axis);

struct LineSeries {
  struct At {
    double x;
    double y;
    std::optional<Interval> interval = {};
    std::string title = {};
  };
  std::string label;
  std::vector<At> points;  ///< by x
  std::size_t series = 0;
  bool dashed = false;
};
std::string line_plot(const std::vector<LineSeries>& series, const std::string& x_axis,
                      const std::string& y_axis);

}  // namespace laya::eval
