#include "eval/evaluate_replay.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "base/utf8_boundary.h"
#include "eval/ghost_match.h"
#include "eval/measured_share.h"
#include "eval/quantile.h"
#include "predict/session/session.h"
#include "text/script.h"

namespace laya::eval {
namespace {

using predict::Candidate;
using predict::Reply;
using predict::Want;

bool is_space(std::string_view text, std::size_t at) {
  return at >= text.size() ||
         text::script_of(base::decode_utf8(text.substr(at)).code_point) == text::Script::Space;
}

// What the field should hold in the end.
std::string wanted_text(const KeySession& session) {
  if (!session.meant.empty()) {
    return session.before + session.meant + session.after;
  }
  PlayedField field(session);
  for (const KeyEvent& event : session.events) {
    if (!field.apply(event)) {
      break;  // parse_key_log has played it: cannot happen
    }
  }
  return std::string(field.text());
}

std::uint64_t keys_of(const KeyEvent& event) {
  return event.kind == KeyEventKind::Key || event.kind == KeyEventKind::Pick
             ? std::max<std::uint64_t>(1, base::count_code_points(event.text))
             : 1;
}

// Where the typist is in the wanted text.
struct At {
  bool right = false;          ///< all that stands left of the caret is as wanted
  std::size_t word_begin = 0;  ///< of the word that is being typed, in the wanted text
  std::size_t word_end = 0;
  std::size_t typed_bytes = 0;  ///< of it, right or wrong, left of the caret
  bool in_word = false;         ///< the three above are known
};

At locate(std::string_view before, std::string_view wanted) {
  At at;
  const auto [differ, ignored] =
      std::mismatch(before.begin(), before.end(), wanted.begin(), wanted.end());
  auto same = static_cast<std::size_t>(differ - before.begin());
  same = base::boundary_before(before, same);  // of the character that differs
  at.right = same == before.size();
  std::size_t begin = same;
  while (begin > 0 && !is_space(wanted, base::previous_code_point(wanted, begin))) {
    begin = base::previous_code_point(wanted, begin);
  }
  std::size_t end = begin;
  while (end < wanted.size() && !is_space(wanted, end)) {
    end += base::decode_utf8(wanted.substr(end)).length;
  }
  at.word_begin = begin;
  at.word_end = end;
  at.typed_bytes = before.size() - std::min(begin, before.size());
  const std::string_view open = before.substr(std::min(begin, before.size()));
  at.in_word = begin < end && std::none_of(open.begin(), open.end(), [](char c) {
                 return c == ' ' || c == '\n' || c == '\t';
               });
  return at;
}

// Plays one session with lists of `slots`.
struct Playing {
  predict::Session& session;
  std::size_t slots;
  ReplayResult::Slot* slot;
  std::vector<float>* key_us;
  std::uint64_t revision = 0;
  std::uint64_t wrong_keys = 0;

  void show(const PlayedField& field) {
    session.set_text({.revision = ++revision, .before = field.before(), .after = field.after()});
  }

  // Whether the list offers the word that is wanted; counts the pick.
  bool offered(std::string_view wanted, const At& at) {
    const Reply& reply = session.decide(
        {.candidates = slots, .ghost = Want::No, .deep_wait_us = predict::kUntilDone});
    key_us->push_back(reply.latency.total_us);
    const std::string word = lowered(wanted.substr(at.word_begin, at.word_end - at.word_begin));
    for (const Candidate& candidate : reply.candidates) {
      const bool replaces = candidate.erase_before > 0;
      if (lowered(candidate.text) == word &&
          (replaces ? candidate.erase_before == at.typed_bytes : at.right)) {
        ++slot->picks;
        slot->mended += at.right ? 0 : 1;
        return true;
      }
    }
    return false;
  }

  // Keys pressed, and keys saved.
  Part play(const KeySession& log) {
    const std::string wanted = wanted_text(log);
    PlayedField field(log);
    session.clear();
    Part part;
    std::size_t accepted_end = 0;  // text up to here has come with a pick
    for (const KeyEvent& event : log.events) {
      const auto keys = static_cast<double>(keys_of(event));
      part.below += keys;
      const At at = locate(field.before(), wanted);
      const bool came = accepted_end > 0 && !(at.right && field.caret() >= accepted_end);
      if (came) {
        part.above += keys;
      } else {
        accepted_end = 0;
        wrong_keys += at.right ? 0 : static_cast<std::uint64_t>(keys);
        if (event.kind != KeyEventKind::Caret && at.in_word) {
          show(field);
          if (offered(wanted, at)) {
            accepted_end = at.word_end + (at.word_end < wanted.size() ? 1 : 0);
            part.above += keys - 1;
          }
        }
      }
      if (!field.apply(event)) {
        break;
      }
    }
    return part;
  }
};

// The ghost before each key of a session.
struct GhostJudge {
  predict::Session& session;
  MeasuredShare shown;
  MeasuredShare precision;
  MeasuredShare harm;
  std::uint64_t revision = 0;

  void play(const KeySession& log) {
    const std::string wanted = wanted_text(log);
    PlayedField field(log);
    session.clear();
    for (const KeyEvent& event : log.events) {
      const bool right = wanted.starts_with(field.before());
      if (right && field.caret() < wanted.size()) {
        session.set_text(
            {.revision = ++revision, .before = field.before(), .after = field.after()});
        const Reply& reply = session.decide({.deep_wait_us = predict::kUntilDone});
        shown.add(reply.has_ghost ? 1 : 0, 1);
        bool wrong = false;
        if (reply.has_ghost) {
          wrong =
              !match_ghost(reply.ghost.text, std::string_view(wanted).substr(field.caret())).whole;
          precision.add(wrong ? 0 : 1, 1);
        }
        harm.add(wrong ? 1 : 0, 1);
      }
      if (!field.apply(event)) {
        break;
      }
    }
    for (MeasuredShare* share : {&shown, &precision, &harm}) {
      share->next_line();
    }
  }
};

}  // namespace

Result<ReplayResult> evaluate_replay(const predict::Engine& engine,
                                     const std::vector<KeySession>& sessions,
                                     const ReplayOptions& options) {
  if (sessions.empty()) {
    return Error{ErrorCode::BadArgument, "eval replay: the log has no session"};
  }
  for (const std::size_t slots : options.slots) {
    if (slots < 1 || slots > Reply::kMaxCandidates) {
      return Error{ErrorCode::BadArgument, "eval replay: " + std::to_string(slots) +
                                               " slots; allowed are 1 to " +
                                               std::to_string(Reply::kMaxCandidates)};
    }
  }
  const bool ghost = options.ghost == ReplayGhost::Yes;
  const std::size_t passes = options.slots.size() + (ghost ? 1 : 0);
  std::size_t done = 0;
  const auto progressed = [&] {
    ++done;
    if (options.progress) {
      options.progress(done, passes * sessions.size());
    }
  };
  ReplayResult result;
  result.sessions = sessions.size();
  predict::Session session(engine);
  std::vector<float> key_us;
  for (const std::size_t slots : options.slots) {
    result.slots.push_back({.slots = slots});
    ReplayResult::Slot& slot = result.slots.back();
    Playing playing{session, slots, &slot, &key_us};
    std::vector<Part> parts;
    for (const KeySession& log : sessions) {
      parts.push_back(playing.play(log));
      progressed();
    }
    slot.saved = ratio(parts);
    slot.saved_interval = bootstrap(parts);
    double keys = 0;
    for (const Part& part : parts) keys += part.below;
    result.keys = static_cast<std::uint64_t>(keys);
    result.wrong_keys = static_cast<double>(playing.wrong_keys) / std::max(keys, 1.0);
  }
  result.key_us_p50 = quantile(key_us, 0.5);
  result.key_us_p99 = quantile(key_us, 0.99);
  if (ghost) {
    GhostJudge judge{session, {}, {}, {}};
    for (const KeySession& log : sessions) {
      judge.play(log);
      progressed();
    }
    result.has_ghost = true;
    result.ghost_keys = static_cast<std::uint64_t>(judge.shown.below());
    result.shown = judge.shown.value();
    result.precision = judge.precision.value();
    result.harm = judge.harm.value();
    result.shown_interval = judge.shown.interval();
    result.precision_interval = judge.precision.interval();
    result.harm_interval = judge.harm.interval();
  }
  result.deep = session.deep_statistics();
  return result;
}

std::string to_json(const ReplayResult& result) {
  nlohmann::ordered_json json;
  json["sessions"] = result.sessions;
  json["keys"] = result.keys;
  json["wrong_keys"] = result.wrong_keys;
  for (const ReplayResult::Slot& slot : result.slots) {
    const std::string name = std::to_string(slot.slots);
    json["saved"][name] = slot.saved;
    json["saved_interval"][name] = to_json(slot.saved_interval);
    json["picks"][name] = slot.picks;
    json["mended"][name] = slot.mended;
  }
  json["ghost"] = nullptr;
  if (result.has_ghost) {
    json["ghost"] = {{"keys", result.ghost_keys},
                     {"shown", result.shown},
                     {"shown_interval", to_json(result.shown_interval)},
                     {"precision", result.precision},
                     {"precision_interval", to_json(result.precision_interval)},
                     {"harm", result.harm},
                     {"harm_interval", to_json(result.harm_interval)}};
  }
  json["key_us"] = {{"p50", result.key_us_p50}, {"p99", result.key_us_p99}};
  return json.dump();
}

}  // namespace laya::eval
