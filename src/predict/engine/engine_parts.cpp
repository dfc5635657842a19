#include "predict/engine/engine_parts.h"

#include <utility>

#include "model/decoder/decoder.h"
#include "model/ngram/model_bundle.h"
#include "predict/engine/offer_sources.h"
#include "predict/list/ranker.h"
#include "predict/source/block_list.h"
#include "text/subword_tokenizer.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace laya::predict {
namespace {

Result<std::shared_ptr<const model::ModelBundle>> open_bundle(const std::string& path,
                                                              const model::Backend& backend) {
  auto bundle = model::ModelBundle::open(path, backend);
  if (!bundle) {
    return bundle.error();
  }
  return std::make_shared<const model::ModelBundle>(std::move(*bundle));
}

// A part of a bundle that keeps the bundle alive.
template <typename Part>
std::shared_ptr<const Part> part_of(const std::shared_ptr<const model::ModelBundle>& bundle,
                                    const Part* part) {
  return part == nullptr ? nullptr : std::shared_ptr<const Part>(bundle, part);
}

}  // namespace

EngineParts::EngineParts() = default;
EngineParts::EngineParts(EngineParts&&) noexcept = default;
EngineParts& EngineParts::operator=(EngineParts&&) noexcept = default;
EngineParts::~EngineParts() = default;

Result<EngineParts> open_parts(const EnginePaths& paths, const model::Backend& backend) {
  if (paths.network_path.empty() && paths.ngram_path.empty()) {
    return Error{ErrorCode::BadArgument,
                 "engine: no model file given; name a network, an n-gram table or both"};
  }
  EngineParts parts;
  if (!paths.network_path.empty()) {
    auto bundle = open_bundle(paths.network_path, backend);
    if (!bundle) {
      return bundle.error();
    }
    parts.network = part_of(*bundle, (*bundle)->network());
    if (parts.network == nullptr) {
      return Error{ErrorCode::BadArgument, paths.network_path + ": holds no network"};
    }
    auto vocabulary = text::Vocabulary::parse((*bundle)->vocabulary());
    if (!vocabulary) {
      return Error{vocabulary.error().code,
                   paths.network_path + ": vocabulary: " + vocabulary.error().message};
    }
    const std::size_t rows = parts.network->config().vocabulary_size;
    if (vocabulary->size() != rows) {
      return Error{ErrorCode::Corrupt, paths.network_path + ": the vocabulary has " +
                                           std::to_string(vocabulary->size()) +
                                           " pieces, the network " + std::to_string(rows)};
    }
    parts.tokenizer = std::make_shared<const text::Tokenizer>(std::move(*vocabulary));
    if (paths.ngram_path == paths.network_path) {
      parts.ngrams = part_of(*bundle, (*bundle)->ngrams());
    }
  }
  if (!paths.ngram_path.empty() && paths.ngram_path != paths.network_path) {
    auto bundle = open_bundle(paths.ngram_path, backend);
    if (!bundle) {
      return bundle.error();
    }
    parts.ngrams = part_of(*bundle, (*bundle)->ngrams());
    if (parts.ngrams == nullptr) {
      return Error{ErrorCode::BadArgument, paths.ngram_path + ": holds no n-gram table"};
    }
  }
  parts.deep_path = paths.deep_path;
  parts.decoder_backend = backend;
  if (!paths.ranker_path.empty()) {
    auto ranker = Ranker::open(paths.ranker_path);
    if (!ranker) {
      return ranker.error();
    }
    parts.ranker = std::move(*ranker);
  }
  if (!paths.block_list_path.empty()) {
    auto list = BlockList::open(paths.block_list_path);
    if (!list) {
      return list.error();
    }
    parts.block_list = std::make_shared<const BlockList>(std::move(*list));
  }
  auto offers = open_offer_sources(paths, parts.ngrams);
  if (!offers) {
    return offers.error();
  }
  parts.offer_sources = std::move(*offers);
  return parts;
}

}  // namespace laya::predict
