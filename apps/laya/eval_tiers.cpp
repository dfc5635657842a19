#include "eval_tiers.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace laya::apps {

void add_eval_text(CLI::App& command, EvalText& options) {
  command
      .add_option("-f,--file", options.file,
                  "UTF-8 text, one utterance a line; - is standard input")
      ->required();
  command.add_option("--lines", options.lines,
                     "only the first N lines that are not blank (0: all)");
  command.add_flag("--json", options.json, "one JSON object on one line");
  add_model_options(command, options.model);
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

Result<Tiers> open_tiers(const ModelOptions& options) {
  Result<predict::Engine> both = open_engine(options);
  if (!both) return std::move(both).error();
  Tiers tiers{std::move(both).value(), std::nullopt, ""};
  if (tiers.both.deep() == nullptr) {
    return tiers;
  }
  tiers.deep = deep_name(options);
  ModelOptions alone = options;
  alone.deep = "none";
  Result<predict::Engine> instant = open_engine(alone);
  if (!instant) return std::move(instant).error();
  tiers.instant.emplace(std::move(instant).value());
  return tiers;
}

void print_json(const std::string& both, const std::string& instant, const Tiers& tiers) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(both, nullptr, false);
  json["deep_model"] =
      tiers.deep.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(tiers.deep);
  json["instant"] = instant.empty() ? nlohmann::ordered_json(nullptr)
                                    : nlohmann::ordered_json::parse(instant, nullptr, false);
  std::cout << to_line(json) << std::endl;
}

void print_passes(const Tiers& tiers, const predict::DeepStatistics& deep) {
  if (tiers.deep.empty() || deep.keys == 0) return;
  std::printf("%s: %.1f %% of keys need a pass, %.2f passes each\n", tiers.deep.c_str(),
              100 * static_cast<double>(deep.keys_with_pass) / static_cast<double>(deep.keys),
              static_cast<double>(deep.passes) /
                  static_cast<double>(std::max<std::uint64_t>(deep.keys_with_pass, 1)));
}

}  // namespace laya::apps
