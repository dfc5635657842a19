#include "predict/engine/engine.h"

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "model/backends/cpu.h"
#include "model/decoder/decoder.h"
#include "model/ngram/model_bundle.h"
#include "model/ngram/ngram.h"
#include "predict/deep/deep_model.h"
#include "predict/engine/deep_service.h"
#include "predict/engine/offer_sources.h"
#include "predict/list/ranker.h"
#include "predict/source/block_list.h"
#include "predict/source/piece_index.h"
#include "text/subword_tokenizer.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace laya::predict {
namespace {

Status vocabulary_fits(const model::LanguageModel& network, const text::Tokenizer& tokenizer,
                       const std::string& name) {
  const std::size_t rows = network.config().vocabulary_size;
  const std::size_t pieces = tokenizer.vocabulary().size();
  if (pieces != rows) {
    return Error{ErrorCode::Corrupt, name + ": the vocabulary has " + std::to_string(pieces) +
                                         " pieces, the network " + std::to_string(rows)};
  }
  return {};
}

Result<std::unique_ptr<DeepModel>> open_deep(const std::string& path, std::size_t limit_mb,
                                             const PieceIndex& index,
                                             const model::NgramModel* ngrams,
                                             const DeepOptions& options) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) {
    return Error{ErrorCode::Io, path + ": " + error.message()};
  }
  const auto bytes = static_cast<std::size_t>(size);
  if (auto fits = check_deep_memory(limit_mb, path, bytes, 0); !fits) {
    return fits.error();  // before any of it is read
  }
  auto model = DeepModel::open(path, index, ngrams, model::cpu_backend());
  if (model) {
    if (auto fits = check_deep_memory(limit_mb, path, bytes, deep_session_bytes(**model, options));
        !fits) {
      return fits.error();
    }
  }
  return model;
}

}  // namespace

struct Engine::Parts {
  // Order matters: what is below views what is above.
  std::optional<model::ModelBundle> network_bundle;
  std::optional<model::ModelBundle> ngram_bundle;     // none where the first file holds both
  std::unique_ptr<model::LanguageModel> own_network;  // of from_parts()
  const model::LanguageModel* network = nullptr;
  const model::NgramModel* ngrams = nullptr;
  std::unique_ptr<text::Tokenizer> tokenizer;
  std::optional<PieceIndex> index;
  DeepOptions deep_options;
  Mixing mixing;
  model::Threads threads = model::Threads::One;
  std::vector<OfferSourceFactory> offer_sources;
  std::unique_ptr<const Ranker> ranker;
  std::unique_ptr<const BlockList> block_list;
  std::unique_ptr<DeepService> deep;  // last: its thread looks at the rest
};

Engine::Engine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

Result<std::unique_ptr<Engine::Parts>> Engine::start(const EngineOptions& options) {
  if (options.threads != 1 && options.threads != 2) {
    return Error{ErrorCode::BadArgument,
                 "engine: threads is " + std::to_string(options.threads) + "; must be 1 or 2"};
  }
  auto parts = std::make_unique<Parts>();
  parts->threads = options.threads == 2 ? model::Threads::Two : model::Threads::One;
  parts->deep_options = options.deep;
  parts->mixing = options.mixing != nullptr ? *options.mixing : shipped_mixing();
  return parts;
}

Result<Engine> Engine::open(const EnginePaths& paths, const EngineOptions& options) {
  if (paths.network_path.empty() && paths.ngram_path.empty()) {
    return Error{ErrorCode::BadArgument,
                 "engine: no model file given; name a network, an n-gram table or both"};
  }
  auto checked = start(options);
  if (!checked) {
    return checked.error();
  }
  std::unique_ptr<Parts> parts = std::move(*checked);
  if (!paths.network_path.empty()) {
    auto bundle = model::ModelBundle::open(paths.network_path, model::cpu_backend());
    if (!bundle) {
      return bundle.error();
    }
    parts->network_bundle.emplace(std::move(*bundle));
    parts->network = parts->network_bundle->network();
    parts->ngrams = parts->network_bundle->ngrams();
    if (parts->network == nullptr) {
      return Error{ErrorCode::BadArgument, paths.network_path + ": holds no network"};
    }
    auto vocabulary = text::Vocabulary::parse(parts->network_bundle->vocabulary());
    if (!vocabulary) {
      return Error{vocabulary.error().code,
                   paths.network_path + ": vocabulary: " + vocabulary.error().message};
    }
    const std::size_t rows = parts->network->config().vocabulary_size;
    if (vocabulary->size() != rows) {
      return Error{ErrorCode::Corrupt, paths.network_path + ": the vocabulary has " +
                                           std::to_string(vocabulary->size()) +
                                           " pieces, the network " + std::to_string(rows)};
    }
    parts->tokenizer = std::make_unique<text::Tokenizer>(std::move(*vocabulary));
  }
  if (!paths.ngram_path.empty() && paths.ngram_path != paths.network_path) {
    auto bundle = model::ModelBundle::open(paths.ngram_path, model::cpu_backend());
    if (!bundle) {
      return bundle.error();
    }
    parts->ngram_bundle.emplace(std::move(*bundle));
    parts->ngrams = parts->ngram_bundle->ngrams();
    if (parts->ngrams == nullptr) {
      return Error{ErrorCode::BadArgument, paths.ngram_path + ": holds no n-gram table"};
    }
  }
  if (paths.ngram_path.empty()) {
    parts->ngrams = nullptr;  // left out on purpose
  }
  parts->index.emplace(parts->tokenizer ? &parts->tokenizer->vocabulary() : nullptr, parts->ngrams);
  if (!paths.deep_path.empty()) {
    parts->deep = std::make_unique<DeepService>(
        [path = paths.deep_path, limit = options.deep_memory_mb, all = parts.get()] {
          return open_deep(path, limit, *all->index, all->ngrams, all->deep_options);
        },
        parts->network, parts->deep_options, parts->threads);
    if (options.deep_loading == DeepLoading::Now) {
      if (auto loaded = parts->deep->load(); !loaded) {
        return loaded.error();
      }
    }
  }
  if (!paths.ranker_path.empty()) {
    auto ranker = Ranker::open(paths.ranker_path);
    if (!ranker) {
      return ranker.error();
    }
    parts->ranker = std::move(*ranker);
  }
  Engine engine(std::move(parts));
  if (!paths.block_list_path.empty()) {
    auto list = BlockList::open(paths.block_list_path);
    if (!list) {
      return list.error();
    }
    engine.set_block_list(std::make_unique<const BlockList>(std::move(*list)));
  }
  auto offers = open_offer_sources(paths, engine);
  if (!offers) {
    return offers.error();
  }
  engine.parts_->offer_sources = std::move(*offers);
  return engine;
}

Result<Engine> Engine::from_parts(std::unique_ptr<model::LanguageModel> network,
                                  std::unique_ptr<text::Tokenizer> tokenizer,
                                  const model::NgramModel* ngrams, const EngineOptions& options) {
  if ((network == nullptr) != (tokenizer == nullptr) || (network == nullptr && ngrams == nullptr)) {
    return Error{ErrorCode::BadArgument,
                 "engine: needs a network with its vocabulary, an n-gram table, or both"};
  }
  auto parts = start(options);
  if (!parts) {
    return parts.error();
  }
  if (network != nullptr) {
    if (auto fits = vocabulary_fits(*network, *tokenizer, "engine"); !fits) {
      return fits.error();
    }
  }
  (*parts)->own_network = std::move(network);
  (*parts)->network = (*parts)->own_network.get();
  (*parts)->ngrams = ngrams;
  (*parts)->tokenizer = std::move(tokenizer);
  (*parts)->index.emplace((*parts)->tokenizer ? &(*parts)->tokenizer->vocabulary() : nullptr,
                          ngrams);
  return Engine(std::move(*parts));
}

Status Engine::add_deep(std::unique_ptr<const model::Decoder> decoder,
                        std::unique_ptr<const text::SubwordTokenizer> tokenizer) {
  auto deep =
      DeepModel::from_parts(std::move(decoder), std::move(tokenizer), *parts_->index, ngrams());
  if (!deep) {
    return deep.error();
  }
  // A std::function can be copied, a model can not: it is handed over in a shared box.
  auto box = std::make_shared<std::unique_ptr<DeepModel>>(std::move(*deep));
  parts_->deep = std::make_unique<DeepService>(
      [box]() -> Result<std::unique_ptr<DeepModel>> { return std::move(*box); }, parts_->network,
      parts_->deep_options, parts_->threads);
  return parts_->deep->load();
}

void Engine::add_offer_source(OfferSourceFactory factory) {
  parts_->offer_sources.push_back(std::move(factory));
}

void Engine::set_block_list(std::unique_ptr<const BlockList> list) {
  parts_->block_list = std::move(list);
}

const BlockList* Engine::block_list() const { return parts_->block_list.get(); }

void Engine::set_ranker(std::unique_ptr<const Ranker> ranker) {
  parts_->ranker = std::move(ranker);
}
const Ranker* Engine::ranker() const { return parts_->ranker.get(); }

const DeepModel* Engine::deep() const {
  return parts_->deep != nullptr ? parts_->deep->model() : nullptr;
}
DeepService* Engine::deep_service() const { return parts_->deep.get(); }
const DeepOptions& Engine::deep_options() const { return parts_->deep_options; }
std::span<const OfferSourceFactory> Engine::offer_sources() const { return parts_->offer_sources; }
const model::LanguageModel* Engine::network() const { return parts_->network; }
const text::Tokenizer* Engine::tokenizer() const { return parts_->tokenizer.get(); }
const model::NgramModel* Engine::ngrams() const { return parts_->ngrams; }
const PieceIndex& Engine::index() const { return *parts_->index; }
const Mixing& Engine::mixing() const { return parts_->mixing; }
model::Threads Engine::threads() const { return parts_->threads; }

std::size_t Engine::weights_bytes() const {
  return (parts_->network != nullptr ? parts_->network->weights_bytes() : 0) +
         (parts_->ngrams != nullptr ? parts_->ngrams->size_bytes() : 0) +
         (deep() != nullptr ? deep()->weights_bytes() : 0);
}

}  // namespace laya::predict
