#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <vector>

#include "eval/learn_mixing.h"
#include "laya-train/eval/eval_commands.h"
#include "laya-train/eval/eval_tiers.h"

namespace laya::apps {
namespace {

struct MixingOptions {
  setup::ModelOptions model;
  std::vector<std::string> words;
  std::vector<std::string> han;
  std::size_t lines = 0;
  std::size_t skip = 0;
};

/// Chooses how much the network and the n-gram table count, and prints it as mixing.cpp
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
  const auto engine = open_engine(options.model);
  if (!engine) return fail(outcome, engine.error());
  eval::LearnMixingOptions learn;
  learn.progress = progress();
  const auto learnt = eval::learn_mixing(**engine, texts[0], texts[1], learn);
  if (!learnt) return fail(outcome, learnt.error());
  std::cout << eval::to_json(learnt->mixing) << std::endl;
  std::fprintf(stderr, "%zu keys: hits %.4f, were %.4f; %zu characters: hits %.4f, were %.4f\n",
               learnt->word_keys, learnt->word_hits_after, learnt->word_hits_before,
               learnt->han_characters, learnt->han_hits_after, learnt->han_hits_before);
}

}  // namespace

void add_eval_mixing(CLI::App& eval, Outcome& outcome) {
  auto mixing = std::make_shared<MixingOptions>();
  CLI::App* learn = eval.add_subcommand(
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
