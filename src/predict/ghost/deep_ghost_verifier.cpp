#include "predict/ghost/deep_ghost_verifier.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "model/gru/language_model.h"
#include "predict/source/softmax.h"

namespace laya::predict {
namespace {

constexpr std::size_t kMostTokens = 64;

}  // namespace

std::size_t largest(std::span<const float> values) {
  // Blocks first, so that the compiler makes vectors of the maximum; then the block that holds it.
  constexpr std::size_t kBlock = 256;
  std::size_t best_block = 0;
  float best = -std::numeric_limits<float>::infinity();
  for (std::size_t begin = 0; begin < values.size(); begin += kBlock) {
    const std::size_t end = std::min(values.size(), begin + kBlock);
    std::array<float, 16> lanes;
    lanes.fill(-std::numeric_limits<float>::infinity());
    std::size_t i = begin;
    for (; i + lanes.size() <= end; i += lanes.size()) {
      for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        lanes[lane] = values[i + lane] > lanes[lane] ? values[i + lane] : lanes[lane];
      }
    }
    float block = *std::max_element(lanes.begin(), lanes.end());
    for (; i < end; ++i) {
      block = values[i] > block ? values[i] : block;
    }
    if (block > best) {
      best = block;
      best_block = begin;
    }
  }
  std::size_t at = best_block;
  while (at < values.size() && values[at] != best) {
    ++at;
  }
  return at < values.size() ? at : 0;
}

float TokenRow::log_prob(TokenId token) const {
  return probs_ ? std::log(std::max(values_[token], 1e-30F)) : values_[token] - log_z_;
}

float TokenRow::mass(std::span<const TokenId> tokens) const {
  float sum = 0;
  if (probs_) {
    for (const TokenId token : tokens) {
      sum += values_[token];
    }
  } else {
    for (const TokenId token : tokens) {
      sum += exp_below_zero(values_[token] - log_z_);
    }
  }
  return std::min(sum, 1.0F);
}

TokenId TokenRow::best() const { return static_cast<TokenId>(largest(values_)); }

DraftVerifier::DraftVerifier(const model::Decoder& decoder)
    : decoder_(&decoder),
      hidden_(model::kMaxColumns * decoder.config().hidden_dim),
      logits_(model::kMaxColumns * decoder.config().vocabulary_size) {
  drafts_.reserve(4 * model::kMaxColumns);
  tokens_.reserve(kMostTokens);
  log_probs_.reserve(kMostTokens);
}

bool DraftVerifier::take(GhostGuide& guide, TokenId token, float log_prob) {
  if (!guide.accept(tokens_, token, log_prob)) {
    return false;
  }
  tokens_.push_back(token);
  log_probs_.push_back(log_prob);
  return true;
}

// Reads tokens whose nodes are there. False: the phrase is over.
bool DraftVerifier::use_known(GhostGuide& guide, const Request& request, std::size_t most) {
  while (request.known != nullptr && read_ < tokens_.size()) {
    const KnownNodes::Known known = request.known->find(node_, tokens_[read_]);
    if (known.probs.empty()) {
      return true;
    }
    node_ = known.node;
    ++read_;
    const TokenRow row = TokenRow::of_probs(known.probs);
    guide.read(std::span(tokens_).first(read_), row);
    if (read_ < tokens_.size()) {
      log_probs_[read_] = row.log_prob(tokens_[read_]);
      continue;
    }
    const TokenId next = row.best();
    if (tokens_.size() == most || !take(guide, next, row.log_prob(next))) {
      return false;
    }
  }
  return true;
}

// All columns of a pass teach, wrong guesses too: `unread` tokens of the phrase, then the drafts.
void DraftVerifier::teach(GhostGuide& guide, std::size_t unread, std::size_t count) {
  std::array<TokenId, GhostGuide::kPath> path;
  for (std::size_t i = 0; i < count; ++i) {
    const auto phrase = std::span<const TokenId>(tokens_).first(read_ + std::min(i + 1, unread));
    const auto node = i < unread ? TokenTrie::kTop : static_cast<std::int32_t>(i - unread);
    guide.learn(drafts_.last_tokens(phrase, node, path), best_[i]);
  }
}

Status DraftVerifier::run(model::Workspace& workspace, model::KvCache& cache, GhostGuide& guide,
                          const Request& request) {
  const std::size_t vocabulary = decoder_->config().vocabulary_size;
  const std::size_t width = decoder_->config().hidden_dim;
  tokens_.clear();
  log_probs_.clear();
  read_ = passes_ = columns_ = drafted_ = agreed_ = 0;
  node_ = model::kRoot;
  if (request.root_probs.size() != vocabulary ||
      request.given.size() + request.max_tokens > kMostTokens) {
    return Error{ErrorCode::BadArgument, "ghost: root_probs or max_tokens do not fit"};
  }
  const std::size_t most = request.given.size() + request.max_tokens;
  const auto root_log = [&](TokenId token) { return std::log(request.root_probs[token]); };
  for (const TokenId token : request.given) {
    if (token >= vocabulary) {
      return Error{ErrorCode::BadArgument, "ghost: a given token is outside the vocabulary"};
    }
    tokens_.push_back(token);
    log_probs_.push_back(tokens_.size() == 1 ? root_log(token) : 0);
  }
  if (tokens_.empty()) {
    const auto first = static_cast<TokenId>(largest(request.root_probs));
    if (most == 0 || !take(guide, first, root_log(first))) {
      return {};
    }
  }

  if (!use_known(guide, request, most)) {
    return {};
  }
  while (tokens_.size() < most) {
    // The tokens that are known but not read, then the guesses behind them.
    const std::size_t unread = std::min(tokens_.size() - read_, model::kMaxColumns);
    const std::size_t room =
        std::min<std::size_t>(model::kMaxColumns, cache.options().tree_nodes - cache.node_count());
    if (room < unread) {
      return {};  // the tree is full: what is there must do
    }
    drafts_.clear();
    if (read_ + unread == tokens_.size() && room > unread && most - tokens_.size() > 1) {
      guide.draft(tokens_, room - unread, drafts_);
    }
    const std::size_t guesses = std::min(drafts_.size(), room - unread);
    const auto first_new = static_cast<model::KvNodeId>(cache.node_count());
    std::array<model::Column, model::kMaxColumns> columns;
    for (std::size_t i = 0; i < unread; ++i) {
      columns[i] = {i == 0 ? node_ : first_new + static_cast<model::KvNodeId>(i) - 1,
                    tokens_[read_ + i]};
    }
    const model::KvNodeId first_guess = first_new + static_cast<model::KvNodeId>(unread);
    for (std::size_t i = 0; i < guesses; ++i) {
      const TokenTrie::Node& guess = drafts_[static_cast<std::int32_t>(i)];
      columns[unread + i] = {
          guess.parent == TokenTrie::kTop ? first_guess - 1 : first_guess + guess.parent,
          guess.token};
    }
    const std::size_t count = unread + guesses;
    const std::span<float> hidden(hidden_.data(), count * width);
    if (auto grown = decoder_->grow(workspace, cache, std::span(columns.data(), count), hidden,
                                    request.cancel);
        !grown) {
      return grown;
    }
    ++passes_;
    columns_ += count;
    drafted_ += guesses;
    if (auto done = decoder_->logits(workspace, hidden, count,
                                     std::span(logits_.data(), count * vocabulary));
        !done) {
      return done;
    }

    for (std::size_t i = 0; i < count; ++i) {
      best_[i] =
          static_cast<TokenId>(largest(std::span(logits_).subspan(i * vocabulary, vocabulary)));
    }
    teach(guide, unread, count);

    // Down the path: the given tokens first, then as far as guess and decoder agree.
    std::size_t column = 0;
    while (true) {
      const std::span<const float> logits(logits_.data() + column * vocabulary, vocabulary);
      const float log_z = model::log_sum_exp(logits);
      const TokenRow row = TokenRow::of_logits(logits, log_z);
      node_ = first_new + static_cast<model::KvNodeId>(column);
      ++read_;
      guide.read(std::span(tokens_).first(read_), row);
      if (read_ < tokens_.size()) {
        log_probs_[read_] = row.log_prob(tokens_[read_]);
        if (column + 1 == unread) {
          break;  // more given tokens than columns: the next pass reads on
        }
        ++column;
        continue;
      }
      const TokenId next = best_[column];
      if (tokens_.size() == most || !take(guide, next, row.log_prob(next))) {
        return {};
      }
      const std::int32_t parent =
          column < unread ? TokenTrie::kTop : static_cast<std::int32_t>(column - unread);
      const std::int32_t agreed = drafts_.find(parent, next);
      if (agreed == TokenTrie::kNone || static_cast<std::size_t>(agreed) >= guesses) {
        break;
      }
      ++agreed_;
      column = unread + static_cast<std::size_t>(agreed);
    }
  }
  return {};
}

}  // namespace laya::predict
