#include "laya-train/eval/eval_tiers.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>

#include "eval/evaluate_next.h"
#include "eval/frozen_set.h"

namespace laya::apps {

namespace {

void add_rest(CLI::App& command, EvalText& options) {
  command.add_option("--lines", options.lines,
                     "only the first N lines that are not blank (0: all)");
  command.add_flag("--json", options.json, "one JSON object on one line");
  add_model_options(command, options.model);
}

CLI::Option* add_file(CLI::App& command, EvalText& options) {
  return command.add_option("-f,--file", options.file,
                            "UTF-8 text, one utterance a line; - is standard input");
}

/// A file's name without its folders.
std::string name_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace

void add_eval_text(CLI::App& command, EvalText& options) {
  add_file(command, options)->required();
  add_rest(command, options);
}

void add_taste(CLI::App& command, predict::ListTaste& taste) {
  command
      .add_option("--temperature", taste.temperature,
                  "of the list: divides ln p before --diversity counts")
      ->check(CLI::Range(0.01F, 100.0F))
      ->capture_default_str();
  command
      .add_option("--diversity", taste.diversity,
                  "what an entry loses, in ln p, that goes on like one above it")
      ->check(CLI::Range(0.0F, 100.0F))
      ->capture_default_str();
}

void add_eval_set(CLI::App& command, EvalText& options) {
  CLI::Option* file = add_file(command, options);
  command
      .add_option("--frozen", options.frozen,
                  "in place of a file, the text that ships: en or zh (never trained on)")
      ->check(CLI::IsMember({"en", "zh"}))
      ->excludes(file);
  add_rest(command, options);
}

eval::Progress progress() {
  if (::isatty(STDERR_FILENO) == 0) {
    return {};
  }
  return [](std::size_t done, std::size_t total) {
    std::fprintf(stderr, "\r%zu of %zu lines%s", done, total, done >= total ? "\r\x1b[K" : "");
    std::fflush(stderr);
  };
}

Result<std::vector<std::string>> lines_of(const std::string& path) {
  Result<std::string> text = read_text(path);
  if (!text) return std::move(text).error();
  std::vector<std::string> lines = eval::text_lines(*text);
  if (lines.empty()) {
    return Error{ErrorCode::BadArgument, path + ": has no line that is not blank"};
  }
  return lines;
}

Result<std::vector<std::string>> lines_of(const EvalText& options, Words words) {
  if (options.frozen.empty()) {
    if (options.file.empty()) {
      return Error{ErrorCode::BadArgument, "no text: give --file FILE, or --frozen en|zh"};
    }
    return lines_of(options.file);
  }
  const bool chinese = options.frozen == "zh";
  std::vector<std::string> lines =
      eval::text_lines(chinese ? eval::frozen_chinese() : eval::frozen_english());
  if (chinese && words == Words::AsTyped) {
    for (std::string& line : lines) {
      line = eval::read_marked(line).text;
    }
  }
  return lines;
}

Result<Tiers> open_tiers(const setup::ModelOptions& options) {
  auto both = open_engine(options);
  if (!both) return std::move(both).error();
  Tiers tiers{std::move(both).value(), nullptr, ""};
  if (tiers.both->deep() == nullptr) {
    return tiers;
  }
  tiers.deep = setup::deep_name(options);
  setup::ModelOptions alone = options;
  alone.deep = "none";
  auto instant = open_engine(alone);
  if (!instant) return std::move(instant).error();
  tiers.instant = std::move(instant).value();
  return tiers;
}

nlohmann::ordered_json result_head(const std::string& measure, const std::string& set,
                                   const std::string& text) {
  return {{"measure", measure}, {"set", set}, {"text", text}, {"version", LAYA_VERSION}};
}

nlohmann::ordered_json result_head(const std::string& measure, const EvalText& text) {
  return text.frozen.empty() ? result_head(measure, "file", name_of(text.file))
                             : result_head(measure, "frozen", text.frozen);
}

nlohmann::ordered_json result_line(nlohmann::ordered_json head, const std::string& both,
                                   const std::string& instant, const Tiers& tiers) {
  using Json = nlohmann::ordered_json;
  head.update(Json::parse(both, nullptr, false));
  head["deep_model"] = tiers.deep.empty() ? Json(nullptr) : Json(tiers.deep);
  head["instant"] = instant.empty() ? Json(nullptr) : Json::parse(instant, nullptr, false);
  return head;
}

void print_json(const std::string& both, const std::string& instant, const Tiers& tiers) {
  std::cout << to_line(result_line(nlohmann::ordered_json::object(), both, instant, tiers))
            << std::endl;
}

void print_json(const std::string& measure, const EvalText& text, const std::string& both,
                const std::string& instant, const Tiers& tiers) {
  std::cout << to_line(result_line(result_head(measure, text), both, instant, tiers)) << std::endl;
}

std::string percent(double share, const eval::Interval& interval) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.2f %% (%.2f–%.2f)", 100 * share, 100 * interval.low,
                100 * interval.high);
  return text.data();
}

void print_passes(const Tiers& tiers, const predict::DeepStatistics& deep) {
  if (tiers.deep.empty() || deep.keys == 0) return;
  std::printf("%s: %.1f %% of keys need a pass, %.2f passes each\n", tiers.deep.c_str(),
              100 * static_cast<double>(deep.keys_with_pass) / static_cast<double>(deep.keys),
              static_cast<double>(deep.passes) /
                  static_cast<double>(std::max<std::uint64_t>(deep.keys_with_pass, 1)));
}

}  // namespace laya::apps
