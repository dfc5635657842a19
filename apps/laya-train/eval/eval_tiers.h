// What the parts of `laya eval` share: the text, the tiers to measure, progress, printing.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "common/command.h"
#include "common/model_options.h"
#include "eval/interval.h"
#include "eval/lines.h"
#include "predict/deep/deep_statistics.h"
#include "predict/engine/engine.h"
#include "predict/session/session.h"

namespace laya::apps {

/// What nearly every part may be told.
struct EvalText {
  setup::ModelOptions model;
  std::string file;
  std::string frozen;     ///< "en" or "zh": the frozen set in place of a file
  std::size_t lines = 0;  ///< 0: all
  bool json = false;
};

/// Adds --file, --lines, --json and the options of the model.
void add_eval_text(CLI::App& command, EvalText& options);

/// The same, and --frozen en|zh|… in place of --file: the text that ships (eval/frozen_set.h).
void add_eval_set(CLI::App& command, EvalText& options);

/// Adds --temperature and --diversity.
void add_taste(CLI::App& command, predict::ListTaste& taste);

/// A counter on a terminal's standard error; nothing elsewhere.
eval::Progress progress();

/// The lines of `path` that are not blank ("-": standard input); BadArgument when there are none.
Result<std::vector<std::string>> lines_of(const std::string& path);

/// How the words of the chosen text are given.
enum class Words { AsTyped, Marked };

/// The same of a file, or of the frozen set (Chinese with or without its marks); BadArgument when
/// neither or both are given.
Result<std::vector<std::string>> lines_of(const EvalText& options, Words words = Words::AsTyped);

/// The engine to measure, and, when it has a decoder, the instant tier alone beside it.
struct Tiers {
  std::shared_ptr<const predict::Engine> both;
  std::shared_ptr<const predict::Engine> instant;  ///< nullptr where both is the instant tier alone
  std::string deep;                                ///< name of the decoder, empty without
};

Result<Tiers> open_tiers(const setup::ModelOptions& options);

/// Prints the result's own line `both`, with the decoder's name and the instant tier's result in it
/// ("deep_model", "instant"; null without). Both are JSON objects; `instant` may be empty.
void print_json(const std::string& both, const std::string& instant, const Tiers& tiers);

/// The same with "measure" (the subcommand's name), "set" ("frozen", or "file"; frozen and other
/// text are never one figure), "text" (the file's name, without its folder) and "version" before
/// all else: what `laya eval report` reads.
void print_json(const std::string& measure, const EvalText& text, const std::string& both,
                const std::string& instant, const Tiers& tiers);

/// That beginning.
nlohmann::ordered_json result_head(const std::string& measure, const std::string& set,
                                   const std::string& text);
nlohmann::ordered_json result_head(const std::string& measure, const EvalText& text);

/// The line that print_json prints, as an object.
nlohmann::ordered_json result_line(nlohmann::ordered_json head, const std::string& both,
                                   const std::string& instant, const Tiers& tiers);

/// "29.51 % (28.40–30.61)".
std::string percent(double share, const eval::Interval& interval);

/// How much work the decoder was, as one line; nothing without one.
void print_passes(const Tiers& tiers, const predict::DeepStatistics& deep);

/// What was measured with all tiers, and with the instant one alone where there is a decoder.
template <typename T>
struct Measured {
  T both;
  std::optional<T> instant;
};

/// Calls `measure(engine)`, which gives a Result<T>, for each of them.
template <typename T, typename Measure>
Result<Measured<T>> measure_tiers(const Tiers& tiers, const Measure& measure) {
  Result<T> both = measure(*tiers.both);
  if (!both) return std::move(both).error();
  Measured<T> measured{std::move(both).value(), std::nullopt};
  if (tiers.instant) {
    Result<T> alone = measure(*tiers.instant);
    if (!alone) return std::move(alone).error();
    measured.instant = std::move(alone).value();
  }
  return measured;
}

}  // namespace laya::apps
