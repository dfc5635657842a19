// A session: one text field. It takes edits and answers with candidates and a ghost.
//
// Rules:
//   - a field that is not plain text gives its bytes to nobody: they are neither kept nor looked
//     at;
//   - backspace truncates, it does not run the network again; letters inside a word filter a
//     distribution that is there;
//   - only the last kContextTokens tokens matter, so an edit in a megabyte of text costs what it
//     costs in a line;
//   - after warm_up() no call allocates;
//   - the decoder works on a thread of its own (deep_tier.h): decide() answers with what is there
//     when the frame is over, deep_reply() brings the rest while the text is still the same.
// A session is light: it holds its text, what was noticed of it and what it shows (≤ 64 KB). All
// else is the engine's and leased for a decision (workbench_pool.h, deep_turns.h), so that a
// thousand may be open. With an EngineSlot it goes on with the slot's new engine at its next edit.
// Not thread-safe; one session belongs to one thread at a time. It keeps its engine alive.
//
//   session.set_text({.revision = 1, .before = "see you tom", .after = ""});
//   const Reply& reply = session.decide({});                     // tomorrow, …; ghost "orrow"
//   session.edit({.revision = 2, .insert = "o"});
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "predict/deep/deep_statistics.h"
#include "predict/source/decide_options.h"
#include "predict/source/field_names.h"

namespace laya::predict {

class Engine;
class EngineSlot;
struct HanWord;
struct PoolWord;

/// What the ranker saw at a decision, before it put it in order (training, reports).
struct RankView {
  std::span<const float> rows;             ///< [keys.size(), kRankFeatures], rank_features.h
  std::span<const std::string_view> keys;  ///< what each says: lower case, at most 64 bytes
  std::span<const std::uint16_t> erases;   ///< bytes left of the caret that each takes away
};

/// What became of the decoder.
enum class DeepState : std::uint8_t {
  None,     ///< the engine has none
  Waiting,  ///< not loaded yet: the first decide() asks for it
  Ready,
  Failed,  ///< Engine::deep_service()->failure() says why; everything else works
};

/// One Han character and its mixed probability (evaluation, later re-ranking of pinyin).
struct NextHan {
  char32_t code_point;
  float log_prob;
};

/// What of a text may be sent to a completion server that the user configured (issue 4: never of a
/// private field). Session::remote_prompt() makes it; nothing else can.
class RemotePrompt {
 public:
  static constexpr std::size_t kMaxBytes = 1024;

  std::uint64_t revision() const { return revision_; }
  /// The end of the text left of the caret: at most kMaxBytes, whole characters, an owed space
  /// included. Lives until the session's next call.
  std::string_view before() const { return before_; }
  /// Its end: the word being typed; may be empty.
  std::string_view open_word() const { return before_.substr(before_.size() - open_bytes_); }

 private:
  friend class Session;
  RemotePrompt(std::uint64_t revision, std::string_view before, std::size_t open_bytes)
      : revision_(revision), before_(before), open_bytes_(open_bytes) {}
  std::uint64_t revision_;
  std::string_view before_;
  std::size_t open_bytes_;
};

class Session {
 public:
  /// Stays with `engine`.
  explicit Session(const Engine& engine);
  /// Goes along with the slot, which must outlive it.
  explicit Session(const EngineSlot& slot);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// Replaces the text. What it shares with the text before is not computed again. O(kKeptBytes)
  /// however long `before` is.
  void set_text(const FieldText& text);

  /// Applies one change at the caret. BadArgument if it erases more than the session has kept (then
  /// call set_text).
  Status edit(const Edit& edit);

  /// Forgets text, states and recent words at once (focus lost, field closed).
  void clear();

  /// Candidates and ghost for the present text. The reply lives until the next call on this
  /// session but deep_reply().
  const Reply& decide(const DecideOptions& options);

  /// What the decoder has to add to the last decide(): its list where that came too late
  /// (Tier::Deep), then its ghost. At most two answers a decide(), each whole, for the same
  /// revision; nullptr when there is nothing new within `wait_us` (0: only ask; kUntilDone: no
  /// limit), or nothing to come. Never one for an older text: any edit takes the question back.
  /// Lives until the next call.
  const Reply* deep_reply(std::int32_t wait_us);
  /// Whether deep_reply() may still bring something.
  bool deep_pending() const;
  /// Readable (poll) when deep_reply(0) is worth asking; -1 without a decoder. The session's; another
  /// one after an edit that took a new engine.
  int deep_fd();
  DeepState deep_state() const;

  /// The present text for a completion server. Nothing of a field that is not plain text (its bytes
  /// are not kept in the first place), and where nothing could be offered: an empty field, half a
  /// character, an address, a caret inside a word. Whoever sends it has to forget it when the
  /// revision is no longer the session's.
  std::optional<RemotePrompt> remote_prompt() const;

  /// The words that the last decide() weighed, with each source's probability (evaluation: mixing
  /// weights are learnt from these). Until the next call.
  std::span<const PoolWord> pool() const;
  /// The same of the last next_han().
  std::span<const HanWord> han_pool() const;
  /// What the ranker saw at the last decide() with rank_features (of the list that was answered at
  /// once). Until the next call.
  RankView rank_view();
  /// Units (words, characters, marks) of the current line before the open word, as Mixing counts
  /// them.
  std::size_t units_in_line();

  /// The likeliest next Han characters, whatever the language so far; best first. Returns how many
  /// were written (≤ 64).
  std::size_t next_han(std::span<NextHan> out);

  /// Runs every path once on text of its own, so that pages are mapped and no later call allocates.
  /// For a fresh session: leaves it empty.
  void warm_up();

  /// Bytes of text that were handed on to tokenizer and sources since the session was made. Stays 0
  /// for a blocked field: tested.
  std::uint64_t bytes_read() const;

  /// What the decoder was asked to do since the session was made, questions that it still has not
  /// counted; zeros without one.
  DeepStatistics deep_statistics() const;

  /// Passes of the instant network for the session since it was made (evaluation, tests: letters
  /// inside a known word need none).
  std::uint64_t passes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace laya::predict
