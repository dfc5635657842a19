// The parts of `laya train`, one function a subcommand.
#pragma once

#include <CLI/CLI.hpp>

#include "common/command.h"

namespace laya::apps {

/// `outcome` must outlive the parse.
void add_train_gru(CLI::App& train, Outcome& outcome);
void add_train_block_words(CLI::App& train, Outcome& outcome);
void add_train_export(CLI::App& train, Outcome& outcome);
void add_train_lexicon(CLI::App& train, Outcome& outcome);
void add_train_ngram(CLI::App& train, Outcome& outcome);
void add_train_ranker(CLI::App& train, Outcome& outcome);
void add_train_mlp(CLI::App& train, Outcome& outcome);
void add_train_transformer(CLI::App& train, Outcome& outcome);
void add_train_vocab(CLI::App& train, Outcome& outcome);
void add_train_ranker_groups(CLI::App& train, Outcome& outcome);

}  // namespace laya::apps
