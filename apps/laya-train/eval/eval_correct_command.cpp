// `laya eval correct`: how good corrections are, beside hunspell's, and how often right words are
// flagged.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "eval/evaluate_correct.h"
#include "laya-train/eval/eval_commands.h"
#include "laya-train/eval/eval_tiers.h"
#include "laya-train/peers/peer_process.h"
#include "predict/offers/corrector.h"
#include "setup/data_files.h"

namespace laya::apps {
namespace {

struct CorrectOptions {
  setup::ModelOptions model;
  std::string file;
  std::vector<std::string> clean;
  std::string programs;
  std::size_t lines = 0;
  bool no_peer = false;
  bool misses = false;
  bool json = false;
};

struct Measured {
  std::string name;
  std::optional<eval::CorrectResult> pairs;
  std::vector<eval::CleanResult> clean;  // of each --clean
};

std::string share(std::uint64_t part, std::uint64_t all) {
  const eval::Interval interval = eval::wilson(part, all);
  char text[64];
  std::snprintf(text, sizeof(text), "%5.2f %% (%.2f to %.2f)",
                all == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(all),
                100 * interval.low, 100 * interval.high);
  return text;
}

Result<Measured> measure(const std::string& name, const std::vector<eval::CorrectPair>& pairs,
                         const std::vector<std::vector<std::string>>& clean,
                         const eval::Correcting& correcting) {
  Measured measured;
  measured.name = name;
  if (!pairs.empty()) {
    auto result = eval::evaluate_correct(pairs, correcting, progress());
    if (!result) return std::move(result).error();
    measured.pairs = std::move(result).value();
  }
  for (const std::vector<std::string>& lines : clean) {
    auto result = eval::evaluate_clean(lines, correcting, progress());
    if (!result) return std::move(result).error();
    measured.clean.push_back(std::move(result).value());
  }
  return measured;
}

Result<PeerProcess> start_hunspell(const std::string& folder) {
  std::string program = folder.empty() ? "hunspell_suggest" : folder + "/hunspell_suggest";
  if (folder.empty() && !setup::data_roots().empty()) {
    program = (setup::data_roots().front() / "hunspell_suggest").string();
  }
  Result<PeerProcess> peer = PeerProcess::start({program});
  if (!peer) return peer;
  const Result<nlohmann::json> who = peer->read();
  if (!who || !who->is_object() || who->contains("missing")) {
    return Error{ErrorCode::Unsupported,
                 "hunspell is skipped: its driver was not built or its dictionary is missing "
                 "(libhunspell-dev, hunspell-en-us)"};
  }
  return peer;
}

Result<Measured> measure_hunspell(PeerProcess& peer, const std::vector<eval::CorrectPair>& pairs,
                                  const std::vector<std::vector<std::string>>& clean) {
  std::vector<std::string> words;
  return measure(
      "hunspell", pairs, clean,
      [&](std::string_view, std::string_view typed) -> Result<std::span<const std::string>> {
        const Result<nlohmann::json> answer = peer.ask({{"word", typed}});
        if (!answer) return answer.error();
        const auto list = answer->is_object() ? answer->find("words") : answer->end();
        if (!answer->is_object() || list == answer->end() || !list->is_array()) {
          return Error{ErrorCode::Io, "hunspell: answered without a list of words"};
        }
        words.clear();
        for (const nlohmann::json& word : *list) {
          if (word.is_string()) words.push_back(word.get<std::string>());
        }
        return std::span<const std::string>(words);
      });
}

nlohmann::ordered_json json_of(const Measured& measured, const CorrectOptions& options) {
  nlohmann::ordered_json json;
  json["name"] = measured.name;
  if (measured.pairs) {
    json["pairs"] = nlohmann::ordered_json::parse(eval::to_json(*measured.pairs), nullptr, false);
  }
  json["clean"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < measured.clean.size(); ++i) {
    auto clean = nlohmann::ordered_json::parse(eval::to_json(measured.clean[i]), nullptr, false);
    clean["file"] = std::filesystem::path(options.clean[i]).filename().string();
    json["clean"].push_back(std::move(clean));
  }
  return json;
}

void print(const Measured& measured, const CorrectOptions& options) {
  if (measured.pairs) {
    const eval::CorrectResult& result = *measured.pairs;
    std::printf("%-9s first %s, among three %s, silent %.1f %%, %.0f µs (p99 %.0f)\n",
                measured.name.c_str(), share(result.top1, result.pairs).c_str(),
                share(result.top3, result.pairs).c_str(), 100 * result.share(result.silent),
                static_cast<double>(result.percentile(0.5)),
                static_cast<double>(result.percentile(0.99)));
  }
  for (std::size_t i = 0; i < measured.clean.size(); ++i) {
    const eval::CleanResult& clean = measured.clean[i];
    std::printf("%-9s flags %s of %llu right words of %s\n", measured.name.c_str(),
                share(clean.flagged, clean.words).c_str(),
                static_cast<unsigned long long>(clean.words),
                std::filesystem::path(options.clean[i]).filename().c_str());
  }
}

void print_misses(const Measured& ours, const std::vector<eval::CorrectPair>& pairs) {
  if (ours.pairs) {
    for (const std::size_t index : ours.pairs->missed) {
      std::printf("missed\t%s\t%s\n", pairs[index].typed.c_str(), pairs[index].expected.c_str());
    }
  }
  for (const eval::CleanResult& clean : ours.clean) {
    for (const std::string& flag : clean.flags) std::printf("flagged\t%s\n", flag.c_str());
  }
}

void evaluate(const CorrectOptions& options, Outcome& outcome) {
  std::vector<eval::CorrectPair> pairs;
  if (!options.file.empty()) {
    const Result<std::string> text = read_text(options.file);
    if (!text) return fail(outcome, text.error());
    auto parsed = eval::parse_correct_pairs(*text);
    if (!parsed) {
      return fail(outcome, {parsed.error().code, options.file + ": " + parsed.error().message});
    }
    pairs = std::move(parsed).value();
  }
  std::vector<std::vector<std::string>> clean;
  for (const std::string& path : options.clean) {
    Result<std::vector<std::string>> lines = lines_of(path);
    if (!lines) return fail(outcome, lines.error());
    clean.push_back(std::move(lines).value());
    if (options.lines > 0) clean.back().resize(std::min(options.lines, clean.back().size()));
  }
  if (pairs.empty() && clean.empty()) {
    return fail_usage(outcome, "eval correct needs --file PAIRS or --clean TEXT");
  }
  setup::ModelOptions alone = options.model;
  alone.deep = "none";
  const Result<predict::EnginePaths> paths = setup::find_model(alone);
  if (!paths) return fail(outcome, paths.error());
  if (paths->lexicon_path.empty()) {
    return fail(outcome, {ErrorCode::BadArgument,
                          "models/lexicon/en.laya was not found; laya train lexicon makes one"});
  }
  const auto engine = open_engine(alone);
  if (!engine) return fail(outcome, engine.error());
  const auto lexicon = predict::Lexicon::open(paths->lexicon_path);
  if (!lexicon) return fail(outcome, lexicon.error());

  predict::Corrector corrector(**lexicon, (*engine)->ngrams());
  std::vector<std::string> words;
  const Result<Measured> ours = measure(
      "laya", pairs, clean,
      [&](std::string_view before, std::string_view typed) -> Result<std::span<const std::string>> {
        words.clear();
        for (const auto& found : corrector.correct(before, typed, predict::Typing::Finished)) {
          words.emplace_back(found.text);
        }
        return std::span<const std::string>(words);
      });
  if (!ours) return fail(outcome, ours.error());

  std::optional<Measured> hunspell;
  if (!options.no_peer) {
    Result<PeerProcess> peer = start_hunspell(options.programs);
    if (!peer) {
      std::cerr << peer.error().message << std::endl;
    } else {
      Result<Measured> measured = measure_hunspell(*peer, pairs, clean);
      if (!measured) return fail(outcome, measured.error());
      hunspell = std::move(measured).value();
    }
  }
  if (options.json) {
    nlohmann::ordered_json json;
    json["kind"] = "correct";
    json["laya"] = json_of(*ours, options);
    json["hunspell"] = hunspell ? json_of(*hunspell, options) : nlohmann::ordered_json(nullptr);
    std::cout << to_line(json) << std::endl;
    return;
  }
  if (!pairs.empty()) std::printf("%zu pairs; 95 %% intervals\n", pairs.size());
  print(*ours, options);
  if (hunspell) print(*hunspell, options);
  if (options.misses) print_misses(*ours, pairs);
}

}  // namespace

void add_eval_correct(CLI::App& eval, Outcome& outcome) {
  auto options = std::make_shared<CorrectOptions>();
  CLI::App* command = eval.add_subcommand(
      "correct", "are slips corrected, and right words left alone? beside hunspell, in one run");
  command->add_option("-f,--file", options->file,
                      "lines typed<TAB>expected[<TAB>text before]; - is standard input");
  command->add_option("--clean", options->clean,
                      "text without mistakes: how often a word of it is flagged");
  command->add_option("--lines", options->lines, "of each --clean, only the first N (0: all)");
  command->add_option("--programs", options->programs,
                      "the folder of hunspell_suggest (default: laya's own)");
  command->add_flag("--no-peer", options->no_peer,
                    "without hunspell, which takes most of the time");
  command->add_flag("--misses", options->misses, "list what was missed and what was flagged");
  command->add_flag("--json", options->json, "one JSON object on one line");
  add_model_options(*command, options->model);
  command->footer(
      "A pair counts when what was meant is among the first three offers, case ignored. Nothing "
      "is\n"
      "ever changed by itself, so a flag is an offer, too.\n"
      "example: laya eval correct --file testdata/corrections/slips.tsv --clean mails.txt");
  command->callback([options, &outcome] { evaluate(*options, outcome); });
}

}  // namespace laya::apps
