#include "eval/rank_groups.h"

#include <algorithm>

#include "base/utf8.h"
#include "predict/list/rank_features.h"
#include "predict/session/session.h"
#include "text/script.h"

namespace laya::eval {
namespace {

using predict::kUntilDone;
using predict::Session;
using predict::Want;

bool has_han(std::string_view text) {
  for (const base::Decoded& code : base::CodePoints(text)) {
    if (text::is_han(code.code_point)) {
      return true;
    }
  }
  return false;
}

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '\'' ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

/// `word` without what stands behind its last letter.
std::string_view without_marks(std::string_view word) {
  while (!word.empty() && !in_word(word.back())) {
    word.remove_suffix(1);
  }
  return word;
}

predict::DecideOptions question(std::size_t slots) {
  return {.candidates = slots,
          .ghost = Want::No,
          .deep_wait_us = kUntilDone,
          .rank_features = Want::Yes};
}

// Counts a decision and hands it on. Nothing to tell where nothing was weighed.
Status tell(const predict::RankView& view, std::int32_t right, const RankGroupSink& sink,
            RankGroupCounts* counts) {
  if (view.keys.empty()) {
    return {};
  }
  ++counts->decisions;
  if (right != kNoneRight) {
    ++counts->known;
    counts->first += right == 0 ? 1 : 0;
    counts->third += right < 3 ? 1 : 0;
    counts->reciprocal += 1.0 / (1 + right);
  }
  return sink(view.rows, right);
}

Status type_line(Session& session, std::string_view line, std::uint64_t* revision,
                 const RankGroupOptions& options, const RankGroupSink& sink,
                 RankGroupCounts* counts) {
  session.clear();
  session.set_text({.revision = ++*revision, .before = {}, .after = {}});
  const std::vector<std::string_view> words = words_of(line);
  for (std::size_t w = 0; w < words.size(); ++w) {
    const std::string wanted = lowered(words[w]);
    const std::string meant = lowered(without_marks(words[w]));
    std::size_t offset = 0;
    while (offset < words[w].size()) {
      const predict::Reply& reply = session.decide(question(options.slots));
      const bool taken = std::any_of(
          reply.candidates.begin(), reply.candidates.end(),
          [&](const predict::Candidate& candidate) { return lowered(candidate.text) == wanted; });
      const predict::RankView view = session.rank_view();
      const auto found = std::find(view.keys.begin(), view.keys.end(), meant);
      if (Status told = tell(view,
                             found == view.keys.end() || meant.empty()
                                 ? kNoneRight
                                 : static_cast<std::int32_t>(found - view.keys.begin()),
                             sink, counts);
          !told) {
        return told;
      }
      if (taken) {
        break;
      }
      const std::size_t length = base::decode_utf8(words[w].substr(offset)).length;
      if (Status done =
              session.edit({.revision = ++*revision, .insert = words[w].substr(offset, length)});
          !done) {
        return done;
      }
      offset += length;
    }
    std::string rest(words[w].substr(offset));
    rest += w + 1 < words.size() ? " " : "";
    if (Status done = session.edit({.revision = ++*revision, .insert = rest}); !done) {
      return done;
    }
  }
  return {};
}

// The lower-case text meant up to the end of the word that is being typed behind `done` bytes of
// it.
std::string_view meant_so_far(std::string_view meant, std::size_t done) {
  std::size_t end = std::min(done, meant.size());
  if (end == 0 || !in_word(meant[end - 1])) {
    while (end < meant.size() && meant[end] == ' ') {
      ++end;
    }
  }
  while (end < meant.size() && in_word(meant[end])) {
    ++end;
  }
  return meant.substr(0, end);
}

std::int32_t right_of(const predict::RankView& view, std::string_view so_far) {
  for (std::size_t i = 0; i < view.keys.size(); ++i) {
    const std::string_view key = view.keys[i];
    if (so_far.ends_with(key) &&
        (so_far.size() == key.size() || !in_word(so_far[so_far.size() - key.size() - 1]))) {
      return static_cast<std::int32_t>(i);
    }
  }
  return kNoneRight;
}

Status play(Session& session, const KeySession& log, std::uint64_t* revision,
            const RankGroupOptions& options, const RankGroupSink& sink, RankGroupCounts* counts) {
  session.clear();
  session.set_text({.revision = ++*revision, .before = log.before, .after = log.after});
  const std::string meant = lowered(log.meant);
  PlayedField field(log);
  for (const KeyEvent& event : log.events) {
    if (Status applied = field.apply(event); !applied) {
      return applied;
    }
    if (event.kind == KeyEventKind::Caret) {
      session.set_text({.revision = ++*revision, .before = field.before(), .after = field.after()});
      continue;
    }
    if (Status done = session.edit({.revision = ++*revision,
                                    .erase_before = event.erase_before,
                                    .erase_after = event.erase_after,
                                    .insert = event.text,
                                    .at_ms = event.t_ms + 1});
        !done) {
      return done;
    }
    if (!event.done.has_value() || field.after() != log.after ||
        event.kind == KeyEventKind::Erase) {
      continue;
    }
    session.decide(question(options.slots));
    const predict::RankView view = session.rank_view();
    if (Status told = tell(view, right_of(view, meant_so_far(meant, *event.done)), sink, counts);
        !told) {
      return told;
    }
  }
  return {};
}

}  // namespace

Result<RankGroupCounts> make_rank_groups(const predict::Engine& engine,
                                         const std::vector<std::string>& lines,
                                         const RankGroupOptions& options,
                                         const RankGroupSink& sink) {
  RankGroupCounts counts;
  Session session(engine);
  std::uint64_t revision = 0;
  const std::vector<std::string_view> chosen = chosen_lines(lines, options.max_lines);
  for (std::size_t n = 0; n < chosen.size(); ++n) {
    if (!has_han(chosen[n])) {
      if (Status done = type_line(session, chosen[n], &revision, options, sink, &counts); !done) {
        return done.error();
      }
    }
    if (options.progress) {
      options.progress(n + 1, chosen.size());
    }
  }
  return counts;
}

Result<RankGroupCounts> make_rank_groups(const predict::Engine& engine,
                                         std::span<const KeySession> sessions,
                                         const RankGroupOptions& options,
                                         const RankGroupSink& sink) {
  RankGroupCounts counts;
  Session session(engine);
  std::uint64_t revision = 0;
  const std::size_t count =
      options.max_lines == 0 ? sessions.size() : std::min(options.max_lines, sessions.size());
  for (std::size_t n = 0; n < count; ++n) {
    if (!sessions[n].meant.empty() && !has_han(sessions[n].meant)) {
      if (Status done = play(session, sessions[n], &revision, options, sink, &counts); !done) {
        return done.error();
      }
    }
    if (options.progress) {
      options.progress(n + 1, count);
    }
  }
  return counts;
}

}  // namespace laya::eval
