// The parts of `laya eval`, one function a subcommand, one file each (eval_<name>.cpp).
#pragma once

#include <CLI/CLI.hpp>

#include "common/command.h"

namespace laya::apps {

/// `outcome` must outlive the parse.
void add_eval_ksr(CLI::App& eval, Outcome& outcome);
void add_eval_next(CLI::App& eval, Outcome& outcome);
void add_eval_next_char(CLI::App& eval, Outcome& outcome);
void add_eval_ghost(CLI::App& eval, Outcome& outcome);
void add_eval_diversity(CLI::App& eval, Outcome& outcome);
void add_eval_bpc(CLI::App& eval, Outcome& outcome);
void add_eval_replay(CLI::App& eval, Outcome& outcome);
void add_eval_peers(CLI::App& eval, Outcome& outcome);
void add_eval_pinyin(CLI::App& eval, Outcome& outcome);
void add_eval_correct(CLI::App& eval, Outcome& outcome);
void add_eval_report(CLI::App& eval, Outcome& outcome);
void add_eval_rerank(CLI::App& eval, Outcome& outcome);
void add_eval_mixing(CLI::App& eval, Outcome& outcome);

}  // namespace laya::apps
