// DeepModel: a decoder with its tokenizer, and the tables that turn its tokens into words and
// characters.
//
// Opened once per engine (lazily, on any thread), immutable, shared by all sessions. Holds no text.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace laya::text {
class SubwordTokenizer;
}
namespace laya::model {
struct Backend;
class Decoder;
class NgramModel;
}  // namespace laya::model

namespace laya::predict {

class DeepIndex;
class PieceIndex;

class DeepModel {
 public:
  /// Opens a `.laya` with a decoder, which `backend` runs. `index` and `ngrams` (may be nullptr) are the engine's and
  /// must outlive the model. Errors: Io, Corrupt, Version, Unsupported (no decoder in it),
  /// BadArgument.
  static Result<std::unique_ptr<DeepModel>> open(const std::string& path, const PieceIndex& index,
                                                 const model::NgramModel* ngrams,
                                                 const model::Backend& backend);

  /// The same from parts (tests, other loaders). BadArgument if their vocabularies differ.
  static Result<std::unique_ptr<DeepModel>> from_parts(
      std::unique_ptr<const model::Decoder> decoder,
      std::unique_ptr<const text::SubwordTokenizer> tokenizer, const PieceIndex& index,
      const model::NgramModel* ngrams);

  DeepModel(const DeepModel&) = delete;
  DeepModel& operator=(const DeepModel&) = delete;
  ~DeepModel();

  const model::Decoder& decoder() const;
  const text::SubwordTokenizer& tokenizer() const;
  const DeepIndex& tables() const;
  std::string_view name() const;  ///< of the file's metadata; "" without
  std::size_t weights_bytes() const;

 private:
  struct Parts;
  explicit DeepModel(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace laya::predict
