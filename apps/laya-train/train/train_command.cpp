#include "laya-train/train/train_command.h"

#include "laya-train/train/train_commands.h"

namespace laya::apps {

void add_train_command(CLI::App& app, Outcome& outcome) {
  CLI::App* train =
      app.add_subcommand("train", "train a network, an n-gram table or a vocabulary on texts");
  train->require_subcommand(1);
  train->footer("example: laya train ngram --help\n         laya train gru --help");
  add_train_gru(*train, outcome);
  add_train_block_words(*train, outcome);
  add_train_export(*train, outcome);
  add_train_lexicon(*train, outcome);
  add_train_ngram(*train, outcome);
  add_train_ranker(*train, outcome);
  add_train_mlp(*train, outcome);
  add_train_transformer(*train, outcome);
  add_train_vocab(*train, outcome);
  add_train_ranker_groups(*train, outcome);
}

}  // namespace laya::apps
