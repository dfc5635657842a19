#include "laya-train/eval/compare_command.h"

#include <cstdio>
#include <memory>
#include <span>
#include <vector>

#include "common/progress_line.h"
#include "convert/convert_parity.h"
#include "convert/convert_texts.h"
#include "format/model_file.h"
#include "laya-train/eval/compare_words.h"

namespace laya::apps {
namespace {

struct CompareFlags {
  std::string exact, other;
  std::vector<std::string> texts;
  std::size_t contexts = 300;
  std::string model;
  bool words = false;
  bool json = false;
};

/// The texts' lines; `contents` keeps them alive.
Result<std::vector<std::string_view>> lines_for(const CompareFlags& flags,
                                                std::vector<std::string>& contents) {
  std::vector<std::string_view> lines;
  for (const std::string& path : flags.texts) {
    auto text = read_text(path);
    if (!text) return text.error();
    contents.push_back(std::move(*text));
  }
  for (const std::string& text : contents) {
    for (const std::string_view line : convert::lines_of(text)) lines.push_back(line);
  }
  if (lines.empty()) {
    const auto built_in = convert::parity_texts();
    lines.assign(built_in.begin(), built_in.end());
  }
  return lines;
}

Result<convert::Parity> compare(const CompareFlags& flags,
                                std::span<const std::string_view> lines) {
  const auto exact_file = format::ModelFile::open(flags.exact);
  if (!exact_file) return exact_file.error();
  const auto other_file = format::ModelFile::open(flags.other);
  if (!other_file) return other_file.error();
  auto exact = convert::open_decoder(*exact_file);
  if (!exact) return exact.error();
  auto other = convert::open_decoder(*other_file);
  if (!other) return other.error();
  ProgressLine progress(stderr);
  convert::CompareOptions options;
  options.contexts = flags.contexts;
  options.progress = [&](double done) { progress.show("comparing", done); };
  return convert::compare_decoders(*exact, *other, lines, options);
}

void run_words(const CompareFlags& flags, std::span<const std::string_view> lines,
               Outcome& outcome) {
  ProgressLine progress(stderr);
  const auto words = compare_words(flags.model, flags.exact, flags.other, lines, flags.contexts,
                                   [&](double done) { progress.show("comparing", done); });
  progress.clear();
  if (!words) return fail(outcome, words.error());
  if (flags.json) {
    const nlohmann::ordered_json json = {{"contexts", words->contexts},
                                         {"same_top3", words->same_top3},
                                         {"same_top3_in_order", words->same_order},
                                         {"same_deep_top3", words->same_deep_top3}};
    std::printf("%s\n", to_line(json).c_str());
    return;
  }
  std::printf(
      "%zu contexts: the list shows the same three words or characters in %.2f %% (in the same "
      "order "
      "in %.2f %%); the decoder's own three are the same in %.2f %%\n",
      words->contexts, words->same_top3 * 100, words->same_order * 100,
      words->same_deep_top3 * 100);
}

void run(const CompareFlags& flags, Outcome& outcome) {
  std::vector<std::string> contents;
  const auto lines = lines_for(flags, contents);
  if (!lines) return fail(outcome, lines.error());
  if (flags.words) return run_words(flags, *lines, outcome);
  const auto parity = compare(flags, *lines);
  if (!parity) return fail(outcome, parity.error());
  if (flags.json) {
    const nlohmann::ordered_json json = {{"contexts", parity->contexts},
                                         {"mean_kl", parity->mean_kl},
                                         {"max_logit_error", parity->max_logit_error},
                                         {"overlap", parity->overlap},
                                         {"same_first", parity->same_first},
                                         {"same_top3", parity->same_shown},
                                         {"same_top3_in_order", parity->same_order}};
    std::printf("%s\n", to_line(json).c_str());
    return;
  }
  std::printf(
      "%zu contexts: the same top three in %.2f %% (in the same order in %.2f %%), the same first "
      "in "
      "%.2f %%\n%.2f %% of the ten most probable tokens are the same; KL %.5f nats over the rows "
      "that "
      "both have, largest difference of a logit %.3f\n",
      parity->contexts, parity->same_shown * 100, parity->same_order * 100,
      parity->same_first * 100, parity->overlap * 100, parity->mean_kl, parity->max_logit_error);
}

}  // namespace

void add_compare_command(CLI::App& app, Outcome& outcome) {
  auto flags = std::make_shared<CompareFlags>();  // shared: CLI11 copies the callback
  CLI::App* command =
      app.add_subcommand("compare", "two .laya files of one decoder: are the same tokens offered?");
  command
      ->add_option("first", flags->exact, "the one that is right (all rows, where one is pruned)")
      ->required();
  command->add_option("second", flags->other, "the other")->required();
  command->add_option("--text", flags->texts,
                      "text to compare on, a line at a time (repeatable; default: built in)");
  command->add_option("--contexts", flags->contexts, "compare in so many places, all over the text")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_flag("--words", flags->words,
                    "compare the words and characters that the whole product offers, not tokens");
  command->add_option("--model", flags->model, "with --words: the instant tier's folder or file");
  command->add_flag("--json", flags->json, "one JSON object on one line");
  command->footer(
      "example: laya compare gemma.laya gemma-zh-en.laya --text dev.txt --contexts 2000");
  command->callback([flags, &outcome] { run(*flags, outcome); });
}

}  // namespace laya::apps
