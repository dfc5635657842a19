// `laya train block-words`: the junk of the training texts, for models/block.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "laya-train/train/train_commands.h"
#include "model/backends/cpu.h"
#include "model/ngram/model_bundle.h"
#include "setup/data_files.h"
#include "train/lexicon/block_words.h"
#include "train/text/corpus.h"
#include "train/text/mixture.h"

namespace laya::apps {
namespace {

struct BlockFlags {
  std::string mixture;
  std::string data;
  std::string out;
  std::string table;
  std::vector<std::string> dictionaries;
  std::vector<std::string> messages = {"en_sms_nus", "zh_sms_nus", "en_irc_ubuntu",
                                       "en_spamassassin_ham"};
  std::vector<std::string> known = {"en_wordnet_examples"};
  train::BlockWordsOptions options;
};

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void run_block_words(const BlockFlags& flags, Outcome& outcome) {
  std::string mixture_path = flags.mixture;
  if (mixture_path.empty()) {
    Result<std::string> shipped = setup::find_data_file("models/instant/mixture.toml");
    if (!shipped) return fail(outcome, shipped.error());
    mixture_path = *shipped;
  }
  const Result<train::Mixture> mixture = train::load_mixture(mixture_path, flags.data);
  if (!mixture) return fail(outcome, mixture.error());
  for (const std::vector<std::string>* names : {&flags.messages, &flags.known}) {
    for (const std::string& name : *names) {
      if (std::none_of(mixture->sources.begin(), mixture->sources.end(),
                       [&](const train::MixtureSource& source) { return source.name == name; })) {
        return fail(outcome, Error{ErrorCode::BadArgument,
                                   name + ": no source of the mixture; name one of its sources"});
      }
    }
  }
  train::BlockWords words(flags.options);
  for (const std::string& path : flags.dictionaries) {
    const Result<std::string> text = train::read_text(path);
    if (!text) return fail(outcome, text.error());
    words.add_dictionary(*text);
  }
  for (const train::MixtureSource& source : mixture->sources) {
    const Result<std::string> text = train::read_text(source.path);
    if (!text) return fail(outcome, text.error());
    if (holds(flags.known, source.name)) words.add_dictionary(*text);
    words.add_text(*text, holds(flags.messages, source.name) ? train::TextKind::Messages
                                                             : train::TextKind::Published);
  }
  std::vector<std::string> junk = words.junk();
  if (!flags.table.empty()) {
    const Result<model::ModelBundle> table =
        model::ModelBundle::open(flags.table, model::cpu_backend());
    if (!table) return fail(outcome, table.error());
    if (table->ngrams() == nullptr) {
      return fail(outcome, Error{ErrorCode::BadArgument, flags.table + ": holds no n-gram table"});
    }
    std::erase_if(junk, [&](const std::string& word) {
      return table->ngrams()->find(word) == model::kUnknownWord;
    });
  }
  std::string text =
      "# Junk of the texts that the models were trained on: see README.md. Written by laya train "
      "block-words.\n[en junk]\n";
  for (const std::string& word : junk) {
    text += word + '\n';
  }
  if (Status status = base::write_file(flags.out, text); !status) {
    return fail(outcome, status.error());
  }
  std::printf("%s: %zu of %zu words\n", flags.out.c_str(), junk.size(), words.words());
}

}  // namespace

void add_train_block_words(CLI::App& train, Outcome& outcome) {
  CLI::App* app = train.add_subcommand(
      "block-words", "find nicknames, glued words and slips that must never be suggested");
  const auto flags = std::make_shared<BlockFlags>();
  app->add_option("--mixture", flags->mixture,
                  "TOML file that lists the texts (default: the shipped one)");
  app->add_option("--data", flags->data, "folder that the mixture's paths are relative to")
      ->required();
  app->add_option("--dictionary", flags->dictionaries,
                  "word lists: what they hold is no junk (one word a line, or hunspell's .dic)")
      ->required();
  app->add_option("--out", flags->out, "the file to write")->required();
  app->add_option("--table", flags->table,
                  "an n-gram table: junk that it does not hold need not be listed");
  app->add_option("--messages", flags->messages, "sources that are messages between people")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--known", flags->known, "sources whose words are all known")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--least-parts", flags->options.least_parts,
                  "of 64 parts of such a text, so many must hold a word")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app->add_option("--least-sources", flags->options.least_sources,
                  "or so many texts of any kind must")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option("--published", flags->options.published_count,
                  "or one published text must, so many times")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->footer(
      "example: laya train block-words --data TEXTS --dictionary /usr/share/dict/american-english\n"
      "         /usr/share/hunspell/en_US.dic --table models/instant/ngram.laya --out "
      "models/block/junk.txt");
  app->callback([flags, &outcome] { run_block_words(*flags, outcome); });
}

}  // namespace laya::apps
