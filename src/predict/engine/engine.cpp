#include "predict/engine/engine.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "model/decoder/decoder.h"
#include "model/ngram/ngram.h"
#include "predict/deep/deep_model.h"
#include "predict/engine/deep_service.h"
#include "predict/engine/workbench_pool.h"
#include "predict/list/ranker.h"
#include "predict/source/block_list.h"
#include "predict/source/piece_index.h"
#include "text/subword_tokenizer.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace laya::predict {
namespace {

Status check_parts(const EngineParts& parts, const EngineOptions& options) {
  if (options.threads != 1 && options.threads != 2) {
    return Error{ErrorCode::BadArgument,
                 "engine: threads is " + std::to_string(options.threads) + "; must be 1 or 2"};
  }
  if ((parts.network == nullptr) != (parts.tokenizer == nullptr) ||
      (parts.network == nullptr && parts.ngrams == nullptr)) {
    return Error{ErrorCode::BadArgument,
                 "engine: needs a network with its vocabulary, an n-gram table, or both"};
  }
  if (parts.network != nullptr) {
    const std::size_t rows = parts.network->config().vocabulary_size;
    const std::size_t pieces = parts.tokenizer->vocabulary().size();
    if (pieces != rows) {
      return Error{ErrorCode::Corrupt, "engine: the vocabulary has " + std::to_string(pieces) +
                                           " pieces, the network " + std::to_string(rows)};
    }
  }
  return {};
}

Result<std::unique_ptr<DeepModel>> open_deep(const std::string& path, std::size_t limit_mb,
                                             const PieceIndex& index,
                                             const model::NgramModel* ngrams,
                                             const DeepOptions& options,
                                             const model::Backend& backend) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) {
    return Error{ErrorCode::Io, path + ": " + error.message()};
  }
  const auto bytes = static_cast<std::size_t>(size);
  if (auto fits = check_deep_memory(limit_mb, path, bytes, 0); !fits) {
    return fits.error();  // before any of it is read
  }
  auto model = DeepModel::open(path, index, ngrams, backend);
  if (model) {
    if (auto fits = check_deep_memory(limit_mb, path, bytes, deep_session_bytes(**model, options));
        !fits) {
      return fits.error();
    }
  }
  return model;
}

// The workers' threads and the decoder's.
std::size_t benches_for(std::size_t wanted) {
  return wanted > 0 ? wanted : std::max(1U, std::thread::hardware_concurrency()) + 1;
}

}  // namespace

struct Engine::Parts {
  EngineParts given;
  DeepOptions deep_options;
  Mixing mixing;
  model::Threads threads;
  // Order matters: what is below views what is above.
  PieceIndex index;
  std::unique_ptr<WorkbenchPool> workbenches;
  std::unique_ptr<DeepService> deep;  // last: its thread looks at the rest

  Parts(EngineParts parts, const EngineOptions& options)
      : given(std::move(parts)),
        deep_options(options.deep),
        mixing(options.mixing != nullptr ? *options.mixing : shipped_mixing()),
        threads(options.threads == 2 ? model::Threads::Two : model::Threads::One),
        index(given.tokenizer ? &given.tokenizer->vocabulary() : nullptr, given.ngrams.get()) {}
};

Engine::Engine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Engine::~Engine() = default;

Result<std::shared_ptr<const Engine>> Engine::open(const EnginePaths& paths,
                                                   const EngineOptions& options) {
  auto parts = open_parts(paths, options.backend);
  if (!parts) {
    return parts.error();
  }
  return build(std::move(*parts), options);
}

Result<std::shared_ptr<const Engine>> Engine::build(EngineParts given,
                                                    const EngineOptions& options) {
  if (auto fits = check_parts(given, options); !fits) {
    return fits.error();
  }
  const std::shared_ptr<Engine> engine(
      new Engine(std::make_unique<Parts>(std::move(given), options)));
  Parts& parts = *engine->parts_;
  parts.workbenches = std::make_unique<WorkbenchPool>(*engine, benches_for(options.workbenches),
                                                      options.parked_states_mb * 1'000'000);

  DeepService::Loader loader;
  if (parts.given.decoder != nullptr) {
    auto deep = DeepModel::from_parts(std::move(parts.given.decoder),
                                      std::move(parts.given.decoder_tokenizer), parts.index,
                                      parts.given.ngrams.get());
    if (!deep) {
      return deep.error();
    }
    // A std::function can be copied, a model can not: it is handed over in a shared box.
    auto box = std::make_shared<std::unique_ptr<DeepModel>>(std::move(*deep));
    loader = [box]() -> Result<std::unique_ptr<DeepModel>> { return std::move(*box); };
  } else if (!parts.given.deep_path.empty()) {
    loader = [&parts, limit = options.deep_memory_mb] {
      return open_deep(parts.given.deep_path, limit, parts.index, parts.given.ngrams.get(),
                       parts.deep_options, parts.given.decoder_backend);
    };
  }
  if (loader) {
    parts.deep = std::make_unique<DeepService>(std::move(loader), *engine, options.deep_turns);
    if (options.deep_loading == DeepLoading::Now) {
      if (auto loaded = parts.deep->load(); !loaded) {
        return loaded.error();
      }
    }
  }
  return std::shared_ptr<const Engine>(engine);
}

const model::LanguageModel* Engine::network() const { return parts_->given.network.get(); }
const text::Tokenizer* Engine::tokenizer() const { return parts_->given.tokenizer.get(); }
const model::NgramModel* Engine::ngrams() const { return parts_->given.ngrams.get(); }
const DeepModel* Engine::deep() const {
  return parts_->deep != nullptr ? parts_->deep->model() : nullptr;
}
DeepService* Engine::deep_service() const { return parts_->deep.get(); }
const DeepOptions& Engine::deep_options() const { return parts_->deep_options; }
std::span<const OfferSourceFactory> Engine::offer_sources() const {
  return parts_->given.offer_sources;
}
const Ranker* Engine::ranker() const { return parts_->given.ranker.get(); }
const BlockList* Engine::block_list() const { return parts_->given.block_list.get(); }
const PieceIndex& Engine::index() const { return parts_->index; }
const Mixing& Engine::mixing() const { return parts_->mixing; }
model::Threads Engine::threads() const { return parts_->threads; }
WorkbenchPool& Engine::workbenches() const { return *parts_->workbenches; }

std::size_t Engine::weights_bytes() const {
  return (network() != nullptr ? network()->weights_bytes() : 0) +
         (ngrams() != nullptr ? ngrams()->size_bytes() : 0) +
         (deep() != nullptr ? deep()->weights_bytes() : 0);
}

}  // namespace laya::predict
