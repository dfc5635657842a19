#include "predict/deep/sentence_scorer.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "base/utf8_boundary.h"

namespace laya::predict {
namespace {

constexpr model::KvNodeId kNotComputed = model::kRoot - 1;
// Of the context's bytes: more than kContextTokens tokens ever spell in ordinary text.
constexpr std::size_t kContextBytes = 8 * SentenceScorer::kContextTokens;

}  // namespace

std::vector<TokenId> text_beginning(const text::SubwordTokenizer& tokenizer) {
  if (tokenizer.add_bos() && tokenizer.bos() != kNoToken) {
    return {tokenizer.bos()};
  }
  return tokenizer.encode("\n", text::TextPosition::Rest);
}

SentenceScorer::SentenceScorer(const model::Decoder& decoder,
                               const text::SubwordTokenizer& tokenizer,
                               const SentenceScorerOptions& options)
    : decoder_(&decoder),
      tokenizer_(&tokenizer),
      prefixes_(options.prefixes),
      workspace_(decoder.make_workspace(options.threads)),
      cache_(decoder.config(), options.keys_and_values),
      root_hidden_(decoder.config().hidden_dim),
      hidden_(model::kMaxColumns * decoder.config().hidden_dim) {}

Status SentenceScorer::set_context(std::string_view before, const base::CancelFlag* cancel) {
  cache_.clear_tree();
  // The front is dropped in steps, so that a text that grows keeps most of what was computed.
  if (before.size() > kContextBytes) {
    const std::size_t cut =
        (before.size() - kContextBytes) / (kContextBytes / 2) * (kContextBytes / 2);
    before.remove_prefix(base::boundary_from(before, cut));
  }
  const std::size_t closed = tokenizer_->closed_bytes(before);
  tail_.assign(before.substr(closed));
  wanted_ = text_beginning(*tokenizer_);
  tokenizer_->encode(before.substr(0, closed), wanted_, nullptr, text::TextPosition::Start,
                     &scratch_);
  const std::size_t most = std::min<std::size_t>(
      kContextTokens + kContextTokens / 2,
      std::min<std::size_t>(cache_.options().capacity_tokens, decoder_->config().max_context / 2));
  if (wanted_.size() > most) {
    const auto gone = static_cast<std::ptrdiff_t>((wanted_.size() - most + most / 2 - 1) /
                                                  std::max<std::size_t>(1, most / 2) *
                                                  std::max<std::size_t>(1, most / 2));
    wanted_.erase(
        wanted_.begin() + 1,
        wanted_.begin() + 1 +
            std::min<std::ptrdiff_t>(gone, static_cast<std::ptrdiff_t>(wanted_.size()) - 2));
  }
  const auto [have, want] =
      std::mismatch(held_.begin(), held_.end(), wanted_.begin(), wanted_.end());
  auto common = static_cast<std::size_t>(want - wanted_.begin());
  if (common == held_.size() && common == wanted_.size() && root_known_) {
    return {};
  }
  // The last token is always read anew: its vector is what the candidates start from.
  common = cache_.truncate(std::min(common, wanted_.size() - 1));
  held_.resize(common);
  root_known_ = false;
  if (prefixes_ != nullptr && common == 0) {
    common = prefixes_->restore(std::span(wanted_).first(wanted_.size() - 1), cache_);
    held_.assign(wanted_.begin(), wanted_.begin() + static_cast<std::ptrdiff_t>(common));
  }
  if (auto read = decoder_->prefill(*workspace_, cache_, std::span(wanted_).subspan(common),
                                    root_hidden_, cancel);
      !read) {
    held_.resize(std::min(held_.size(), cache_.length()));
    return read;
  }
  held_ = wanted_;
  root_known_ = true;
  if (prefixes_ != nullptr) {
    prefixes_->store(held_, cache_);
  }
  return {};
}

Status SentenceScorer::score(std::span<const std::string_view> candidates,
                             std::span<float> log_probs, const base::CancelFlag* cancel) {
  passes_ = columns_ = 0;
  if (candidates.size() != log_probs.size()) {
    return Error{ErrorCode::BadArgument, "sentence scorer: a score for each candidate"};
  }
  if (!root_known_) {
    if (auto begun = set_context({}, cancel); !begun) {
      return begun;
    }
  }
  const std::size_t room = cache_.options().tree_nodes;
  std::size_t next = 0;
  while (next < candidates.size()) {
    trie_.clear();
    paths_.clear();
    for (; next < candidates.size(); ++next) {
      text_.assign(tail_).append(candidates[next]);
      ids_.clear();
      const auto position =
          held_.size() == 1 ? text::TextPosition::Start : text::TextPosition::Rest;
      tokenizer_->encode(text_, ids_, nullptr, position, &scratch_);
      if (!paths_.empty() && trie_.size() + ids_.size() > room) {
        break;  // the rest in another round
      }
      if (ids_.size() > room + 1) {
        return Error{ErrorCode::TooLarge, "sentence scorer: a candidate has " +
                                              std::to_string(ids_.size()) + " tokens; " +
                                              std::to_string(room) + " fit"};
      }
      paths_.push_back({trie_.add_path(TokenTrie::kTop, ids_), next});
    }
    if (auto done = score_trie(log_probs, cancel); !done) {
      return done;
    }
  }
  return {};
}

Status SentenceScorer::score_trie(std::span<float> log_probs, const base::CancelFlag* cancel) {
  const std::size_t width = decoder_->config().hidden_dim;
  node_log_prob_.assign(trie_.size(), 0);
  place_.assign(trie_.size(), kNotComputed);
  cache_.clear_tree();

  // ln p of all children of the nodes whose vectors lie in `hidden`.
  const auto spread = [&](std::span<const std::int32_t> parents,
                          std::span<const float> hidden) -> Status {
    std::array<float, model::kMaxColumns> log_z;
    if (auto known = decoder_->log_normalizers(*workspace_, hidden, parents.size(),
                                               std::span(log_z).first(parents.size()));
        !known) {
      return known;
    }
    for (std::size_t i = 0; i < parents.size(); ++i) {
      rows_.clear();
      children_.clear();
      for (std::int32_t child = trie_.first_child(parents[i]); child != TokenTrie::kNone;
           child = trie_[child].next_sibling) {
        rows_.push_back(trie_[child].token);
        children_.push_back(child);
      }
      logits_.resize(std::max(logits_.size(), rows_.size()));
      const std::span<float> logits = std::span(logits_).first(rows_.size());
      if (auto known = decoder_->logits_rows(*workspace_, hidden.subspan(i * width, width), 1,
                                             rows_, logits);
          !known) {
        return known;
      }
      const float before =
          parents[i] == TokenTrie::kTop ? 0 : node_log_prob_[static_cast<std::size_t>(parents[i])];
      for (std::size_t c = 0; c < children_.size(); ++c) {
        node_log_prob_[static_cast<std::size_t>(children_[c])] = before + logits[c] - log_z[i];
      }
    }
    return {};
  };

  if (trie_.size() > 0) {
    const std::int32_t top = TokenTrie::kTop;
    if (auto done = spread(std::span(&top, 1), root_hidden_); !done) {
      return done;
    }
  }
  // Parents have smaller numbers than their children, so the order of numbers is an order of
  // passes.
  std::array<std::int32_t, model::kMaxColumns> nodes;
  std::array<model::Column, model::kMaxColumns> columns;
  std::size_t at = 0;
  while (at < trie_.size()) {
    std::size_t count = 0;
    const auto first_new = static_cast<model::KvNodeId>(cache_.node_count());
    for (; at < trie_.size() && count < model::kMaxColumns; ++at) {
      const TokenTrie::Node& node = trie_[static_cast<std::int32_t>(at)];
      if (node.first_child == TokenTrie::kNone) {
        continue;  // a leaf: nothing is asked behind it
      }
      columns[count] = {node.parent == TokenTrie::kTop
                            ? model::kRoot
                            : place_[static_cast<std::size_t>(node.parent)],
                        node.token};
      place_[at] = first_new + static_cast<model::KvNodeId>(count);
      nodes[count] = static_cast<std::int32_t>(at);
      ++count;
    }
    if (count == 0) {
      break;
    }
    const std::span<float> hidden(hidden_.data(), count * width);
    if (auto grown =
            decoder_->grow(*workspace_, cache_, std::span(columns.data(), count), hidden, cancel);
        !grown) {
      return grown;
    }
    ++passes_;
    columns_ += count;
    if (auto done = spread(std::span(nodes.data(), count), hidden); !done) {
      return done;
    }
  }
  cache_.clear_tree();
  for (const Path& path : paths_) {
    log_probs[path.candidate] =
        path.leaf == TokenTrie::kTop ? 0 : node_log_prob_[static_cast<std::size_t>(path.leaf)];
  }
  return {};
}

}  // namespace laya::predict
