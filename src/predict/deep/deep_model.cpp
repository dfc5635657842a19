#include "predict/deep/deep_model.h"

#include <optional>
#include <string>
#include <utility>

#include "model/decoder/decoder_bundle.h"
#include "predict/deep/deep_index.h"
#include "text/subword_tokenizer.h"

namespace laya::predict {

struct DeepModel::Parts {
  // Order matters: what is below views what is above.
  std::optional<model::DecoderBundle> bundle;
  std::unique_ptr<const model::Decoder> own_decoder;  // of from_parts()
  const model::Decoder* decoder = nullptr;
  std::unique_ptr<const text::SubwordTokenizer> tokenizer;
  std::optional<DeepIndex> tables;

  Status finish(const PieceIndex& index, const model::NgramModel* ngrams) {
    const std::size_t rows = decoder->config().vocabulary_size;
    if (tokenizer->size() > rows) {
      return Error{ErrorCode::Corrupt, "the tokenizer has " + std::to_string(tokenizer->size()) +
                                           " tokens, the decoder " + std::to_string(rows)};
    }
    tables.emplace(*tokenizer, index, ngrams);
    return {};
  }
};

DeepModel::DeepModel(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
DeepModel::~DeepModel() = default;

Result<std::unique_ptr<DeepModel>> DeepModel::open(const std::string& path, const PieceIndex& index,
                                                   const model::NgramModel* ngrams,
                                                   const model::Backend& backend) {
  auto bundle = model::DecoderBundle::open(path, backend);
  if (!bundle) {
    return bundle.error();
  }
  auto tokenizer = text::SubwordTokenizer::parse(bundle->tokenizer());
  if (!tokenizer) {
    return Error{tokenizer.error().code, path + ": " + tokenizer.error().message};
  }
  auto parts = std::make_unique<Parts>();
  parts->bundle.emplace(std::move(*bundle));
  parts->decoder = &parts->bundle->decoder();
  parts->tokenizer = std::make_unique<text::SubwordTokenizer>(std::move(*tokenizer));
  if (Status status = parts->finish(index, ngrams); !status) {
    return Error{status.error().code, path + ": " + status.error().message};
  }
  return std::unique_ptr<DeepModel>(new DeepModel(std::move(parts)));
}

Result<std::unique_ptr<DeepModel>> DeepModel::from_parts(
    std::unique_ptr<const model::Decoder> decoder,
    std::unique_ptr<const text::SubwordTokenizer> tokenizer, const PieceIndex& index,
    const model::NgramModel* ngrams) {
  auto parts = std::make_unique<Parts>();
  parts->own_decoder = std::move(decoder);
  parts->decoder = parts->own_decoder.get();
  parts->tokenizer = std::move(tokenizer);
  if (Status status = parts->finish(index, ngrams); !status) {
    return Error{status.error().code, "deep model: " + status.error().message};
  }
  return std::unique_ptr<DeepModel>(new DeepModel(std::move(parts)));
}

const model::Decoder& DeepModel::decoder() const { return *parts_->decoder; }
const text::SubwordTokenizer& DeepModel::tokenizer() const { return *parts_->tokenizer; }
const DeepIndex& DeepModel::tables() const { return *parts_->tables; }
std::string_view DeepModel::name() const {
  return parts_->bundle ? parts_->bundle->name() : std::string_view();
}
std::size_t DeepModel::weights_bytes() const { return parts_->decoder->weights_bytes(); }

}  // namespace laya::predict
