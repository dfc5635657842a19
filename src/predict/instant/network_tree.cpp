#include "predict/instant/network_tree.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "predict/source/source.h"

namespace laya::predict {

NetworkTree::NetworkTree(const model::LanguageModel& network, model::Threads threads)
    : network_(&network),
      workspace_(network.make_workspace(threads)),
      root_state_(network.config()),
      root_log_probs_(network.config().vocabulary_size),
      states_(kMaxNodes, model::State(network.config())),
      hidden_(model::kMaxColumns * network.config().embedding_dim),
      remembered_(kRemembered) {
  nodes_.resize(kMaxNodes);
}

void NetworkTree::clear() {
  used_ = 0;
  ready_ = false;
  ++generation_;
}

Status NetworkTree::set_root(const model::State& state) {
  clear();
  Status status = root_state_.copy_from(state);
  if (!status) {
    return status;
  }
  status = network_->logits(*workspace_, state.output(), 1, root_log_probs_);
  if (!status) {
    return status;
  }
  const float log_z = model::log_sum_exp(root_log_probs_);
  for (float& value : root_log_probs_) {
    value -= log_z;
  }
  ready_ = true;
  return {};
}

NodeId NetworkTree::find(NodeId parent, TokenId token) const {
  for (std::size_t i = 0; i < used_; ++i) {
    if (nodes_[i].parent == parent && nodes_[i].token == token) {
      return static_cast<NodeId>(i);
    }
  }
  return kNoNode;
}

Status NetworkTree::grow(std::span<const Growth> growths, std::span<float> log_probs) {
  const std::size_t count = growths.size();
  if (count == 0 || count > model::kMaxColumns || count > free_nodes() || !ready_) {
    return Error{ErrorCode::Internal,
                 "network tree: cannot grow by " + std::to_string(count) + " nodes"};
  }
  std::array<model::State*, model::kMaxColumns> states;
  std::array<TokenId, model::kMaxColumns> tokens;
  std::array<float, model::kMaxColumns> log_z;
  for (std::size_t i = 0; i < count; ++i) {
    model::State& state = states_[used_ + i];
    Status status = state.copy_from(this->state(growths[i].parent));
    if (!status) {
      return status;
    }
    states[i] = &state;
    tokens[i] = growths[i].token;
  }
  const std::size_t width = network_->config().embedding_dim;
  const std::span<float> hidden(hidden_.data(), count * width);
  Status status = network_->advance(*workspace_, std::span(states.data(), count),
                                    std::span<const TokenId>(tokens.data(), count), hidden);
  const std::size_t vocabulary = network_->config().vocabulary_size;
  if (status && log_probs.empty()) {
    status = network_->log_normalizers(*workspace_, hidden, count, std::span(log_z.data(), count));
  } else if (status) {
    status = network_->logits(*workspace_, hidden, count, log_probs.first(count * vocabulary));
    for (std::size_t i = 0; status && i < count; ++i) {
      const std::span<float> row = log_probs.subspan(i * vocabulary, vocabulary);
      log_z[i] = model::log_sum_exp(row);
      for (float& value : row) {
        value -= log_z[i];
      }
    }
  }
  if (!status) {
    return status;
  }
  ++passes_;
  for (std::size_t i = 0; i < count; ++i) {
    nodes_[used_ + i] = {growths[i].parent, growths[i].token, log_z[i], -1};
  }
  used_ += count;
  return {};
}

float NetworkTree::log_prob(NodeId node, TokenId token) {
  if (node == kRoot) {
    return root_log_probs_[token];
  }
  const std::size_t slot =
      (static_cast<std::size_t>(node) * 0x9E3779B1u + token * 0x85EBCA6Bu) % kRemembered;
  Remembered& memory = remembered_[slot];
  if (memory.generation == generation_ && memory.node == node && memory.token == token) {
    return memory.log_prob;
  }
  float logit = 0;
  const auto index = static_cast<std::size_t>(node);
  if (!network_->logits_rows(*workspace_, states_[index].output(), 1, std::span(&token, 1),
                             std::span(&logit, 1))) {
    return kImpossible;
  }
  memory = {generation_, node, token, logit - nodes_[index].log_z};
  return memory.log_prob;
}

float NetworkTree::sum_of(NodeId node, std::span<const TokenId> tokens) {
  Node& entry = nodes_[static_cast<std::size_t>(node)];
  if (entry.sum < 0) {
    sum_logits_.resize(tokens.size());  // the same size every time
    if (!network_->logits_rows(*workspace_, state(node).output(), 1, tokens, sum_logits_)) {
      return -1;
    }
    entry.sum = std::exp(std::min(0.0F, model::log_sum_exp(sum_logits_) - entry.log_z));
  }
  return entry.sum;
}

Status NetworkTree::successors(NodeId node, std::span<float> log_probs) {
  const Status status = network_->logits(*workspace_, state(node).output(), 1, log_probs);
  if (status) {
    const float log_z = nodes_[static_cast<std::size_t>(node)].log_z;
    for (float& value : log_probs) {
      value -= log_z;
    }
  }
  return status;
}

void NetworkTree::drop_from(NodeId first) {
  const auto kept = static_cast<std::size_t>(std::max<NodeId>(first, 0));
  if (kept < used_) {
    used_ = kept;
    ++generation_;  // what is remembered of dropped nodes must not be taken for their successors'
  }
}

}  // namespace laya::predict
