#include "eval_command.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <vector>

#include "model_lookup.h"
#include "predict/evaluate.h"
#include "predict/learn_mixing.h"
#include "predict/reply.h"

namespace laya::apps {
namespace {

struct EvalOptions {
  ModelOptions model;
  std::string file;
  std::vector<std::size_t> slots = {1, 3, 5};
  std::size_t lines = 0;
  bool lower_case = false;
  bool json = false;
};

/// A counter on a terminal's standard error; nothing elsewhere.
predict::Progress progress() {
  if (::isatty(STDERR_FILENO) == 0) {
    return {};
  }
  return [](std::size_t done, std::size_t total) {
    std::fprintf(stderr, "\r%zu of %zu lines%s", done, total, done >= total ? "\r\x1b[K" : "");
    std::fflush(stderr);
  };
}

/// The lines to measure; an error when there are none.
Result<std::vector<std::string>> lines_of(const std::string& path) {
  Result<std::string> text = read_text(path);
  if (!text) return std::move(text).error();
  std::vector<std::string> lines = predict::text_lines(*text);
  if (lines.empty()) {
    return Error{ErrorCode::BadArgument, path + ": has no line that is not blank"};
  }
  return lines;
}

void evaluate_keystrokes(const EvalOptions& options, Outcome& outcome) {
  const Result<std::vector<std::string>> lines = lines_of(options.file);
  if (!lines) return fail(outcome, lines.error());
  Result<predict::Engine> engine = open_engine(options.model);
  if (!engine) return fail(outcome, engine.error());
  predict::KsrOptions ksr;
  ksr.slots = options.slots;
  ksr.max_lines = options.lines;
  ksr.letter_case = options.lower_case ? predict::EvalCase::LowerCased : predict::EvalCase::AsTyped;
  ksr.progress = progress();
  const Result<predict::KsrResult> result = predict::evaluate_ksr(*engine, *lines, ksr);
  if (!result) return fail(outcome, result.error());
  if (options.json) {
    std::cout << predict::to_json(*result) << std::endl;
    return;
  }
  std::printf("%zu lines, %llu words, %llu keystrokes without prediction\n", result->lines,
              static_cast<unsigned long long>(result->words),
              static_cast<unsigned long long>(result->keystrokes));
  for (const predict::KsrResult::Slot& slot : result->slots) {
    std::printf(
        "%2zu slots: %5.2f %% of keystrokes saved, next word %5.2f %%\n", slot.slots,
        100 * slot.saved,
        100 * static_cast<double>(slot.next_word_hits) / static_cast<double>(result->words));
  }
}

void evaluate_characters(const EvalOptions& options, Outcome& outcome) {
  const Result<std::vector<std::string>> lines = lines_of(options.file);
  if (!lines) return fail(outcome, lines.error());
  Result<predict::Engine> engine = open_engine(options.model);
  if (!engine) return fail(outcome, engine.error());
  predict::NextCharOptions next_char;
  next_char.max_lines = options.lines;
  next_char.progress = progress();
  const Result<predict::NextCharResult> result =
      predict::evaluate_next_char(*engine, *lines, next_char);
  if (!result) return fail(outcome, result.error());
  if (options.json) {
    std::cout << predict::to_json(*result) << std::endl;
    return;
  }
  const double all = static_cast<double>(std::max<std::uint64_t>(result->characters, 1));
  std::printf("%zu lines, %llu Chinese characters: top-1 %.2f %%, top-3 %.2f %%\n", result->lines,
              static_cast<unsigned long long>(result->characters),
              100 * static_cast<double>(result->top1) / all,
              100 * static_cast<double>(result->top3) / all);
}

struct MixingOptions {
  ModelOptions model;
  std::vector<std::string> words;
  std::vector<std::string> han;
  std::size_t lines = 0;
  std::size_t skip = 0;
};

/// Chooses how much the network and the n-gram table count, and prints it as src/predict/mixing.cpp
/// holds it.
void learn_weights(const MixingOptions& options, Outcome& outcome) {
  std::vector<std::string> texts[2];
  for (const std::size_t kind : {std::size_t{0}, std::size_t{1}}) {
    for (const std::string& path : kind == 0 ? options.words : options.han) {
      Result<std::vector<std::string>> lines = lines_of(path);
      if (!lines) return fail(outcome, lines.error());
      const std::size_t first = std::min(options.skip, lines->size());
      const std::size_t left = lines->size() - first;
      const std::size_t count = options.lines == 0 ? left : std::min(options.lines, left);
      texts[kind].insert(texts[kind].end(), lines->begin() + static_cast<std::ptrdiff_t>(first),
                         lines->begin() + static_cast<std::ptrdiff_t>(first + count));
    }
  }
  Result<predict::Engine> engine = open_engine(options.model);
  if (!engine) return fail(outcome, engine.error());
  predict::LearnMixingOptions learn;
  learn.progress = progress();
  const auto learnt = predict::learn_mixing(*engine, texts[0], texts[1], learn);
  if (!learnt) return fail(outcome, learnt.error());
  std::cout << predict::to_json(learnt->mixing) << std::endl;
  std::fprintf(stderr, "%zu keys: hits %.4f, were %.4f; %zu characters: hits %.4f, were %.4f\n",
               learnt->word_keys, learnt->word_hits_after, learnt->word_hits_before,
               learnt->han_characters, learnt->han_hits_after, learnt->han_hits_before);
}

void add_common(CLI::App& command, EvalOptions& options) {
  command
      .add_option("-f,--file", options.file,
                  "UTF-8 text, one utterance a line; - is standard input")
      ->required();
  command.add_option("--lines", options.lines,
                     "only the first N lines that are not blank (0: all)");
  command.add_flag("--json", options.json, "one JSON object on one line");
  add_model_options(command, options.model);
}

}  // namespace

void add_eval_command(CLI::App& app, Outcome& outcome) {
  CLI::App* command = app.add_subcommand(
      "eval", "how good are the predictions on a text? (keystrokes, characters)");
  command->require_subcommand(1);
  command->footer("example: laya eval ksr --file mails.txt --lines 600");

  auto ksr = std::make_shared<EvalOptions>();
  CLI::App* keystrokes = command->add_subcommand(
      "ksr", "keystrokes saved, by list length; accepting costs one key and brings the space");
  add_common(*keystrokes, *ksr);
  keystrokes->add_option("--slots", ksr->slots, "list lengths to measure")
      ->delimiter(',')
      ->check(CLI::Range(std::size_t{1}, predict::Reply::kMaxCandidates))
      ->capture_default_str();
  keystrokes->add_flag("--lower-case", ksr->lower_case, "type the text in lower case");
  keystrokes->footer("example: laya eval ksr --file mails.txt --slots 1,3,5 --lines 600 --json");
  keystrokes->callback([ksr, &outcome] { evaluate_keystrokes(*ksr, outcome); });

  auto next = std::make_shared<EvalOptions>();
  CLI::App* characters = command->add_subcommand(
      "next-char", "how often the next Chinese character is the first, or among the first three");
  add_common(*characters, *next);
  characters->footer("example: laya eval next-char --file chats.txt --lines 2000");
  characters->callback([next, &outcome] { evaluate_characters(*next, outcome); });

  auto mixing = std::make_shared<MixingOptions>();
  CLI::App* learn = command->add_subcommand(
      "mixing", "choose the shares of network and n-gram table on dev text, never on test text");
  learn->add_option("--words", mixing->words, "English text, one utterance a line")->required();
  learn->add_option("--han", mixing->han, "Chinese text, one utterance a line")->required();
  learn->add_option("--lines", mixing->lines, "at most so many lines of each file (0: all)");
  learn->add_option("--skip", mixing->skip, "leave out the first N lines of each file");
  add_model_options(*learn, mixing->model);
  learn->footer("example: laya eval mixing --words ewt.txt sms.txt --han zh.txt --skip 600");
  learn->callback([mixing, &outcome] { learn_weights(*mixing, outcome); });
}

}  // namespace laya::apps
