// EngineParts: what an engine is built from — read from files here, or made by whoever has them
// (tests, other loaders).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/core/backend.h"
#include "predict/offers/offer.h"

namespace laya::text {
class SubwordTokenizer;
class Tokenizer;
}  // namespace laya::text
namespace laya::model {
class Decoder;
class LanguageModel;
class NgramModel;
}  // namespace laya::model

namespace laya::predict {

class BlockList;
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

/// Any part may be left out, but not network and table both; the network needs the tokenizer of its
/// vocabulary. Immutable once it is here, so engines may share parts.
struct EngineParts {
  EngineParts();
  EngineParts(EngineParts&&) noexcept;
  EngineParts& operator=(EngineParts&&) noexcept;
  ~EngineParts();

  std::shared_ptr<const model::LanguageModel> network = {};
  std::shared_ptr<const text::Tokenizer> tokenizer = {};
  std::shared_ptr<const model::NgramModel> ngrams = {};

  /// The deep tier: a file, opened when EngineOptions::deep_loading says; or a decoder with its
  /// tokenizer.
  std::string deep_path = {};
  model::Backend decoder_backend = {};  ///< of the file
  std::unique_ptr<const model::Decoder> decoder;
  std::unique_ptr<const text::SubwordTokenizer> decoder_tokenizer;

  std::vector<OfferSourceFactory> offer_sources;  ///< in the order in which they are asked
  std::shared_ptr<const BlockList> block_list = {};
  std::shared_ptr<const Ranker> ranker = {};
};

/// Maps the files and checks them, all but the decoder's. Errors: Io (cannot read), Corrupt,
/// Version, Unsupported, BadArgument (no path given, or a file without the part it is named for).
/// `backend` runs the network, and the decoder when it is opened.
Result<EngineParts> open_parts(const EnginePaths& paths, const model::Backend& backend);

}  // namespace laya::predict
