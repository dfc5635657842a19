// `laya train ranker-groups`: what a ranker learns from.
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "eval/key_log.h"
#include "eval/rank_groups.h"
#include "laya-train/eval/eval_tiers.h"
#include "laya-train/train/train_commands.h"
#include "predict/list/rank_features.h"
#include "train/decision/ranking_file.h"

namespace laya::apps {
namespace {

struct GroupsFlags {
  setup::ModelOptions model;
  std::vector<std::string> texts;
  std::vector<std::string> logs;
  std::string out;
  eval::RankGroupOptions options;
};

// What cannot be learnt from these texts is left out: the decoder's numbers without a decoder,
// those of offers without sources of offers (Ranker::knows_deep, knows_offers), the rhythm without
// key logs, and Chinese, which has no groups.
std::vector<std::size_t> columns_for(const predict::Engine& engine, const GroupsFlags& flags) {
  constexpr std::array<std::string_view, 3> kDeep = {"deep", "has_deep", "by_deep"};
  constexpr std::array<std::string_view, 7> kOffers = {
      "noise", "is_lexicon", "is_emoji", "is_correction", "is_pinyin", "is_remote", "erases"};
  constexpr std::array<std::string_view, 5> kRhythm = {"interval", "deletions", "jumps",
                                                       "accept_rate", "text_after"};
  const auto holds = [](const auto& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < predict::kRankFeatures; ++c) {
    const std::string_view name = predict::kRankFeatureNames[c];
    if ((engine.deep() == nullptr && holds(kDeep, name)) ||
        (engine.offer_sources().empty() && holds(kOffers, name)) ||
        (flags.logs.empty() && holds(kRhythm, name)) || name == "is_han") {
      continue;
    }
    columns.push_back(c);
  }
  return columns;
}

void print(const std::string& name, const eval::RankGroupCounts& counts) {
  const double known = counts.known == 0 ? 1 : static_cast<double>(counts.known);
  std::printf(
      "%s: %zu decisions, right one known %zu; by score top-1 %.2f %%, top-3 %.2f %%, "
      "MRR %.4f of those\n",
      name.c_str(), counts.decisions, counts.known, 100 * static_cast<double>(counts.first) / known,
      100 * static_cast<double>(counts.third) / known, counts.reciprocal / known);
}

void make_groups(GroupsFlags& flags, Outcome& outcome) {
  if (flags.texts.empty() && flags.logs.empty()) {
    return fail_usage(outcome, "train ranker-groups needs --text FILE or --log FILE");
  }
  flags.model.without.push_back("ranker");  // it learns from the order by score
  const auto engine = open_engine(flags.model);
  if (!engine) return fail(outcome, engine.error());
  const std::vector<std::size_t> columns = columns_for(**engine, flags);
  std::vector<std::string> names;
  for (const std::size_t column : columns) {
    names.emplace_back(predict::kRankFeatureNames[column]);
  }
  Result<train::RankingWriter> writer = train::RankingWriter::create(flags.out, names);
  if (!writer) return fail(outcome, writer.error());
  std::vector<float> values;
  const eval::RankGroupSink sink = [&](std::span<const float> rows, std::int32_t right) {
    values.clear();
    for (std::size_t at = 0; at < rows.size(); at += predict::kRankFeatures) {
      for (const std::size_t column : columns) values.push_back(rows[at + column]);
    }
    return writer->add(values, right);
  };
  flags.options.progress = progress();
  for (const std::string& path : flags.texts) {
    const Result<std::vector<std::string>> lines = lines_of(path);
    if (!lines) return fail(outcome, lines.error());
    const auto counts = eval::make_rank_groups(**engine, *lines, flags.options, sink);
    if (!counts) return fail(outcome, counts.error());
    print(path, *counts);
  }
  for (const std::string& path : flags.logs) {
    const Result<std::string> text = read_text(path);
    if (!text) return fail(outcome, text.error());
    const auto sessions = eval::parse_key_log(*text);
    if (!sessions) {
      return fail(outcome, {sessions.error().code, path + ": " + sessions.error().message});
    }
    const auto counts = eval::make_rank_groups(**engine, *sessions, flags.options, sink);
    if (!counts) return fail(outcome, counts.error());
    print(path, *counts);
  }
  if (Status finished = writer->finish(); !finished) return fail(outcome, finished.error());
}

}  // namespace

void add_train_ranker_groups(CLI::App& train, Outcome& outcome) {
  auto flags = std::make_shared<GroupsFlags>();
  CLI::App* command = train.add_subcommand(
      "ranker-groups", "type texts, or play key logs, and write what a ranker learns from");
  command->add_option("--text", flags->texts, "plain text, typed without mistakes; several times");
  command->add_option("--log", flags->logs, "key log of `laya simulate`; several times");
  command->add_option("--out", flags->out, "the file to write, for laya train ranker")->required();
  command->add_option("--lines", flags->options.max_lines, "of each text or log; 0: all");
  command->add_option("--slots", flags->options.slots, "entries that the typist takes from")
      ->capture_default_str();
  add_model_options(*command, flags->model);
  command->footer(
      "Use text that neither network, table nor weights were trained on. With --deep the "
      "decoder's\n"
      "numbers are written too.\n"
      "example: laya train ranker-groups --text mails.txt --out groups.tsv --deep none\n"
      "         laya simulate mails.txt --out log.jsonl && laya train ranker-groups --log "
      "log.jsonl "
      "--out groups.tsv");
  command->callback([flags, &outcome] { make_groups(*flags, outcome); });
}

}  // namespace laya::apps
