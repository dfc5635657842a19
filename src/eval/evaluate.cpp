#include "eval/evaluate.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "predict/session.h"
#include "text/script.h"
#include "text/units.h"

namespace laya::eval {
namespace {

using predict::Candidate;
using predict::Engine;
using predict::kUntilDone;
using predict::NextHan;
using predict::Reply;
using predict::Session;
using predict::Want;

bool is_measured_han(char32_t c) { return c >= 0x4E00 && c <= 0x9FFF; }

// Types the lines with lists of the length of the last of result->slots, and counts into it.
template <typename Progressed>
Status type_lines(Session& session, const std::vector<std::string_view>& lines,
                  EvalCase letter_case, const Progressed& progressed, KsrResult* result) {
  KsrResult::Slot& slot = result->slots.back();
  std::uint64_t revision = 0;
  for (std::size_t n = 0; n < lines.size(); ++n) {
    const std::string line =
        letter_case == EvalCase::LowerCased ? lowered(lines[n]) : std::string(lines[n]);
    const std::vector<std::string_view> words = words_of(line);
    session.clear();
    session.set_text({.revision = ++revision, .before = {}, .after = {}});
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string wanted = lowered(words[i]);
      const std::uint64_t space = i + 1 < words.size() ? 1 : 0;
      const std::uint64_t letters = base::count_code_points(words[i]);
      result->keystrokes += letters + space;
      ++result->words;
      std::uint64_t used = letters + space;
      std::size_t offset = 0;
      for (std::uint64_t typed = 0; typed < letters; ++typed) {
        const Reply& reply = session.decide(
            {.candidates = slot.slots, .ghost = Want::No, .deep_wait_us = kUntilDone});
        const bool offered = std::any_of(
            reply.candidates.begin(), reply.candidates.end(),
            [&](const Candidate& candidate) { return lowered(candidate.text) == wanted; });
        if (offered) {
          used = typed + 1;
          slot.next_word_hits += typed == 0 ? 1 : 0;
          break;
        }
        const std::size_t length = base::decode_utf8(words[i].substr(offset)).length;
        if (Status status =
                session.edit({.revision = ++revision, .insert = words[i].substr(offset, length)});
            !status) {
          return status;
        }
        offset += length;
      }
      slot.keys_used += used;
      std::string rest(words[i].substr(offset));
      if (space != 0) {
        rest += ' ';
      }
      if (Status status = session.edit({.revision = ++revision, .insert = rest}); !status) {
        return status;
      }
    }
    progressed(n + 1);
  }
  return {};
}

}  // namespace

Result<KsrResult> evaluate_ksr(const Engine& engine, const std::vector<std::string>& lines,
                               const KsrOptions& options) {
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
  const std::vector<std::string_view> chosen = chosen_lines(lines, options.max_lines);
  if (chosen.empty()) {
    return Error{ErrorCode::BadArgument, "eval ksr: the text has no line that is not blank"};
  }
  KsrResult result;
  result.lines = chosen.size();
  Session session(engine);
  for (std::size_t i = 0; i < options.slots.size(); ++i) {
    // What the list has offered changes what it offers next, so each length is typed by itself.
    result.slots.push_back({options.slots[i], 0, 0, 0});
    result.words = result.keystrokes = 0;
    const auto progress = [&](std::size_t done) {
      if (options.progress) {
        options.progress(i * chosen.size() + done, options.slots.size() * chosen.size());
      }
    };
    if (Status status = type_lines(session, chosen, options.letter_case, progress, &result);
        !status) {
      return status.error();
    }
  }
  result.deep = session.deep_statistics();
  for (KsrResult::Slot& slot : result.slots) {
    slot.saved = 1 - static_cast<double>(slot.keys_used) / static_cast<double>(result.keystrokes);
  }
  return result;
}

Result<NextCharResult> evaluate_next_char(const Engine& engine,
                                          const std::vector<std::string>& lines,
                                          const NextCharOptions& options) {
  const std::vector<std::string_view> chosen = chosen_lines(lines, options.max_lines);
  if (chosen.empty()) {
    return Error{ErrorCode::BadArgument, "eval next-char: the text has no line that is not blank"};
  }
  NextCharResult result;
  result.lines = chosen.size();
  Session session(engine);
  std::uint64_t revision = 0;
  for (std::size_t n = 0; n < chosen.size(); ++n) {
    session.clear();
    session.set_text({.revision = ++revision, .before = {}, .after = {}});
    std::string_view rest = chosen[n];
    while (!rest.empty()) {
      const base::Decoded code = base::decode_utf8(rest);
      if (is_measured_han(code.code_point)) {
        std::array<NextHan, 3> best{};
        const std::size_t found = session.next_han(best);
        ++result.characters;
        for (std::size_t i = 0; i < found; ++i) {
          if (best[i].code_point == code.code_point) {
            result.top1 += i == 0 ? 1 : 0;
            ++result.top3;
          }
        }
      }
      if (Status status =
              session.edit({.revision = ++revision, .insert = rest.substr(0, code.length)});
          !status) {
        return status.error();
      }
      rest.remove_prefix(code.length);
    }
    if (options.progress) {
      options.progress(n + 1, chosen.size());
    }
  }
  result.deep = session.deep_statistics();
  return result;
}

std::string to_json(const KsrResult& result) {
  nlohmann::ordered_json json;
  json["lines"] = result.lines;
  json["words"] = result.words;
  json["keystrokes"] = result.keystrokes;
  json["saved"] = nlohmann::ordered_json::object();
  json["next_word"] = nlohmann::ordered_json::object();
  for (const KsrResult::Slot& slot : result.slots) {
    json["saved"][std::to_string(slot.slots)] = slot.saved;
    json["next_word"][std::to_string(slot.slots)] =
        result.words == 0
            ? 0.0
            : static_cast<double>(slot.next_word_hits) / static_cast<double>(result.words);
  }
  return json.dump();
}

std::string to_json(const NextCharResult& result) {
  const auto share = [&](std::uint64_t hits) {
    return result.characters == 0
               ? 0.0
               : static_cast<double>(hits) / static_cast<double>(result.characters);
  };
  nlohmann::ordered_json json;
  json["lines"] = result.lines;
  json["characters"] = result.characters;
  json["top1"] = share(result.top1);
  json["top3"] = share(result.top3);
  return json.dump();
}

}  // namespace laya::eval
