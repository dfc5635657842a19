#include "eval/report_page.h"

#include <algorithm>
#include <functional>
#include <set>

#include "eval/report_plot.h"

namespace laya::eval {
namespace {

constexpr double kFrameMs = 7.4;

constexpr std::string_view kStyle = R"css(
:root{--ink:#1d232b;--soft:#5c6773;--line:#e3e6ea;--page:#fbfbfa;--card:#fff;
--c0:#1f6fb2;--c1:#c2571a;--c2:#2b8a5a;--c3:#8a4fb0;--c4:#a8892a;--c5:#b23a5a}
@media(prefers-color-scheme:dark){:root{--ink:#e4e7ea;--soft:#9aa4af;--line:#2d333b;--page:#14171b;--card:#1b1f24;
--c0:#6cb2ec;--c1:#ee9560;--c2:#6ccb9b;--c3:#c69be6;--c4:#d9c06a;--c5:#ec86a2}}
body{margin:0 auto;padding:40px 24px 80px;max-width:820px;background:var(--page);color:var(--ink);
font:15px/1.55 system-ui,"Segoe UI",Roboto,"Noto Sans","Noto Sans CJK SC",sans-serif}
h1{font-size:28px;font-weight:650;margin:0 0 4px}h2{font-size:20px;font-weight:650;margin:56px 0 4px;
border-top:1px solid var(--line);padding-top:28px}h3{font-size:15px;font-weight:650;margin:32px 0 2px}
p{margin:4px 0 12px;color:var(--soft)}figure{margin:10px 0 22px;padding:14px 14px 8px;background:var(--card);
border:1px solid var(--line);border-radius:8px;overflow-x:auto}svg{display:block;width:100%;height:auto;min-width:640px}
svg text{font:12px system-ui,"Segoe UI",Roboto,"Noto Sans","Noto Sans CJK SC",sans-serif;fill:var(--ink)}
svg .axis{fill:var(--soft)}svg .mid{text-anchor:middle}svg .end{text-anchor:end}
svg .value{fill:var(--soft);font-variant-numeric:tabular-nums}
.grid{stroke:var(--line);stroke-width:1}.faint{opacity:.6}.mark{stroke:var(--soft);stroke-dasharray:4 4}
.reach{stroke-width:2;stroke:var(--k);opacity:.55}.dot{fill:var(--k);stroke:var(--card);stroke-width:1}
.fill{fill:var(--k)}.curve{fill:none;stroke:var(--k);stroke-width:1.8}.dashed{stroke-dasharray:5 4}
.before{fill:var(--card);stroke:var(--soft);stroke-width:1.5}
.s0{--k:var(--c0)}.s1{--k:var(--c1)}.s2{--k:var(--c2)}.s3{--k:var(--c3)}.s4{--k:var(--c4)}.s5{--k:var(--c5)}
details{margin:0 0 18px;overflow-x:auto}summary{cursor:pointer;color:var(--soft);font-size:13px}
table{border-collapse:collapse;width:100%;font-size:13px;font-variant-numeric:tabular-nums;margin:8px 0}
th{text-align:left;font-weight:600;color:var(--soft)}th,td{padding:4px 10px 4px 0;border-bottom:1px solid var(--line)}
td.n,th.n{text-align:right}@media print{body{max-width:none}details>*{display:block}}
)css";

enum class Unit { Percent, Bits, Milliseconds, Characters, Plain };

// A figure that the page knows how to show, and with which others in one plot.
struct Known {
  std::string measure;
  std::string name;  ///< a figure's name; a trailing '*' stands for the rest, put before `title`
  std::string panel;
  std::string title;
  Unit unit = Unit::Percent;
};

const std::vector<Known>& known_figures() {
  static const std::vector<Known> known{
      {"ksr", "saved.*", "Keystrokes saved", " in the list"},
      {"ksr", "ghost_saved", "Keystrokes saved", "ghost only"},
      {"ksr", "oracle", "Keystrokes saved", "list without end"},
      {"replay", "saved.*", "Keys saved", " in the list"},
      {"replay", "ghost.precision", "The ghost, of those shown", "right to its end"},
      {"replay", "ghost.shown", "The ghost, of all keys", "shown"},
      {"replay", "ghost.harm", "The ghost, of all keys", "shown and wrong"},
      {"next", "words.0.top1", "Next word", "first"},
      {"next", "words.0.top3", "Next word", "first three"},
      {"next", "zh_characters.top1", "Next Chinese character", "first"},
      {"next", "zh_characters.top3", "Next Chinese character", "first three"},
      {"next-char", "top1", "Next Chinese character", "first"},
      {"next-char", "top3", "Next Chinese character", "first three"},
      {"next", "zh_words.top1", "At a Chinese word's start", "first"},
      {"next", "zh_words.top3", "At a Chinese word's start", "first three"},
      {"next-char", "zh_words.top3", "At a Chinese word's start", "first three"},
      {"ghost", "precision", "The ghost, of those shown", "right to its end"},
      {"ghost", "useful", "The ghost, of those shown", "first word right"},
      {"ghost", "shown", "The ghost, of all keys", "shown"},
      {"ghost", "harm", "The ghost, of all keys", "shown and wrong"},
      {"ghost", "cases.as_expected", "Cases of the ghost", "as expected"},
      {"ghost", "cases.score", "Cases of the ghost", "score"},
      {"correct", "top1", "Slips set right", "first"},
      {"correct", "top3", "Slips set right", "first three"},
      {"pinyin", "p_at_1", "Pinyin sentences", "first"},
      {"pinyin", "p_at_5", "Pinyin sentences", "first five"},
      {"pinyin", "char_accuracy", "Pinyin sentences", "characters"},
      {"diversity", "distance", "Edit distance of two entries of a list", "", Unit::Characters},
      {"bpc", "network.bits", "Bits per character", "network", Unit::Bits},
      {"bpc", "decoder.bits", "Bits per character", "decoder", Unit::Bits},
  };
  return known;
}

// Fewer places than this are no figure: Chinese text has a few English words.
constexpr double kFewestPlaces = 30;

double scale(Unit unit) { return unit == Unit::Percent ? 100 : 1; }

std::string unit_name(Unit unit) {
  switch (unit) {
    case Unit::Percent:
      return "%";
    case Unit::Bits:
      return "bits per character (less is better)";
    case Unit::Milliseconds:
      return "ms";
    case Unit::Characters:
      return "characters";
    case Unit::Plain:
      return "";
  }
  return "";
}

bool matches(const Known& known, const Figure& figure) {
  if (known.measure != figure.measure) return false;
  if (!known.name.ends_with('*')) return known.name == figure.name;
  return figure.name.starts_with(known.name.substr(0, known.name.size() - 1));
}

std::string title_of(const Known& known, const Figure& figure) {
  return known.name.ends_with('*') ? figure.name.substr(known.name.size() - 1) + known.title
                                   : known.title;
}

std::optional<Interval> scaled(const std::optional<Interval>& interval, double by) {
  return interval ? std::optional<Interval>({interval->low * by, interval->high * by})
                  : std::nullopt;
}

const Figure* find(const Results& results, const Figure& like, const std::string& name) {
  for (const Figure& figure : results.figures) {
    if (figure.measure == like.measure && figure.set == like.set && figure.text == like.text &&
        figure.system == like.system && figure.name == name) {
      return &figure;
    }
  }
  return nullptr;
}

class Page {
 public:
  Page(const Results& now, const Results& before) : now_(now), before_(before) {
    for (const Figure& figure : now.figures) {
      if (std::find(systems_.begin(), systems_.end(), figure.system) == systems_.end()) {
        systems_.push_back(figure.system);
      }
    }
  }

  std::string write();

 private:
  std::size_t series(const std::string& system) const {
    return static_cast<std::size_t>(std::find(systems_.begin(), systems_.end(), system) -
                                    systems_.begin());
  }
  void figure(const std::string& svg) { out_ += "<figure>" + svg + "</figure>\n"; }
  void heading(const std::string& title, const std::string& what) {
    out_ += "<h3>" + escaped(title) + "</h3>\n";
    if (!what.empty()) out_ += "<p>" + escaped(what) + "</p>\n";
  }
  void table(const std::vector<std::string>& head,
             const std::vector<std::vector<std::string>>& rows, std::size_t words);
  void section(const std::string& set, const std::string& title, const std::string& what);
  void latency(const std::string& set);
  void known(const std::string& set);
  bool too_few(const Figure& figure) const;
  void letters(const std::string& set);
  void sources(const std::string& set);
  void curves(const std::string& set);
  void everything();

  const Results& now_;
  const Results& before_;
  std::vector<std::string> systems_;  // in the order seen: their colours
  std::string out_;
};

void Page::table(const std::vector<std::string>& head,
                 const std::vector<std::vector<std::string>>& rows, std::size_t words) {
  out_ += "<details><summary>The numbers</summary><table><thead><tr>";
  for (std::size_t i = 0; i < head.size(); ++i) {
    out_ += (i < words ? "<th>" : "<th class=\"n\">") + escaped(head[i]) + "</th>";
  }
  out_ += "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : rows) {
    out_ += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      out_ += (i < words ? "<td>" : "<td class=\"n\">") + escaped(row[i]) + "</td>";
    }
    out_ += "</tr>\n";
  }
  out_ += "</tbody></table></details>\n";
}

// Quality against latency: what each system gives for its time.
void Page::latency(const std::string& set) {
  struct Way {
    const char* measure;
    const char* quality;
    const char* title;
  };
  for (const Way& way : {Way{"ksr", "saved.3", "Keystrokes saved with three slots"},
                         Way{"pinyin", "p_at_1", "Pinyin sentences, first is right"}}) {
    std::vector<ScatterPoint> points;
    std::set<std::string> texts;
    for (const Figure& quality : now_.figures) {
      if (quality.set == set && quality.measure == way.measure && quality.name == way.quality) {
        texts.insert(quality.text);
      }
    }
    std::vector<std::vector<std::string>> rows;
    for (const Figure& quality : now_.figures) {
      if (quality.set != set || quality.measure != way.measure || quality.name != way.quality) {
        continue;
      }
      const Figure* p50 = find(now_, quality, "key_us.p50");
      const Figure* p99 = find(now_, quality, "key_us.p99");
      if (p50 == nullptr || p50->value <= 0) continue;
      const std::string label =
          texts.size() > 1 ? quality.system + ", " + quality.text : quality.system;
      points.push_back({label, p50->value / 1000, 100 * quality.value,
                        scaled(quality.interval, 100), series(quality.system)});
      rows.push_back({quality.text, quality.system, number(100 * quality.value, 2),
                      number(p50->value / 1000, 3),
                      p99 == nullptr ? "–" : number(p99->value / 1000, 3)});
    }
    if (points.empty()) continue;
    heading(std::string(way.title) + " against the time of a key",
            "Bars: 95 % intervals over lines. The dashed line is one frame at 135 Hz. Times are of "
            "the machine that measured, in that run.");
    figure(scatter_plot(points, "median time of a key, ms", std::string(way.title) + ", %",
                        kFrameMs, "7.4 ms"));
    table({"text", "system", "%", "p50 ms", "p99 ms"}, rows, 2);
  }
}

bool Page::too_few(const Figure& figure) const {
  const std::size_t dot = figure.name.rfind('.');
  const Figure* places = dot == std::string::npos
                             ? nullptr
                             : find(now_, figure, figure.name.substr(0, dot) + ".places");
  return places != nullptr && places->value < kFewestPlaces;
}

// One dot plot a panel, in the order of known_figures().
void Page::known(const std::string& set) {
  std::vector<std::string> panels;
  for (const Known& known : known_figures()) {
    if (std::find(panels.begin(), panels.end(), known.panel) == panels.end()) {
      panels.push_back(known.panel);
    }
  }
  for (const std::string& panel : panels) {
    std::vector<DotRow> rows;
    std::vector<std::vector<std::string>> cells;
    Unit unit = Unit::Percent;
    for (const Known& known : known_figures()) {
      if (known.panel != panel) continue;
      for (const Figure& one : now_.figures) {
        if (one.set != set || !matches(known, one) || too_few(one)) continue;
        unit = known.unit;
        const double by = scale(unit);
        const std::string title = title_of(known, one);
        DotRow row;
        for (const std::string& part : {one.text, one.system, title}) {
          row.label += (row.label.empty() || part.empty() ? "" : " · ") + part;
        }
        row.value = by * one.value;
        row.interval = scaled(one.interval, by);
        row.series = series(one.system);
        const Figure* old = find(before_, one, one.name);
        if (old != nullptr) row.before = by * old->value;
        cells.push_back({one.text, one.system, title, number(row.value, 2),
                         row.interval
                             ? number(row.interval->low, 2) + " – " + number(row.interval->high, 2)
                             : "–",
                         row.before ? number(row.value - *row.before, 2) : "–"});
        rows.push_back(std::move(row));
      }
    }
    if (rows.empty()) continue;
    heading(panel, "");
    figure(dot_plot(rows, unit_name(unit)));
    table({"text", "system", "figure", unit_name(unit), "95 %", "since the last release"}, cells,
          3);
  }
}

// How the rank of the meant word rises with every letter.
void Page::letters(const std::string& set) {
  std::vector<LineSeries> lines;
  std::vector<std::vector<std::string>> rows;
  for (const Figure& start : now_.figures) {
    if (start.set != set || start.measure != "next" || start.name != "words.0.top1" ||
        too_few(start)) {
      continue;
    }
    for (const auto& [part, title] : {std::pair{"top1", "first"}, std::pair{"top3", "three"}}) {
      LineSeries line;
      line.label = start.text + " · " + start.system + ", " + title;
      line.series = series(start.system);
      line.dashed = std::string(part) == "top3";
      for (int letters = 0; letters < 4; ++letters) {
        const std::string name = "words." + std::to_string(letters) + "." + part;
        if (const Figure* at = find(now_, start, name)) {
          line.points.push_back(
              {static_cast<double>(letters), 100 * at->value, scaled(at->interval, 100)});
          rows.push_back(
              {start.text, line.label, std::to_string(letters), number(100 * at->value, 2)});
        }
      }
      lines.push_back(std::move(line));
    }
  }
  if (lines.empty()) return;
  heading("The meant word in the list, by letters typed",
          "Solid: it stands first. Dashed: it is among the first three. Bars: 95 % intervals.");
  figure(line_plot(lines, "letters typed of the word", "words, %"));
  table({"text", "system", "letters", "%"}, rows, 2);
}

void Page::sources(const std::string& set) {
  std::vector<BarRow> rows;
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> cells;
  for (const SourceShares& shares : now_.sources) {
    if (shares.set != set || shares.slots != "3") continue;
    BarRow row{shares.text + " · " + shares.system, {}};
    for (const auto& [source, saved] : shares.saved) {
      if (std::find(names.begin(), names.end(), source) == names.end()) names.push_back(source);
      row.parts.emplace_back(source, 100 * saved);
      cells.push_back({shares.text, shares.system, source, number(100 * saved, 2)});
    }
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return;
  heading("Keystrokes saved, by source",
          "Three slots. Each accepted word counts for the source that proposed it; “both” is "
          "network and n-gram table by themselves.");
  figure(bar_plot(rows, names, "keystrokes saved, %"));
  table({"text", "system", "source", "%"}, cells, 3);
}

void Page::curves(const std::string& set) {
  std::vector<LineSeries> lines;
  std::vector<std::vector<std::string>> rows;
  for (const GhostCurve& curve : now_.curves) {
    if (curve.set != set) continue;
    LineSeries line;
    line.label = curve.text + " · " + curve.system;
    line.series = series(curve.system);
    for (const CurvePoint& point : curve.points) {
      line.points.push_back({100 * point.shown,
                             100 * point.precision,
                             {},
                             ", at least " + number(point.probability, 2) + " sure, wrong at " +
                                 number(100 * point.harm, 2) + " % of keys"});
      rows.push_back({curve.text, curve.system, number(point.probability, 2),
                      number(100 * point.shown, 2), number(100 * point.precision, 2),
                      number(100 * point.harm, 2)});
    }
    std::sort(line.points.begin(), line.points.end(),
              [](const LineSeries::At& a, const LineSeries::At& b) { return a.x < b.x; });
    lines.push_back(std::move(line));
  }
  if (lines.empty()) return;
  heading("The ghost: how often shown, how often right",
          "Along a curve, only ghosts of at least some probability are shown; its right end is "
          "what is shown today.");
  figure(line_plot(lines, "keys at which a ghost is shown, %", "of them right to their end, %"));
  table({"text", "system", "at least", "shown %", "right %", "harm %"}, rows, 2);
}

void Page::section(const std::string& set, const std::string& title, const std::string& what) {
  const bool any = std::any_of(now_.figures.begin(), now_.figures.end(),
                               [&](const Figure& figure) { return figure.set == set; });
  if (!any) return;
  out_ += "<h2>" + escaped(title) + "</h2>\n<p>" + escaped(what) + "</p>\n";
  latency(set);
  sources(set);
  letters(set);
  curves(set);
  known(set);
}

void Page::everything() {
  std::vector<std::vector<std::string>> rows;
  for (const Figure& figure : now_.figures) {
    rows.push_back({figure.set, figure.text, figure.measure, figure.system, figure.name,
                    number(figure.value, 4),
                    figure.interval
                        ? number(figure.interval->low, 4) + " – " + number(figure.interval->high, 4)
                        : "–"});
  }
  out_ += "<h2>All that was measured</h2>\n";
  table({"set", "text", "measure", "system", "figure", "value", "95 %"}, rows, 5);
}

std::string Page::write() {
  out_ =
      "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
      "<meta name=\"color-scheme\" content=\"light dark\"><title>Laya: how good are the "
      "predictions?</title>\n<style>";
  out_ += kStyle;
  out_ += "</style></head>\n<body>\n<h1>How good are the predictions?</h1>\n<p>Laya " +
          escaped(now_.version.empty() ? "of an unknown version" : now_.version) +
          ". Dots are measured, bars are 95 % intervals (bootstrap over lines, Wilson for shares)";
  out_ += before_.figures.empty()
              ? ".</p>\n"
              : "; hollow diamonds are the last release" +
                    (before_.version.empty() ? "" : " (" + escaped(before_.version) + ")") +
                    ".</p>\n";
  section("frozen", "The frozen set",
          "Text that ships with Laya, the same in every release, never trained on.");
  section("replay", "The replay set",
          "Key logs: what was typed as it was typed, slips, Backspaces and all.");
  section("file", "Other text", "Files that were given.");
  everything();
  out_ += "</body>\n</html>\n";
  return std::move(out_);
}

}  // namespace

std::string report_page(const Results& now, const Results& before) {
  return Page(now, before).write();
}

}  // namespace laya::eval
