// What a Session is made of. Included by session.cpp (text, instant tier), session_deep.cpp (the
// decoder's part) and session_remote.cpp only.
//
// The session's own: its text, what it shows, and the turn at the decoder while it is not with the
// worker. All else is leased from the engine for the length of a decision.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "predict/deep/deep_tier.h"
#include "predict/engine/deep_service.h"
#include "predict/engine/deep_turn.h"
#include "predict/engine/deep_turns.h"
#include "predict/engine/engine.h"
#include "predict/engine/engine_slot.h"
#include "predict/engine/text_field.h"
#include "predict/engine/workbench_pool.h"
#include "predict/list/list_builder.h"
#include "predict/session/session.h"

namespace laya::predict {

inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max() / 4;

inline float microseconds(std::int64_t from, std::int64_t to) {
  return static_cast<float>(to - from) / 1000.0F;
}

/// When to stop waiting, as base::monotonic_ns.
inline std::int64_t deadline_of(std::int32_t wait_us, std::int64_t edit_begin, std::int64_t now) {
  if (wait_us == kUntilDone) {
    return kNoLimit;
  }
  return wait_us == kRestOfFrame ? edit_begin + std::int64_t{kFrameUs} * 1000
                                 : now + std::int64_t{wait_us} * 1000;
}

struct Session::Impl {
  explicit Impl(std::shared_ptr<const Engine> engine);
  explicit Impl(const EngineSlot& slot);
  ~Impl();

  // --- Edits (session.cpp).
  void join(std::shared_ptr<const Engine> next);
  void leave();
  void take_new_engine();
  void changed(const TypedText::Delta& delta);
  void block(std::uint64_t revision);
  void remember(const Edit& change);
  void wipe_answers();

  // --- Decisions.
  /// A bench that has read the field.
  WorkbenchPool::Lease lease();
  void answer_instantly(Workbench& bench);
  void keep_for_later(Workbench& bench);
  void pass_over(const ReplyBuffers& out);

  /// Counts the network's passes on a bench for the session, while it lives.
  struct CountPasses {
    CountPasses(Impl& i, const Workbench& b) : impl(&i), bench(&b), before(b.network_passes()) {}
    CountPasses(const CountPasses&) = delete;
    CountPasses& operator=(const CountPasses&) = delete;
    ~CountPasses() { impl->network_passes += bench->network_passes() - before; }
    Impl* impl;
    const Workbench* bench;
    std::uint64_t before;
  };

  // --- The decoder (session_deep.cpp).
  /// The turn is the session's again; what was asked is forgotten.
  void take_back();
  /// What the worker has, done or not; nullptr where it has nothing.
  std::unique_ptr<DeepTurn> fetch();
  /// Counts what the turn has done, and leaves it for the next question; nullptr is nothing.
  void finish(std::unique_ptr<DeepTurn> turn);
  /// The turn, read, where that takes no pass. Else the worker has it (coming is List), or the
  /// decoder says nothing (coming is Nothing).
  std::unique_ptr<DeepTurn> ask_decoder(const DecideOptions& options);
  /// The turn, read whatever that takes; nullptr where there is no decoder.
  std::unique_ptr<DeepTurn> read_here();
  void answer_deep(DeepTurn& turn, Workbench& bench);
  /// The list that the worker has made becomes the answer. False where the decoder could not.
  bool take_list_in_time();
  void take_ghost(ReplyBuffers* out);
  /// Sends the turn off for the ghost behind `list`, if one is wanted.
  void ask_ghost(std::unique_ptr<DeepTurn> turn, const ReplyBuffers& list);
  /// Whether the ghost that is shown begins with a word of `out`'s list, or goes on behind the typed
  /// one.
  bool keeps_ghost(std::string_view ghost, const ReplyBuffers& out) const;

  std::shared_ptr<const Engine> engine;
  const EngineSlot* slot;  // nullptr: the engine stays
  std::uint64_t slot_version = 0;
  SessionId id = kNoSession;

  TextField field;
  std::uint64_t bytes_read = 0;
  std::int64_t edit_begin = 0;
  float edit_us = 0;
  bool offered = false;  // a list has been asked for since the last edit
  std::uint64_t network_passes = 0;

  Question question;
  std::unique_ptr<ReplyBuffers> answer = std::make_unique<ReplyBuffers>();  // of decide()
  std::vector<HanWord> weighed;  // characters that the last list weighed
  std::vector<float> rank_rows;  // what the ranker saw, if asked for
  std::vector<std::string_view> rank_keys;
  std::vector<std::uint16_t> rank_erases;

  // --- The deep tier.
  DeepService* service = nullptr;
  std::unique_ptr<ReplyBuffers> late;  // of deep_reply(); made at the first question
  bool asked_decoder = false;          // since the text was wiped: it may remember some of it
  DeepStatistics statistics;
  DeepStatistics turn_began;  // of the turn's source, when it was asked
  std::int64_t asked_ns = 0;
  enum class Coming : std::uint8_t {
    Nothing,
    List,
    Ghost
  } coming = Coming::Nothing;    // by the worker
  bool list_is_late = false;     // the ghost is for `late`
  std::optional<DeepLine> line;  // last: its end waits for the worker
};

}  // namespace laya::predict
