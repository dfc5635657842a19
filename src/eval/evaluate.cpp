#include "eval/evaluate.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "eval/ghost_match.h"
#include "eval/interval_json.h"
#include "eval/quantile.h"
#include "eval/typist.h"
#include "predict/session/session.h"

namespace laya::eval {
namespace {

using predict::Candidate;
using predict::Engine;
using predict::kUntilDone;
using predict::PoolWord;
using predict::Reply;
using predict::Want;

// Types one line with lists of the length of `slot`, and counts into it and the rest of `result`.
struct ListTyping {
  Typist& typist;
  KsrResult& result;
  KsrResult::Slot& slot;
  std::vector<float>& key_us;
  std::uint64_t& oracle_keys;
  const predict::ListTaste& taste;

  Status line(std::string_view text);
  Status word(std::string_view word, std::uint64_t space);
};

Status ListTyping::word(std::string_view word, std::uint64_t space) {
  const std::string wanted = lowered(word);
  const std::uint64_t letters = base::count_code_points(word);
  result.keystrokes += letters + space;
  ++result.words;
  std::uint64_t used = letters + space;
  std::uint64_t with_oracle = used;
  std::size_t offset = 0;
  for (std::uint64_t typed = 0; typed < letters; ++typed) {
    const Reply& reply = typist.session.decide(
        {.candidates = slot.slots, .ghost = Want::No, .deep_wait_us = kUntilDone, .taste = taste});
    key_us.push_back(reply.latency.total_us);
    const auto offered =
        std::find_if(reply.candidates.begin(), reply.candidates.end(),
                     [&](const Candidate& candidate) { return lowered(candidate.text) == wanted; });
    const auto pool = typist.session.pool();
    if (with_oracle > typed + 1 &&
        (offered != reply.candidates.end() ||
         std::any_of(pool.begin(), pool.end(),
                     [&](const PoolWord& entry) { return entry.key == wanted; }))) {
      with_oracle = typed + 1;
    }
    if (offered != reply.candidates.end()) {
      used = typed + 1;
      slot.next_word_hits += typed == 0 ? 1 : 0;
      KsrResult::Picks& picks = slot.sources[predict::origin_name(offered->origin)];
      ++picks.picks;
      picks.keys_saved += letters + space - used;
      break;
    }
    const std::size_t length = base::decode_utf8(word.substr(offset)).length;
    if (Status status = typist.type(word.substr(offset, length)); !status) {
      return status;
    }
    offset += length;
  }
  slot.keys_used += used;
  oracle_keys += with_oracle;
  std::string rest(word.substr(offset));
  if (space != 0) {
    rest += ' ';
  }
  return typist.type(rest);
}

Status ListTyping::line(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  const std::uint64_t keys_before = result.keystrokes;
  const std::uint64_t used_before = slot.keys_used;
  typist.new_line();
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (Status status = word(words[i], i + 1 < words.size() ? 1 : 0); !status) {
      return status;
    }
  }
  const auto keys = static_cast<double>(result.keystrokes - keys_before);
  slot.parts.push_back({keys - static_cast<double>(slot.keys_used - used_before), keys});
  return {};
}

// Types one line with the ghost alone; its words one space apart.
Status ghost_line(Typist& typist, std::string_view line, KsrResult* result,
                  std::vector<Part>* parts) {
  std::string text;
  for (const std::string_view word : words_of(line)) {
    text += text.empty() ? "" : " ";
    text += word;
  }
  typist.new_line();
  Part part;
  std::string_view rest = text;
  while (!rest.empty()) {
    const Reply& reply = typist.session.decide({.deep_wait_us = kUntilDone});
    const GhostMatch match = reply.has_ghost ? match_ghost(reply.ghost.text, rest) : GhostMatch{};
    std::size_t taken = match.whole ? match.accepted : match.first;
    std::uint64_t keys = base::count_code_points(rest.substr(0, taken));
    if (keys > 1) {
      ++result->ghost_picks;
      if (taken < rest.size() && rest[taken] == ' ') {  // it is owed: comes without a key
        ++taken;
        ++keys;
      }
      part.above += static_cast<double>(keys - 1);
    } else {
      taken = base::decode_utf8(rest).length;
      keys = 1;
    }
    part.below += static_cast<double>(keys);
    if (Status status = typist.type(rest.substr(0, taken)); !status) {
      return status;
    }
    rest.remove_prefix(taken);
  }
  parts->push_back(part);
  return {};
}

Status check(const KsrOptions& options) {
  if (options.slots.empty()) {
    return Error{ErrorCode::BadArgument, "eval ksr: no slot count given"};
  }
  for (const std::size_t slots : options.slots) {
    if (slots < 1 || slots > Reply::kMaxCandidates) {
      return Error{ErrorCode::BadArgument, "eval ksr: " + std::to_string(slots) +
                                               " slots; allowed are 1 to " +
                                               std::to_string(Reply::kMaxCandidates)};
    }
  }
  return {};
}

}  // namespace

Result<KsrResult> evaluate_ksr(const Engine& engine, const std::vector<std::string>& lines,
                               const KsrOptions& options) {
  if (Status status = check(options); !status) {
    return status.error();
  }
  const std::vector<std::string_view> chosen = chosen_lines(lines, options.max_lines);
  if (chosen.empty()) {
    return Error{ErrorCode::BadArgument, "eval ksr: the text has no line that is not blank"};
  }
  std::vector<std::string> typed;
  for (const std::string_view line : chosen) {
    typed.push_back(options.letter_case == EvalCase::LowerCased ? lowered(line)
                                                                : std::string(line));
  }
  const bool ghost = options.ghost_only == GhostOnly::Yes;
  const std::size_t passes = options.slots.size() + (ghost ? 1 : 0);
  std::size_t done = 0;
  const auto progress = [&] {
    ++done;
    if (options.progress) {
      options.progress(done, passes * typed.size());
    }
  };
  KsrResult result;
  result.lines = typed.size();
  Typist typist(engine);
  std::vector<float> key_us;
  std::size_t longest = 0;
  for (const std::size_t slots : options.slots) {
    // What the list has offered changes what it offers next, so each length is typed by itself.
    result.slots.push_back({.slots = slots});
    result.words = result.keystrokes = 0;
    std::uint64_t oracle_keys = 0;
    ListTyping typing{typist, result, result.slots.back(), key_us, oracle_keys, options.taste};
    for (const std::string& line : typed) {
      if (Status status = typing.line(line); !status) {
        return status.error();
      }
      progress();
    }
    KsrResult::Slot& slot = result.slots.back();
    slot.saved = 1 - static_cast<double>(slot.keys_used) / static_cast<double>(result.keystrokes);
    slot.saved_interval = bootstrap(slot.parts);
    if (slots >= longest) {
      longest = slots;
      result.oracle_saved =
          1 - static_cast<double>(oracle_keys) / static_cast<double>(result.keystrokes);
    }
  }
  result.perfect_saved =
      1 - static_cast<double>(result.words) / static_cast<double>(result.keystrokes);
  result.key_us_p50 = quantile(key_us, 0.5);
  result.key_us_p99 = quantile(key_us, 0.99);
  if (ghost) {
    result.has_ghost = true;
    std::vector<Part> parts;
    for (const std::string& line : typed) {
      if (Status status = ghost_line(typist, line, &result, &parts); !status) {
        return status.error();
      }
      progress();
    }
    result.ghost_saved = ratio(parts);
    result.ghost_interval = bootstrap(parts);
  }
  result.deep = typist.session.deep_statistics();
  return result;
}

std::string to_json(const KsrResult& result) {
  nlohmann::ordered_json json;
  json["lines"] = result.lines;
  json["words"] = result.words;
  json["keystrokes"] = result.keystrokes;
  for (const char* name : {"saved", "saved_interval", "next_word", "sources"}) {
    json[name] = nlohmann::ordered_json::object();
  }
  for (const KsrResult::Slot& slot : result.slots) {
    const std::string name = std::to_string(slot.slots);
    json["saved"][name] = slot.saved;
    json["saved_interval"][name] = to_json(slot.saved_interval);
    json["next_word"][name] = result.words == 0 ? 0.0
                                                : static_cast<double>(slot.next_word_hits) /
                                                      static_cast<double>(result.words);
    json["sources"][name] = nlohmann::ordered_json::object();
    for (const auto& [source, picks] : slot.sources) {
      json["sources"][name][source] = {
          {"picks", picks.picks},
          {"saved", static_cast<double>(picks.keys_saved) /
                        static_cast<double>(std::max<std::uint64_t>(result.keystrokes, 1))}};
    }
  }
  json["ghost_saved"] =
      result.has_ghost ? nlohmann::ordered_json(result.ghost_saved) : nlohmann::ordered_json();
  if (result.has_ghost) {
    json["ghost_saved_interval"] = to_json(result.ghost_interval);
    json["ghost_picks"] = result.ghost_picks;
  }
  json["oracle"] = result.oracle_saved;
  json["perfect"] = result.perfect_saved;
  json["key_us"] = {{"p50", result.key_us_p50}, {"p99", result.key_us_p99}};
  return json.dump();
}

}  // namespace laya::eval
