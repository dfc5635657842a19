#include "model/ngram/model_bundle.h"

#include <optional>
#include <utility>

#include "format/model_file.h"
#include "model/gru/model_loading.h"

namespace laya::model {
namespace {

constexpr std::string_view kVocabularyBlob = "vocabulary";
constexpr std::string_view kNgramPrefix = "ngram.";
constexpr std::string_view kNetworkTensor = "embedding.weight";

bool holds_ngrams(const format::ModelFile& file) {
  for (const format::Entry& entry : file.entries()) {
    if (entry.name.substr(0, kNgramPrefix.size()) == kNgramPrefix) {
      return true;
    }
  }
  return false;
}

}  // namespace

struct ModelBundle::Parts {
  explicit Parts(format::ModelFile opened) : file(std::move(opened)) {}

  format::ModelFile file;  // first: the others view it
  std::unique_ptr<LanguageModel> network;
  std::optional<NgramModel> ngrams;
};

ModelBundle::ModelBundle(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ModelBundle::ModelBundle(ModelBundle&&) noexcept = default;
ModelBundle& ModelBundle::operator=(ModelBundle&&) noexcept = default;
ModelBundle::~ModelBundle() = default;

Result<ModelBundle> ModelBundle::open(const std::string& path, const Backend& backend) {
  auto file = format::ModelFile::open(path);
  if (!file) {
    return file.error();
  }
  auto parts = std::make_unique<Parts>(std::move(*file));
  if (parts->file.has(kNetworkTensor)) {
    auto network = load_language_model(parts->file, backend);
    if (!network) {
      return network.error();
    }
    parts->network = std::move(*network);
  }
  if (holds_ngrams(parts->file)) {
    auto ngrams = NgramModel::open(parts->file);
    if (!ngrams) {
      return ngrams.error();
    }
    parts->ngrams.emplace(std::move(*ngrams));
  }
  if (parts->network == nullptr && !parts->ngrams) {
    return Error{ErrorCode::BadArgument, path + ": holds neither a network nor an n-gram table"};
  }
  return ModelBundle(std::move(parts));
}

const LanguageModel* ModelBundle::network() const { return parts_->network.get(); }
const NgramModel* ModelBundle::ngrams() const {
  return parts_->ngrams ? &*parts_->ngrams : nullptr;
}

std::span<const std::byte> ModelBundle::vocabulary() const {
  const format::Entry* entry = parts_->file.find(kVocabularyBlob);
  return entry == nullptr ? std::span<const std::byte>{} : parts_->file.bytes_of(*entry);
}

}  // namespace laya::model
