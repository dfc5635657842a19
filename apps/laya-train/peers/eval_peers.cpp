// `laya eval peers`: our predictions beside other people's on the same text, in one run.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "eval/evaluate.h"
#include "eval/evaluate_next.h"
#include "eval/interval_json.h"
#include "eval/peer_measure.h"
#include "laya-train/eval/eval_commands.h"
#include "laya-train/eval/eval_tiers.h"
#include "laya-train/peers/eval_peers_pinyin.h"
#include "laya-train/peers/peer_predictor.h"
#include "text/script.h"

namespace laya::apps {
namespace {

using Json = nlohmann::ordered_json;
using Started = Result<std::unique_ptr<PeerPredictor>>;

struct PeersOptions {
  EvalText text;
  PeerFolders folders;
  std::vector<std::size_t> slots = {1, 3};
  std::vector<std::string> only;
  bool han = false;
  bool pinyin = false;
};

struct Source {
  const char* name;
  std::function<Started(const PeerFolders&)> start;
};
const std::vector<Source>& word_sources() {
  static const std::vector<Source> sources{
      {"presage", start_presage},
      {"typing-booster", [](const PeerFolders&) { return start_typing_booster(); }},
      {"trigram", start_trigram}};
  return sources;
}

/// Runs `use` for every peer that is asked for and there; the others get one line.
Status each_peer(const PeersOptions& options, const std::vector<Source>& sources, Json* skipped,
                 const std::function<Status(const Source&, PeerPredictor&)>& use) {
  for (const Source& source : sources) {
    const bool wanted = options.only.empty() || std::find(options.only.begin(), options.only.end(),
                                                          source.name) != options.only.end();
    if (!wanted) continue;
    const Started peer = source.start(options.folders);
    if (!peer) {
      skipped->push_back({{"name", source.name}, {"why", peer.error().message}});
      if (!options.text.json) {
        std::printf("%s skipped: %s\n", source.name, peer.error().message.c_str());
      }
      continue;
    }
    if (Status status = use(source, **peer); !status) return status;
  }
  return {};
}

/// One line of the table of keystrokes.
struct Row {
  std::string name;
  bool ours;
  eval::KsrResult result;
};

Json difference_of(const Row& ours, const Row& theirs) {
  Json saved = Json::object();
  for (const eval::KsrResult::Slot& a : ours.result.slots) {
    for (const eval::KsrResult::Slot& b : theirs.result.slots) {
      if (a.slots != b.slots) continue;
      saved[std::to_string(a.slots)] = {
          {"more", a.saved - b.saved},
          {"interval", eval::to_json(eval::bootstrap_difference(a.parts, b.parts))}};
    }
  }
  return {{"of", ours.name}, {"beside", theirs.name}, {"saved", saved}};
}

Json json_of(const std::vector<Row>& rows, const Json& skipped) {
  Json json{{"lines", rows.front().result.lines},
            {"words", rows.front().result.words},
            {"keystrokes", rows.front().result.keystrokes},
            {"systems", Json::array()},
            {"differences", Json::array()},
            {"skipped", skipped}};
  for (const Row& row : rows) {
    Json system{{"name", row.name},
                {"saved", Json::object()},
                {"saved_interval", Json::object()},
                {"next_word", Json::object()},
                {"key_us", {{"p50", row.result.key_us_p50}, {"p99", row.result.key_us_p99}}}};
    for (const eval::KsrResult::Slot& slot : row.result.slots) {
      const std::string slots = std::to_string(slot.slots);
      system["saved"][slots] = slot.saved;
      system["saved_interval"][slots] = eval::to_json(slot.saved_interval);
      system["next_word"][slots] =
          static_cast<double>(slot.next_word_hits) / static_cast<double>(row.result.words);
    }
    json["systems"].push_back(system);
    for (const Row& other : rows) {
      if (row.ours && !other.ours) json["differences"].push_back(difference_of(row, other));
    }
  }
  return json;
}

void print_row(const Row& row) {
  std::printf("%-44s", row.name.c_str());
  for (const eval::KsrResult::Slot& slot : row.result.slots) {
    std::printf("  %zu: %5.2f %% [%5.2f, %5.2f]", slot.slots, 100 * slot.saved,
                100 * slot.saved_interval.low, 100 * slot.saved_interval.high);
  }
  const eval::KsrResult::Slot& first = row.result.slots.front();
  std::printf("  next word in %zu: %5.2f %%  key p50 %.0f us p99 %.0f us\n", first.slots,
              100 * static_cast<double>(first.next_word_hits) /
                  static_cast<double>(std::max<std::uint64_t>(row.result.words, 1)),
              row.result.key_us_p50, row.result.key_us_p99);
  std::fflush(stdout);
}

/// Our own tiers, by name.
std::vector<std::pair<std::string, const predict::Engine*>> our_tiers(const Tiers& tiers) {
  std::vector<std::pair<std::string, const predict::Engine*>> list;
  list.emplace_back("laya, instant", tiers.instant ? tiers.instant.get() : tiers.both.get());
  if (tiers.instant) list.emplace_back("laya, with " + tiers.deep, tiers.both.get());
  return list;
}

Result<Json> compare_words(const PeersOptions& options, const std::vector<std::string>& lines,
                           const Tiers& tiers) {
  eval::KsrOptions ksr;
  ksr.slots = options.slots;
  ksr.max_lines = options.text.lines;
  ksr.progress = progress();
  ksr.letter_case = eval::EvalCase::LowerCased;
  std::vector<Row> rows;
  Json skipped = Json::array();
  const auto use = [&](const Source&, PeerPredictor& peer) -> Status {
    Result<eval::KsrResult> result = eval::measure_keystrokes(peer, lines, ksr);
    if (!result) return result.error();
    rows.push_back({peer.name(), false, std::move(result).value()});
    if (!options.text.json) print_row(rows.back());
    return {};
  };
  if (Status status = each_peer(options, word_sources(), &skipped, use); !status) {
    return status.error();
  }
  ksr.letter_case = eval::EvalCase::AsTyped;
  for (const auto& [name, engine] : our_tiers(tiers)) {
    Result<eval::KsrResult> result = eval::evaluate_ksr(*engine, lines, ksr);
    if (!result) return result.error();
    rows.push_back({name, true, std::move(result).value()});
    if (!options.text.json) print_row(rows.back());
  }
  return json_of(rows, skipped);
}

/// The lines with their word starts as the peer cuts them: every run of Chinese characters.
Result<std::vector<eval::MarkedLine>> marked(PeerPredictor& peer,
                                             const std::vector<std::string_view>& lines) {
  std::vector<eval::MarkedLine> all;
  for (const std::string_view line : lines) {
    eval::MarkedLine marked{std::string(line), {}};
    std::size_t offset = 0;
    while (offset < line.size()) {
      std::size_t end = offset;
      while (end < line.size()) {
        const base::Decoded code = base::decode_utf8(line.substr(end));
        if (code.code_point < 0x4E00 || code.code_point > 0x9FFF) break;
        end += code.length;
      }
      if (end == offset) {
        offset += base::decode_utf8(line.substr(offset)).length;
        continue;
      }
      const auto words = peer.segment(line.substr(offset, end - offset));
      if (!words) return words.error();
      for (const std::string& word : *words) {
        marked.word_starts.push_back(offset);
        offset += word.size();
      }
      if (offset != end) return Error{ErrorCode::Io, "a peer's words are not the text"};
    }
    all.push_back(std::move(marked));
  }
  return all;
}

Json json_of(const std::string& name, const eval::NextCharResult& result) {
  const auto all = static_cast<double>(std::max<std::uint64_t>(result.characters, 1));
  return {{"name", name},
          {"top1", static_cast<double>(result.top1) / all},
          {"top3", static_cast<double>(result.top3) / all},
          {"top1_interval", eval::to_json(result.top1_interval)},
          {"top3_interval", eval::to_json(result.top3_interval)}};
}

Json json_of(const std::string& name, const eval::WordStartResult& result) {
  return {{"name", name},
          {"top1", result.top1},
          {"top3", result.top3},
          {"top3_interval", eval::to_json(result.top3_interval)},
          {"exact3", result.exact3},
          {"silent", result.silent}};
}

void print_hits(const Json& system) {
  std::printf("  %-40s top-1 %5.2f %%  top-3 %5.2f %% [%5.2f, %5.2f]",
              system["name"].get<std::string>().c_str(), 100 * system["top1"].get<double>(),
              100 * system["top3"].get<double>(), 100 * system["top3_interval"][0].get<double>(),
              100 * system["top3_interval"][1].get<double>());
  if (system.contains("exact3")) {
    std::printf("  the very word %5.2f %%  silent %5.2f %%", 100 * system["exact3"].get<double>(),
                100 * system["silent"].get<double>());
  }
  std::printf("\n");
  std::fflush(stdout);
}

Result<Json> compare_han(const PeersOptions& options, const std::vector<std::string>& lines,
                         const Tiers& tiers) {
  eval::NextCharOptions next;
  next.max_lines = options.text.lines;
  next.progress = progress();
  Json json{{"lines", 0},
            {"characters", 0},
            {"next_character", Json::array()},
            {"word_starts", {{"places", 0}, {"systems", Json::array()}}},
            {"skipped", Json::array()}};
  const auto show = [&](Json& list, Json system) {
    if (!options.text.json) print_hits(system);
    list.push_back(std::move(system));
  };
  Json& characters = json["next_character"];
  if (!options.text.json) std::printf("next Chinese character\n");
  const auto use_characters = [&](const Source&, PeerPredictor& peer) -> Status {
    const auto result = eval::measure_next_characters(peer, lines, next);
    if (!result) return result.error();
    show(characters, json_of(peer.name(), *result));
    return {};
  };
  if (Status status =
          each_peer(options, {{"chargram", start_chargram}}, &json["skipped"], use_characters);
      !status) {
    return status.error();
  }
  for (const auto& [name, engine] : our_tiers(tiers)) {
    const auto result = eval::evaluate_next_char(*engine, lines, next);
    if (!result) return result.error();
    json["lines"] = result->lines;
    json["characters"] = result->characters;
    show(characters, json_of(name, *result));
  }
  Json& starts = json["word_starts"];
  const auto use_words = [&](const Source&, PeerPredictor& peer) -> Status {
    const auto cut = marked(peer, eval::chosen_lines(lines, options.text.lines));
    if (!cut) return cut.error();
    const auto theirs = eval::measure_word_starts(peer, *cut, progress());
    if (!theirs) return theirs.error();
    starts["places"] = theirs->places;
    if (!options.text.json) {
      std::printf("word starts (%llu, as libime cuts the text): what the text goes on with\n",
                  static_cast<unsigned long long>(theirs->places));
    }
    show(starts["systems"], json_of(peer.name(), *theirs));
    for (const auto& [name, engine] : our_tiers(tiers)) {
      eval::EnginePredictor predictor(*engine);
      const auto ours = eval::measure_word_starts(predictor, *cut, progress());
      if (!ours) return ours.error();
      Json system = json_of(name, *ours);
      system["top3_more"] = ours->top3 - theirs->top3;
      system["top3_more_interval"] =
          eval::to_json(eval::bootstrap_difference(ours->top3_parts, theirs->top3_parts));
      show(starts["systems"], std::move(system));
    }
    return {};
  };
  if (Status status =
          each_peer(options, {{"libime", start_prediction_table}}, &json["skipped"], use_words);
      !status) {
    return status.error();
  }
  return json;
}

void run_peers(const PeersOptions& options, Outcome& outcome) {
  if (options.pinyin) {
    const Result<Json> json = compare_pinyin(options.text, options.folders, options.only);
    if (!json) return fail(outcome, json.error());
    if (options.text.json) std::cout << to_line(*json) << std::endl;
    return;
  }
  const Result<std::vector<std::string>> lines = lines_of(options.text.file);
  if (!lines) return fail(outcome, lines.error());
  const Result<Tiers> tiers = open_tiers(options.text.model);
  if (!tiers) return fail(outcome, tiers.error());
  Result<Json> json =
      options.han ? compare_han(options, *lines, *tiers) : compare_words(options, *lines, *tiers);
  if (!json) return fail(outcome, json.error());
  if (options.text.json) std::cout << to_line(*json) << std::endl;
}

}  // namespace

void add_eval_peers(CLI::App& eval, Outcome& outcome) {
  auto options = std::make_shared<PeersOptions>();
  CLI::App* command = eval.add_subcommand(
      "peers", "our predictions beside other people's, on the same text, in one run");
  add_eval_text(*command, options->text);
  command->add_option("--slots", options->slots, "list lengths to measure")
      ->delimiter(',')
      ->check(CLI::Range(std::size_t{1}, predict::Reply::kMaxCandidates))
      ->capture_default_str();
  command->add_flag("--han", options->han,
                    "Chinese: the next character, and the words at libime's word starts");
  command
      ->add_flag("--pinyin", options->pinyin,
                 "FILE has lines typed<TAB>expected: whole sentences, typed into each input method")
      ->excludes("--han");
  command
      ->add_option(
          "--only", options->only,
          "of presage, typing-booster, trigram; --han: chargram, libime; --pinyin: libime, "
          "librime (default: all)")
      ->delimiter(',')
      ->check(
          CLI::IsMember({"presage", "typing-booster", "trigram", "chargram", "libime", "librime"}));
  command->add_option("--baselines", options->folders.baselines,
                      "the folder of trigram.py and chargram.py (default: $LAYA_BASELINES)");
  command->add_option("--programs", options->folders.programs,
                      "the folder of the drivers that were built (default: laya's own)");
  command->footer(
      "Each peer is asked by a driver of bench/peers, with its own data and nobody's user data; "
      "one\n"
      "that is not installed is skipped with a line. The baselines type the text in lower case, "
      "as\n"
      "their scripts do; case never counts.\n"
      "example: laya eval peers --file mails.txt --lines 600 --slots 1,3\n"
      "         laya eval peers --file chats.txt --han --lines 1000 --json\n"
      "         laya eval peers --file pinyin.tsv --pinyin");
  command->callback([options, &outcome] { run_peers(*options, outcome); });
}

}  // namespace laya::apps
