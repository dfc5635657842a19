#include "predict/engine/deep_service.h"

#include <utility>

#include "model/decoder/decoder.h"
#include "predict/deep/deep_index.h"
#include "predict/deep/deep_opening.h"
#include "predict/deep/deep_tree.h"
#include "predict/engine/deep_turns.h"
#include "predict/engine/engine.h"
#include "text/subword_tokenizer.h"

namespace laya::predict {
namespace {

std::string megabytes(std::size_t bytes) { return std::to_string((bytes + 999'999) / 1'000'000); }

}  // namespace

Status check_deep_memory(std::size_t limit_mb, const std::string& name, std::size_t weights_bytes,
                         std::size_t session_bytes) {
  const std::size_t limit = limit_mb * 1'000'000;
  if (weights_bytes > limit || session_bytes > limit - weights_bytes) {
    return Error{ErrorCode::TooLarge, name + ": needs " + megabytes(weights_bytes + session_bytes) +
                                          " MB, deep_memory_mb is " + std::to_string(limit_mb) +
                                          "; raise it or choose a smaller model (laya model list)"};
  }
  return {};
}

std::size_t deep_session_bytes(const DeepModel& model, const DeepOptions& options) {
  const model::DecoderConfig& config = model.decoder().config();
  const std::size_t token = std::size_t{config.layers} * config.kv_dim() * 2 * 2;  // fp16
  return (options.context_tokens * 3 / 2 + model::KvOptions{}.tree_nodes) * token +
         DeepTree::kMaxNodes * std::size_t{config.vocabulary_size} * sizeof(float) +
         options.prefix_mb * 1'000'000;
}

// Nobody but the line holds it; the service outlives its line.
struct DeepService::Load : DeepWork {
  explicit Load(DeepService& s) : service(&s) {}
  void run(const base::CancelFlag&) override {
    [[maybe_unused]] const Status done = service->load();  // failure() tells
  }
  DeepService* service;
};

// The memory of phrases is the worker's: it is wiped there.
struct DeepService::ForgetSaid : DeepWork {
  explicit ForgetSaid(DeepService& s) : service(&s) {}
  void run(const base::CancelFlag&) override { service->ghost().forget_said(); }
  DeepService* service;
};

void DeepService::forget(SessionId session) {
  if (model() == nullptr) {
    return;
  }
  turns_->forget(session);
  const std::lock_guard lock(sending_);
  line_.take();  // the load, which is done, or an earlier one of these
  line_.submit(std::make_unique<ForgetSaid>(*this));
}

DeepService::DeepService(Loader loader, const Engine& engine, std::size_t most_turns)
    : loader_(std::move(loader)), engine_(&engine), most_turns_(most_turns) {}

DeepService::~DeepService() = default;

void DeepService::request() {
  if (!requested_.exchange(true) && model() == nullptr) {
    const std::lock_guard lock(sending_);
    line_.submit(std::make_unique<Load>(*this));
  }
}

Status DeepService::load() {
  const std::lock_guard loading(loading_);
  if (loader_) {
    const Loader loader = std::exchange(loader_, nullptr);
    auto model = loader();
    if (model) {
      model_ = std::move(*model);
      ghost_ =
          std::make_unique<DeepGhost>(model_->decoder(), model_->tokenizer(), engine_->network());
      turns_ = std::make_unique<DeepTurns>(*engine_, *this, most_turns_);
      read_openings();
      ready_.store(model_.get(), std::memory_order_release);
    } else {
      const std::lock_guard lock(mutex_);
      error_ = model.error();
    }
  }
  if (const auto error = failure()) {
    return *error;
  }
  return {};
}

// A few hundred tokens that stand before every text: read once, here, so that no key does.
void DeepService::read_openings() {
  const model::DecoderConfig& config = model_->decoder().config();
  const DeepOptions& options = engine_->deep_options();
  const DeepOpenings openings =
      deep_openings(model_->tokenizer(), options, model_->tables().knows_han());
  const model::KvOptions session{.capacity_tokens = deep_capacity_tokens(options, openings)};
  prefixes_ = std::make_unique<model::PrefixCache>(config, session, options.prefix_mb * 1'000'000);
  for (const std::vector<TokenId>* tokens : {&openings.latin, &openings.han}) {
    if (tokens->size() <= model::kMaxColumns ||
        (tokens == &openings.han && *tokens == openings.latin)) {
      continue;  // a pass at most
    }
    const auto workspace = model_->decoder().make_workspace(engine_->threads());
    model::KvCache cache(
        config, {.capacity_tokens = static_cast<std::uint32_t>(tokens->size()), .tree_nodes = 0});
    if (model_->decoder().prefill(*workspace, cache, *tokens, {})) {
      prefixes_->pin(*tokens, cache);  // else every session reads it for itself
    }
  }
}

std::optional<Error> DeepService::failure() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

}  // namespace laya::predict
