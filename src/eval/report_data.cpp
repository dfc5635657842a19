#include "eval/report_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace laya::eval {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxLine = 4u << 20;
constexpr int kMaxDepth = 8;

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string text_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<Interval> interval_of(const Json& object, const std::string& name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array() || found->size() != 2 ||
      !(*found)[0].is_number() || !(*found)[1].is_number()) {
    return std::nullopt;
  }
  return Interval{(*found)[0].get<double>(), (*found)[1].get<double>()};
}

double number_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

// Of results that do not say what they are (older ones, peers): by what they hold.
std::string measure_of(const Json& json) {
  for (const char* name : {"measure", "kind"}) {
    if (std::string said = text_of(json, name); !said.empty() && said != "peers") return said;
  }
  if (json.contains("keystrokes")) return "ksr";
  if (json.contains("sentences")) return "pinyin";
  if (json.contains("next_character") || json.contains("characters")) return "next-char";
  return "other";
}

class Reader {
 public:
  explicit Reader(Results* out) : out_(out) {}

  void line(const Json& json) {
    head_ = {measure_of(json), text_of(json, "set"), text_of(json, "text"), "", "", 0, {}};
    if (head_.set.empty()) head_.set = "file";
    if (out_->version.empty()) out_->version = text_of(json, "version");
    const std::string deep = text_of(json, "deep_model");
    walk(json, "", deep.empty() ? "instant" : deep, 0);
  }

 private:
  void walk(const Json& object, const std::string& path, const std::string& system, int depth) {
    if (depth > kMaxDepth) return;
    for (const auto& [key, value] : object.items()) {
      if (key.ends_with("_interval") || is_one_of(key, {"differences", "skipped", "failures",
                                                        "over_libime", "instant_over_libime"})) {
        continue;
      }
      if (key == "curve") {
        curve(value, system);
      } else if (key == "sources") {
        sources(value, system);
      } else if (value.is_number()) {
        std::optional<Interval> interval = interval_of(object, key + "_interval");
        add(path + key, system, value.get<double>(), interval);
      } else if (value.is_object()) {
        member(object, key, value, path, system, depth);
      } else if (value.is_array()) {
        for (const Json& element : value) {
          if (!element.is_object()) continue;
          const std::string name = text_of(element, "name");
          if (!name.empty()) {
            walk(element, key == "systems" || key == "next_character" ? path : path + key + ".",
                 name, depth + 1);
          } else if (element.contains("letters")) {
            walk(element,
                 path + key + "." +
                     std::to_string(static_cast<int>(number_of(element, "letters"))) + ".",
                 system, depth + 1);
          }
        }
      }
    }
  }

  void member(const Json& object, const std::string& key, const Json& value,
              const std::string& path, const std::string& system, int depth) {
    if (is_one_of(key, {"instant", "libime", "hunspell", "laya"})) {
      walk(value, path, key == "laya" ? "laya" : key, depth + 1);
      return;
    }
    // {"saved":{"3":…},"saved_interval":{"3":[…]}}: the interval stands beside, not inside.
    const auto intervals = object.find(key + "_interval");
    if (intervals != object.end() && intervals->is_object()) {
      for (const auto& [name, number] : value.items()) {
        if (number.is_number()) {
          add(path + key + "." + name, system, number.get<double>(), interval_of(*intervals, name));
        }
      }
      return;
    }
    const std::string here = key == "word_starts" ? "zh_words."
                             : key == "pairs"     ? path
                                                  : path + key + ".";
    walk(value, here, system, depth + 1);
  }

  void add(const std::string& name, const std::string& system, double value,
           std::optional<Interval> interval) {
    Figure figure = head_;
    figure.name = name;
    figure.system = system;
    figure.value = value;
    figure.interval = interval;
    const auto same = [&](const Figure& other) {
      return other.measure == figure.measure && other.set == figure.set &&
             other.text == figure.text && other.system == figure.system &&
             other.name == figure.name;
    };
    const auto old = std::find_if(out_->figures.begin(), out_->figures.end(), same);
    if (old != out_->figures.end()) {
      *old = figure;
    } else {
      out_->figures.push_back(figure);
    }
  }

  void curve(const Json& value, const std::string& system) {
    if (!value.is_array()) return;
    GhostCurve curve{head_.set, head_.text, system, {}};
    for (const Json& point : value) {
      if (point.is_object()) {
        curve.points.push_back({number_of(point, "p"), number_of(point, "shown"),
                                number_of(point, "precision"), number_of(point, "harm")});
      }
    }
    if (!curve.points.empty()) {
      out_->curves.push_back(std::move(curve));
    }
  }

  void sources(const Json& value, const std::string& system) {
    if (!value.is_object()) return;
    for (const auto& [slots, shares] : value.items()) {
      if (!shares.is_object()) continue;
      SourceShares row{head_.set, head_.text, system, slots, {}};
      for (const auto& [source, picks] : shares.items()) {
        if (picks.is_object()) {
          row.saved[source] = number_of(picks, "saved");
        }
      }
      if (!row.saved.empty()) {
        out_->sources.push_back(std::move(row));
      }
    }
  }

  Results* out_;
  Figure head_;
};

}  // namespace

Result<Results> parse_results(std::string_view lines) {
  Results results;
  Reader reader(&results);
  for (std::size_t number = 1; !lines.empty(); ++number) {
    const std::size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (line.size() > kMaxLine) {
      return Error{ErrorCode::TooLarge, "line " + std::to_string(number) + ": longer than 4 MiB"};
    }
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) {
      return Error{ErrorCode::Corrupt, "line " + std::to_string(number) +
                                           ": is no JSON object (laya eval … --json prints one)"};
    }
    reader.line(json);
  }
  return results;
}

}  // namespace laya::eval
