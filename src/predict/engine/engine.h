// The engine: everything that is shared by all text fields — network weights, n-gram table,
// vocabulary, mixing weights.
//
// Built once (in main), immutable, used by any number of sessions on any threads. It holds no text.
//
//   auto engine = Engine::open({.network_path = "models/instant/gru.laya",
//                               .ngram_path = "models/instant/ngram.laya"}, {});
//   Session session(*engine);                    // session.h; one per text field
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "model/gru/language_model.h"
#include "predict/deep/deep_options.h"
#include "predict/offers/offer.h"
#include "predict/source/mixing.h"

namespace laya::text {
class SubwordTokenizer;
class Tokenizer;
}  // namespace laya::text
namespace laya::model {
class Decoder;
class NgramModel;
}  // namespace laya::model

namespace laya::predict {

class BlockList;
class DeepModel;
class DeepService;
class PieceIndex;
class Ranker;

/// Model files. The first two may be the same file; an empty path leaves that source out; network
/// or table is needed.
struct EnginePaths {
  std::string network_path = {};  ///< .laya with a GruLocal and its vocabulary
  std::string ngram_path = {};    ///< .laya with an n-gram table
  std::string deep_path = {};     ///< .laya with a decoder and its tokenizer: the deep tier
  // Of what ships beside them; each may be left out.
  std::string lexicon_path = {};     ///< words with frequencies: completions and corrections
  std::string emoji_path = {};       ///< emoji by name
  std::string block_list_path = {};  ///< what is never suggested
  std::string ranker_path = {};      ///< .laya with a ranker of candidates
};

/// When the decoder's file is opened. Now: by open(), which fails if it cannot be used (evaluation,
/// commands that are about it). WhenWanted: by the deep tier's thread, at the first text; open()
/// succeeds, and deep_service()->failure() tells what was wrong, if anything.
enum class DeepLoading : std::uint8_t { Now, WhenWanted };

struct EngineOptions {
  int threads = 1;  ///< threads that one model pass may use (1 or 2)
  const Mixing* mixing =
      nullptr;  ///< weights of the sources; nullptr: those learnt for the shipped model
  DeepOptions deep = {};
  DeepLoading deep_loading = DeepLoading::Now;
  /// Most memory for the decoder, its weights and one session; what needs more is not loaded.
  std::size_t deep_memory_mb = 1024;
};

class Engine {
 public:
  /// Maps the files and checks them. Errors: Io (cannot read), Corrupt, Version, Unsupported,
  /// BadArgument (no path given).
  static Result<Engine> open(const EnginePaths& paths, const EngineOptions& options);

  /// The same from parts made elsewhere (tests, other loaders). `network` needs the `tokenizer` of
  /// its vocabulary; both may be left out; `ngrams` may be nullptr and must otherwise outlive the
  /// engine.
  static Result<Engine> from_parts(std::unique_ptr<model::LanguageModel> network,
                                   std::unique_ptr<text::Tokenizer> tokenizer,
                                   const model::NgramModel* ngrams, const EngineOptions& options);

  /// Adds a decoder from parts (tests, other loaders); the engine must not have sessions yet.
  /// Errors as DeepModel::from_parts.
  Status add_deep(std::unique_ptr<const model::Decoder> decoder,
                  std::unique_ptr<const text::SubwordTokenizer> tokenizer);

  /// Adds a source of whole candidates (offer.h); the engine must not have sessions yet.
  void add_offer_source(OfferSourceFactory factory);

  /// Sets what is never suggested; the engine must not have sessions yet. open() has read it where
  /// its path is given.
  void set_block_list(std::unique_ptr<const BlockList> list);

  /// Puts a ranker in (training, tests); the engine must not have sessions yet.
  void set_ranker(std::unique_ptr<const Ranker> ranker);

  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  // Either may be nullptr (source left out), never both. They live as long as the engine, moved or
  // not.
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
  model::Threads threads() const;  ///< for a session's model passes

  /// Bytes of weights and tables that the engine reads at run time.
  std::size_t weights_bytes() const;

 private:
  struct Parts;
  explicit Engine(std::unique_ptr<Parts> parts);
  static Result<std::unique_ptr<Parts>> start(const EngineOptions& options);
  std::unique_ptr<Parts> parts_;
};

}  // namespace laya::predict
