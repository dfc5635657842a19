#include "predict/pinyin/pinyin_network.h"

#include <algorithm>
#include <array>

#include "text/tokenizer.h"

namespace laya::predict {
namespace {

constexpr std::size_t kTable = 2 * PinyinNetwork::kMaxNodes;

// Context is cut at every 64th token only, so that a text which grows is not read again at each
// word.
constexpr std::size_t kCutTokens = 64;

std::size_t place_of(PinyinNetwork::Node parent, TokenId token) {
  // Fibonacci hashing (Knuth 1998, section 6.4) of both numbers; the product's upper bits are the
  // mixed ones.
  constexpr int kUnmixedBits = 40;
  const std::uint64_t key = (std::uint64_t{parent} << 32) | token;
  return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> kUnmixedBits) % kTable;
}

Status not_cancelled(const base::CancelFlag* cancel) {
  if (cancel != nullptr && cancel->cancelled()) {
    return Error{ErrorCode::Cancelled, "pinyin network: cancelled"};
  }
  return {};
}

}  // namespace

PinyinNetwork::PinyinNetwork(const Engine& engine)
    : network_(engine.network()),
      tokenizer_(engine.tokenizer()),
      workspace_(network_->make_workspace(engine.threads())),
      table_(kTable),
      states_(kStates, model::State(network_->config())),
      slots_(kStates),
      hidden_(model::kMaxColumns * network_->config().embedding_dim) {
  nodes_.reserve(kMaxNodes);
  missing_.reserve(kMaxWanted);
  nodes_.push_back({0, 0, 0, 0, false});
}

void PinyinNetwork::clear() {
  const Entry root = nodes_[kRoot];
  nodes_.clear();
  nodes_.push_back(root);
  std::fill(table_.begin(), table_.end(), 0U);
  std::fill(slots_.begin(), slots_.end(), Slot{});
}

void PinyinNetwork::enter(Node node) {
  std::size_t at = place_of(nodes_[node].parent, nodes_[node].token);
  while (table_[at] != 0) {
    at = (at + 1) % kTable;
  }
  table_[at] = node + 1;
}

void PinyinNetwork::keep_only(std::span<Node> kept) {
  nodes_[kRoot].is_kept = true;
  for (Node node : kept) {
    for (; !nodes_[node].is_kept; node = nodes_[node].parent) {
      nodes_[node].is_kept = true;
    }
  }
  // A parent is named before its children, so it has its new number before they ask for it. The
  // table holds the new numbers meanwhile: it is made anew in any case.
  Node count = 0;
  for (Node old = 0; old < nodes_.size(); ++old) {
    Entry entry = nodes_[old];
    if (!entry.is_kept) {
      if (entry.state != kNone) {
        slots_[entry.state] = {};
      }
      continue;
    }
    entry.is_kept = false;
    entry.parent = table_[entry.parent];
    if (old == kRoot) {
      entry.parent = kRoot;
    } else if (entry.state != kNone) {
      slots_[entry.state].node = count;
    }
    table_[old] = count;
    nodes_[count++] = entry;
  }
  for (Node& node : kept) {
    node = table_[node];
  }
  nodes_.resize(count);
  std::fill(table_.begin(), table_.end(), 0U);
  for (Node node = kRoot + 1; node < count; ++node) {
    enter(node);
  }
}

Status PinyinNetwork::set_context(std::string_view before, const base::CancelFlag* cancel) {
  clear();
  wanted_context_.clear();
  tokenizer_->encode(before, wanted_context_);
  if (wanted_context_.size() > kContextTokens) {
    const std::size_t over =
        (wanted_context_.size() - kContextTokens + kCutTokens - 1) / kCutTokens * kCutTokens;
    wanted_context_.erase(wanted_context_.begin(),
                          wanted_context_.begin() + static_cast<std::ptrdiff_t>(over));
  }
  const bool goes_on = started_ && context_.size() <= wanted_context_.size() &&
                       std::equal(context_.begin(), context_.end(), wanted_context_.begin());
  model::State& state = states_[0];
  std::size_t read = goes_on ? context_.size() : 0;
  started_ = false;
  if (!goes_on) {
    state.reset();
    if (auto done = network_->advance(*workspace_, state, tokenizer_->vocabulary().begin_id());
        !done) {
      return done;
    }
  }
  for (; read < wanted_context_.size(); ++read) {
    if (auto done = not_cancelled(cancel); !done) {
      return done;
    }
    if (auto done = network_->advance(*workspace_, state, wanted_context_[read]); !done) {
      return done;
    }
  }
  context_ = wanted_context_;
  started_ = true;
  return network_->log_normalizers(*workspace_, state.output(), 1,
                                   std::span(&nodes_[kRoot].log_z, 1));
}

PinyinNetwork::Node PinyinNetwork::child(Node parent, TokenId token) {
  std::size_t at = place_of(parent, token);
  for (; table_[at] != 0; at = (at + 1) % kTable) {
    const Entry& entry = nodes_[table_[at] - 1];
    if (entry.parent == parent && entry.token == token) {
      return table_[at] - 1;
    }
  }
  if (nodes_.size() == kMaxNodes) {
    return kRoot;
  }
  nodes_.push_back({parent, token, 0, kNone, false});
  table_[at] = static_cast<std::uint32_t>(nodes_.size());
  return table_[at] - 1;
}

std::uint16_t PinyinNetwork::free_slot() {
  // The next one in turn that this round does not need: nearly the one used longest ago, and no
  // search. kMaxWanted leaves enough of them.
  for (;;) {
    const std::uint16_t slot = next_slot_;
    next_slot_ = static_cast<std::uint16_t>(next_slot_ + 1 == kStates ? 1 : next_slot_ + 1);
    if (slots_[slot].node == 0 || slots_[slot].used != round_) {
      if (slots_[slot].node != 0) {
        nodes_[slots_[slot].node].state = kNone;
      }
      return slot;
    }
  }
}

Status PinyinNetwork::pass(std::span<const Node> nodes) {
  std::array<model::State*, model::kMaxColumns> states{};
  std::array<TokenId, model::kMaxColumns> tokens{};
  std::array<float, model::kMaxColumns> log_z{};
  std::array<std::uint16_t, model::kMaxColumns> slots{};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Entry& entry = nodes_[nodes[i]];
    slots[i] = free_slot();
    slots_[slots[i]] = {nodes[i], round_};
    states[i] = &states_[slots[i]];
    tokens[i] = entry.token;
    if (auto done = states[i]->copy_from(states_[nodes_[entry.parent].state]); !done) {
      return done;
    }
  }
  const std::size_t width = network_->config().embedding_dim;
  const std::span<float> hidden = std::span(hidden_).first(nodes.size() * width);
  auto done = network_->advance(*workspace_, std::span(states.data(), nodes.size()),
                                std::span<const TokenId>(tokens.data(), nodes.size()), hidden);
  if (done) {
    done = network_->log_normalizers(*workspace_, hidden, nodes.size(),
                                     std::span(log_z).first(nodes.size()));
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!done) {
      slots_[slots[i]] = {};
      continue;
    }
    nodes_[nodes[i]].state = slots[i];
    nodes_[nodes[i]].log_z = log_z[i];
  }
  ++passes_;
  columns_ += nodes.size();
  return done;
}

std::size_t PinyinNetwork::missing_above(Node node, std::size_t most) const {
  std::size_t missing = 0;
  for (; missing < most && !is_computed(node); node = nodes_[node].parent) {
    ++missing;
  }
  return missing;
}

Status PinyinNetwork::reach(Node node, const base::CancelFlag* cancel) {
  // Down from the state that is there, a stretch at a time: compute() takes so many at once.
  while (!is_computed(node)) {
    const std::size_t missing = missing_above(node, nodes_.size());
    Node target = node;
    for (std::size_t up = kMaxWanted; up < missing; ++up) {
      target = nodes_[target].parent;
    }
    if (auto done = compute(std::span(&target, 1), cancel); !done) {
      return done;
    }
  }
  return {};
}

Status PinyinNetwork::compute(std::span<const Node> wanted, const base::CancelFlag* cancel) {
  ++round_;
  missing_.clear();
  for (Node node : wanted) {
    for (; !is_computed(node); node = nodes_[node].parent) {
      if (std::find(missing_.begin(), missing_.end(), node) == missing_.end()) {
        if (missing_.size() == kMaxWanted) {
          return Error{ErrorCode::TooLarge, "pinyin network: too many nodes at once"};
        }
        missing_.push_back(node);
      }
    }
    if (node != kRoot) {
      touch(node);
    }
  }
  while (!missing_.empty()) {
    if (auto done = not_cancelled(cancel); !done) {
      return done;
    }
    // Those whose parents are there, as many as one pass takes.
    const auto ready_end = std::partition(missing_.begin(), missing_.end(), [&](Node node) {
      return is_computed(nodes_[node].parent);
    });
    const auto ready = static_cast<std::size_t>(ready_end - missing_.begin());
    const std::size_t count = std::min(ready, model::kMaxColumns);
    if (count == 0) {
      return Error{ErrorCode::Internal, "pinyin network: a node's parent has no state"};
    }
    if (auto done = pass(std::span(missing_).first(count)); !done) {
      return done;
    }
    missing_.erase(missing_.begin(), missing_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return {};
}

Result<float> PinyinNetwork::log_prob(Node node, TokenId token) {
  if (token == kNoToken) {
    return kUnknownLog;
  }
  float logit = 0;
  const model::State& state = states_[nodes_[node].state];
  if (auto done = network_->logits_rows(*workspace_, state.output(), 1, std::span(&token, 1),
                                        std::span(&logit, 1));
      !done) {
    return done.error();
  }
  return logit - nodes_[node].log_z;
}

}  // namespace laya::predict
