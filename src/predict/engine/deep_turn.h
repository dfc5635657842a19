// DeepTurn: one question to the decoder, with all that it takes to answer it and all that comes of
// it. Whoever holds the turn may touch it — the session before it asks and after it has taken it
// back, the deep tier's thread in between: it is moved there and back (deep_tier.h).
//
// A turn keeps the decoder's cache of the text that it was last about, so a session asks for the
// turn that has its text (deep_turns.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "predict/deep/deep_source.h"
#include "predict/deep/deep_tier.h"
#include "predict/engine/session_id.h"
#include "predict/engine/text_field.h"
#include "predict/ghost/ghost_search.h"
#include "predict/list/list_builder.h"

namespace laya::predict {

class DeepService;
class Engine;
class Workbench;

/// What a decision asks for.
struct Question {
  std::size_t wanted = 0;    ///< entries of the list that are shown
  std::size_t searched = 0;  ///< and that are made: a ghost may begin with a later one
  bool ghost = false;
  ListOptions list = {};
};

class DeepTurn : public DeepWork {
 public:
  /// What the worker does with it.
  enum class Step : std::uint8_t {
    List,   ///< bring the decoder to the caret, then make the list
    Ghost,  ///< search the ghost behind the list
  };

  /// Both must outlive the turn; the service's model is there.
  DeepTurn(const Engine& engine, DeepService& service);

  /// Asks about `field` (copied).
  void ask(SessionId session, const TextField& field, const Question& question);
  SessionId session() const { return session_; }
  /// Another session's text comes next; `next` is its id.
  void hand_over(SessionId next);
  /// Wipes the text and what the decoder remembers of it, shared prefixes included.
  void forget();

  /// Whether reading the text takes a pass: else do it at once.
  bool needs_pass() { return source_.needs_pass(field_.text); }
  /// Brings the decoder to the caret. On an error prepared() is false.
  void read(const base::CancelFlag* cancel);
  bool prepared() const { return prepared_; }
  DeepSource& source() { return source_; }

  /// The list that the decoder has its say in, into `out`. After read(), if prepared().
  void make_list(Workbench& bench, ReplyBuffers* out);
  /// The ghosts of `list` that the next Step::Ghost tries.
  void start_ghost(const ReplyBuffers& list);

  void set_step(Step step) { step_ = step; }
  Step step() const { return step_; }
  void run(const base::CancelFlag& cancel) override;

  // --- What came of it.
  /// Step::List: whether there is a list, and the list, for buffers that the next one goes into.
  bool listed() const { return listed_; }
  void swap_list(std::unique_ptr<ReplyBuffers>* buffers) { list_.swap(*buffers); }
  /// The Han characters that it weighed.
  void swap_weighed(std::vector<HanWord>* weighed) { weighed_.swap(*weighed); }
  /// Step::Ghost.
  bool has_ghost() const { return ghost_size_ > 0; }
  std::string_view ghost() const { return {ghost_text_.data(), ghost_size_}; }
  float ghost_log_prob() const { return ghost_log_prob_; }
  /// Passes of the decoder since ask(); when the last step was done (base::monotonic_ns).
  std::uint32_t passes() const { return passes_; }
  std::int64_t done_ns() const { return done_ns_; }
  /// Passes of the instant network since ask().
  std::uint64_t network_passes() const { return network_passes_; }

 private:
  void find_ghost(const base::CancelFlag& cancel);

  const Engine* engine_;
  DeepService* service_;
  DeepSource source_;
  SessionId session_ = kNoSession;
  TextField field_;
  Question question_;
  Step step_ = Step::List;

  struct Start {
    float log_prob;
    std::size_t size;
    std::array<char, kMaxCandidateBytes> insert;
  };
  std::array<Start, GhostSearch::kBeam> starts_;
  std::size_t start_count_ = 0;

  std::unique_ptr<ReplyBuffers> list_ = std::make_unique<ReplyBuffers>();
  std::vector<HanWord> weighed_;
  bool prepared_ = false;
  bool listed_ = false;
  std::array<char, kMaxGhostBytes> ghost_text_;
  std::size_t ghost_size_ = 0;
  float ghost_log_prob_ = 0;
  std::uint32_t passes_ = 0;
  std::uint64_t network_passes_ = 0;
  std::int64_t done_ns_ = 0;
};

}  // namespace laya::predict
