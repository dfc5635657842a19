// Engine: everything that all text fields share — network weights, n-gram table, vocabulary, mixing
// weights, and the workbenches on which decisions are made. A snapshot: built from its parts, never
// changed; who wants another one builds it and puts it into the slot (engine_slot.h).
//
// Used by any number of sessions on any threads. Holds no text of its own; what benches and parked
// states hold of a session's goes with the session.
//
//   auto engine = Engine::open({.network_path = "models/instant/gru.laya",
//                               .ngram_path = "models/instant/ngram.laya"},
//                              {});
//   Session session(**engine);   // session.h; one per text field
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "model/backends/cpu.h"
#include "model/gru/language_model.h"
#include "predict/deep/deep_options.h"
#include "predict/engine/engine_parts.h"
#include "predict/offers/offer.h"
#include "predict/source/mixing.h"

namespace laya::predict {

class DeepModel;
class DeepService;
class PieceIndex;
class WorkbenchPool;

/// When the decoder's file is opened. Now: by build(), which fails if it cannot be used (evaluation,
/// commands that are about it). WhenWanted: by the deep tier's thread, at the first text; build()
/// succeeds, and deep_service()->failure() tells what was wrong, if anything.
enum class DeepLoading : std::uint8_t { Now, WhenWanted };

struct EngineOptions {
  /// What runs the models that open() reads: of laya_model_cpu unless somebody names another.
  model::Backend backend = model::cpu_backend();
  int threads = 1;  ///< threads that one model pass may use (1 or 2)
  const Mixing* mixing =
      nullptr;  ///< weights of the sources; nullptr: those learnt for the shipped model
  DeepOptions deep = {};
  DeepLoading deep_loading = DeepLoading::Now;
  /// Most memory for the decoder, its weights and one session; what needs more is not loaded.
  std::size_t deep_memory_mb = 1024;
  /// Conversations whose decoder cache is kept (about 16 MB each with SmolLM2, made when needed).
  std::size_t deep_turns = 4;
  /// Decisions made at once; 0: as many as the machine has cores, and one for the decoder's thread.
  std::size_t workbenches = 0;
  /// Where the network stood in texts that no workbench holds: about 20 KB each.
  std::size_t parked_states_mb = 16;
};

class Engine : public std::enable_shared_from_this<Engine> {
 public:
  /// Errors: BadArgument (options out of range, parts that do not fit, neither network nor table);
  /// the decoder's, where it is loaded now.
  static Result<std::shared_ptr<const Engine>> build(EngineParts parts,
                                                     const EngineOptions& options);
  /// open_parts() and build().
  static Result<std::shared_ptr<const Engine>> open(const EnginePaths& paths,
                                                    const EngineOptions& options);

  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  // Either may be nullptr (source left out), never both.
  const model::LanguageModel* network() const;
  const text::Tokenizer* tokenizer() const;  ///< of the network; nullptr without one
  const model::NgramModel* ngrams() const;
  const DeepModel* deep() const;      ///< nullptr without a decoder, or before it is loaded
  DeepService* deep_service() const;  ///< nullptr without a decoder; thread-safe
  const DeepOptions& deep_options() const;
  std::span<const OfferSourceFactory> offer_sources() const;
  const Ranker* ranker() const;         ///< nullptr: candidates stay in the order of their scores
  const BlockList* block_list() const;  ///< nullptr without one
  const PieceIndex& index() const;
  const Mixing& mixing() const;
  model::Threads threads() const;  ///< for a decision's model passes
  /// Where decisions are made. Thread-safe.
  WorkbenchPool& workbenches() const;

  /// Bytes of weights and tables that the engine reads at run time.
  std::size_t weights_bytes() const;

 private:
  struct Parts;
  explicit Engine(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace laya::predict
