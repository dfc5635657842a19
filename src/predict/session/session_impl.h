// What a Session is made of. Included by session.cpp (text, instant tier) and session_deep.cpp (the
// decoder's part) only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "predict/deep/deep_source.h"
#include "predict/engine/deep_service.h"
#include "predict/engine/engine.h"
#include "predict/ghost/ghost_search.h"
#include "predict/instant/network_source.h"
#include "predict/instant/ngram_source.h"
#include "predict/list/list_builder.h"
#include "predict/list/source_trust.h"
#include "predict/offers/offer.h"
#include "predict/session/session.h"
#include "predict/source/passed_over.h"
#include "predict/source/source.h"
#include "predict/source/typed_text.h"
#include "predict/source/typing_memory.h"

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

/// A member function of a session's Impl as work for the deep tier's thread.
template <typename Owner, void (Owner::*kWork)(const base::CancelFlag&)>
struct Work : DeepTask {
  explicit Work(Owner& o) : owner(&o) {}
  void run(const base::CancelFlag& cancel) override { (owner->*kWork)(cancel); }
  Owner* owner;
};

// Who may touch what: everything belongs to the session's thread, but between submitting a task and
// take_back() (or having waited for it), to the deep tier's: `deep` and what the `late` struct
// holds by `read_text`; the sources, lists, ghost and `late_answer` too by `list_late` and
// `ghost_late`. `text` and `answer` are only read there.
struct Session::Impl {
  explicit Impl(const Engine& engine);

  void take_back();
  bool engage();
  void feed(const TypedText::Delta& delta);
  void block(std::uint64_t revision);
  void remember(const Edit& change);
  void show(const ReplyBuffers& out);
  bool may_have_ghost(const ReplyBuffers& out) const;
  /// The places in `from.shown` that a ghost may begin with, likeliest first (offers bring no
  /// ghost). Of all that is there: a word that was passed over stands behind the list and may still
  /// be the likeliest. Returns how many; at most kBeam.
  static std::size_t likeliest_starts(const ReplyBuffers& from,
                                      std::array<std::size_t, GhostSearch::kBeam>& places);
  void find_ghost(ReplyBuffers* out);
  std::size_t ghost_starts(const ReplyBuffers& from, std::span<GhostStart> starts) const;

  // On the deep tier's thread.
  void read_text(const base::CancelFlag& cancel);
  void list_late(const base::CancelFlag& cancel);
  void ghost_late(const base::CancelFlag& cancel);

  // The parts of decide().
  struct Question {
    std::size_t wanted;
    std::size_t searched;
    bool ghost;
  };
  bool ask_decoder(const DecideOptions& options);
  void answer_instantly();
  void answer_deep();
  void ask_later(bool list);
  bool keeps_ghost(const ReplyBuffers& out) const;
  void take_ghost(Reply* reply) const;

  const Engine* engine;
  TypedText text;
  std::optional<NgramSource> ngrams;
  std::optional<NetworkSource> network;
  std::optional<DeepSource> deep;
  std::vector<std::unique_ptr<OfferSource>> own_offers;
  std::vector<OfferSource*> offers;  // the same
  SearchSources instant;             // without the decoder
  SearchSources sources;
  TypingMemory memory;
  ListBuilder lists;
  PassedOver passed_over;
  SourceTrust trust;
  GhostSearch ghost_search;
  ReplyBuffers answer;

  FieldKind kind = FieldKind::Text;
  std::uint64_t revision = 0;
  std::uint64_t bytes_read = 0;
  std::int64_t edit_begin = 0;
  float edit_us = 0;
  bool offered = false;  // a list has been asked for since the last edit
  std::array<std::uint16_t, CandidateRanker::kMost> rank_erases{};

  // --- the deep tier
  DeepService* service;
  Question question{};
  ReplyBuffers late_answer;
  struct Late {
    bool prepared = false;  // read_text: the decoder is at the caret
    bool listed = false;    // list_late: late_answer holds the list
    bool ghost = false;     // ghost_late: there is a ghost
    float ghost_log_prob = 0;
    std::uint32_t passes = 0;
    std::int64_t done_ns = 0;  // when the last of these was
    std::string ghost_text;
  } late;
  std::int64_t asked_ns = 0;
  bool submitted = false;      // read_text runs, or ran, on the other thread
  std::size_t list_task = 0;   // its number among the line's tasks; 0: none to come
  std::size_t ghost_task = 0;  // the same
  bool list_is_late = false;   // the ghost is for late_answer
  Work<Impl, &Impl::read_text> read_work{*this};
  Work<Impl, &Impl::list_late> list_work{*this};
  Work<Impl, &Impl::ghost_late> ghost_work{*this};
  std::optional<DeepLine> line;  // last: its end waits for the worker
};

}  // namespace laya::predict
