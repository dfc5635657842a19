#include "eval_command.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include "model_lookup.h"
#include "predict/evaluate.h"
#include "predict/evaluate_rerank.h"
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

/// The engine to measure, and, when it has a decoder, the instant tier alone beside it.
struct Tiers {
  predict::Engine both;
  std::optional<predict::Engine> instant;
  std::string deep;  ///< name of the decoder, empty without
};

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

/// The result's own line, with the decoder's name and the instant tier's result in it.
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

void evaluate_keystrokes(const EvalOptions& options, Outcome& outcome) {
  const Result<std::vector<std::string>> lines = lines_of(options.file);
  if (!lines) return fail(outcome, lines.error());
  const Result<Tiers> tiers = open_tiers(options.model);
  if (!tiers) return fail(outcome, tiers.error());
  predict::KsrOptions ksr;
  ksr.slots = options.slots;
  ksr.max_lines = options.lines;
  ksr.letter_case = options.lower_case ? predict::EvalCase::LowerCased : predict::EvalCase::AsTyped;
  ksr.progress = progress();
  const Result<predict::KsrResult> result = predict::evaluate_ksr(tiers->both, *lines, ksr);
  if (!result) return fail(outcome, result.error());
  std::optional<predict::KsrResult> instant;
  if (tiers->instant) {
    Result<predict::KsrResult> alone = predict::evaluate_ksr(*tiers->instant, *lines, ksr);
    if (!alone) return fail(outcome, alone.error());
    instant = std::move(alone).value();
  }
  if (options.json) {
    print_json(predict::to_json(*result), instant ? predict::to_json(*instant) : "", *tiers);
    return;
  }
  std::printf("%zu lines, %llu words, %llu keystrokes without prediction\n", result->lines,
              static_cast<unsigned long long>(result->words),
              static_cast<unsigned long long>(result->keystrokes));
  for (std::size_t i = 0; i < result->slots.size(); ++i) {
    const predict::KsrResult::Slot& slot = result->slots[i];
    std::printf(
        "%2zu slots: %5.2f %% of keystrokes saved, next word %5.2f %%", slot.slots,
        100 * slot.saved,
        100 * static_cast<double>(slot.next_word_hits) / static_cast<double>(result->words));
    if (instant) {
      std::printf("   (instant tier alone %5.2f %%)", 100 * instant->slots[i].saved);
    }
    std::printf("\n");
  }
  print_passes(*tiers, result->deep);
}

void evaluate_characters(const EvalOptions& options, Outcome& outcome) {
  const Result<std::vector<std::string>> lines = lines_of(options.file);
  if (!lines) return fail(outcome, lines.error());
  const Result<Tiers> tiers = open_tiers(options.model);
  if (!tiers) return fail(outcome, tiers.error());
  predict::NextCharOptions next_char;
  next_char.max_lines = options.lines;
  next_char.progress = progress();
  const Result<predict::NextCharResult> result =
      predict::evaluate_next_char(tiers->both, *lines, next_char);
  if (!result) return fail(outcome, result.error());
  std::optional<predict::NextCharResult> instant;
  if (tiers->instant) {
    Result<predict::NextCharResult> alone =
        predict::evaluate_next_char(*tiers->instant, *lines, next_char);
    if (!alone) return fail(outcome, alone.error());
    instant = std::move(alone).value();
  }
  if (options.json) {
    print_json(predict::to_json(*result), instant ? predict::to_json(*instant) : "", *tiers);
    return;
  }
  const double all = static_cast<double>(std::max<std::uint64_t>(result->characters, 1));
  std::printf("%zu lines, %llu Chinese characters: top-1 %.2f %%, top-3 %.2f %%\n", result->lines,
              static_cast<unsigned long long>(result->characters),
              100 * static_cast<double>(result->top1) / all,
              100 * static_cast<double>(result->top3) / all);
  if (instant) {
    std::printf("instant tier alone: top-1 %.2f %%, top-3 %.2f %%\n",
                100 * static_cast<double>(instant->top1) / all,
                100 * static_cast<double>(instant->top3) / all);
  }
  print_passes(*tiers, result->deep);
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

struct RerankOptions {
  ModelOptions model;
  std::string file;
  std::size_t sentences = 0;
  std::size_t candidates = 50;
  bool json = false;
};

void evaluate_order(const RerankOptions& options, Outcome& outcome) {
  const Result<std::string> text = read_text(options.file);
  if (!text) return fail(outcome, text.error());
  const auto sentences = predict::parse_nbest(*text);
  if (!sentences) {
    return fail(outcome, {sentences.error().code, options.file + ": " + sentences.error().message});
  }
  const Result<predict::Engine> engine = open_engine(options.model);
  if (!engine) return fail(outcome, engine.error());
  if (engine->deep() == nullptr) {
    return fail_usage(outcome, "eval rerank needs a decoder: --deep NAME (laya model list)");
  }
  predict::RerankOptions rerank;
  rerank.max_sentences = options.sentences;
  rerank.max_candidates = options.candidates;
  rerank.progress = progress();
  const auto result = predict::evaluate_rerank(*engine, *sentences, rerank);
  if (!result) return fail(outcome, result.error());
  if (options.json) {
    std::cout << predict::to_json(*result) << std::endl;
    return;
  }
  std::printf("%zu sentences, the right one is in the list of %.1f %%; %s\n", result->sentences,
              100 * result->holds, deep_name(options.model).c_str());
  for (const predict::RerankResult::Order& order : result->orders) {
    std::printf("  %-28s first right %5.1f %%, among five %5.1f %%, characters %5.1f %%\n",
                order.name.c_str(), 100 * order.first, 100 * order.first_five,
                100 * order.characters);
  }
  std::printf("a list of %.1f: %.2f ms (p99 %.2f), %.1f passes, %.0f tokens\n", result->candidates,
              result->ms_p50, result->ms_p99, result->passes, result->columns);
}

void add_rerank(CLI::App& eval, Outcome& outcome) {
  auto options = std::make_shared<RerankOptions>();
  CLI::App* command = eval.add_subcommand(
      "rerank", "an input method's n best sentences, put in the decoder's order");
  command
      ->add_option("-f,--file", options->file,
                   "lines typed<TAB>meant{<TAB>candidate<TAB>score}; - is standard input")
      ->required();
  command->add_option("--sentences", options->sentences, "only the first N (0: all)");
  command->add_option("--candidates", options->candidates, "of each list, at most")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1000}))
      ->capture_default_str();
  command->add_flag("--json", options->json, "one JSON object on one line");
  add_model_options(*command, options->model);
  command->footer(
      "Weights are learnt on one half of the sentences and reported on the other, both ways "
      "round.\n"
      "example: laya eval rerank --file nbest.tsv --deep gemma3-270m --candidates 20");
  command->callback([options, &outcome] { evaluate_order(*options, outcome); });
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
      "eval",
      "how good are the predictions on a text? (keystrokes, characters, input-method sentences)");
  command->require_subcommand(1);
  command->footer(
      "With a decoder (laya model list) both tiers are measured, and the instant one alone.\n"
      "example: laya eval ksr --file mails.txt --lines 600");

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

  add_rerank(*command, outcome);

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
