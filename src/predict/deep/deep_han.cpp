#include "predict/deep/deep_han.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace laya::predict {
namespace {

// log_after() answers only where this share of the word's mass was looked into.
constexpr float kKnownShare = 0.3F;

}  // namespace

void DeepHan::add(int node, std::string_view rest, float weight) {
  const std::span<const float> probs = paths_.tree->probs(node);
  for (const TokenId token : paths_.tokenizer->with_prefix(rest)) {
    const std::uint32_t han =
        rest.empty() ? paths_.index->first_han(token)
                     : paths_.index->han_at(paths_.tokenizer->bytes(token).substr(rest.size()));
    if (han != kNoGroup) {
      probs_[han] += weight * probs[token];
    }
  }
  if (rest.empty()) {
    return;
  }
  const std::span<const DeepTree::Node> nodes = paths_.tree->nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string_view bytes = paths_.tokenizer->bytes(nodes[i].token);
    if (nodes[i].parent == node && rest.starts_with(bytes)) {
      add(static_cast<int>(i), rest.substr(bytes.size()),
          weight * paths_.tree->probability(node, nodes[i].token));
    }
  }
}

void DeepHan::set_tail(std::string_view tail) {
  tail_.assign(tail);
  std::fill(probs_.begin(), probs_.end(), 0.0F);
  if (!paths_.tree->ready()) {
    return;
  }
  // What may be known of the next character: the mass of what was looked into.
  const float mass =
      paths_.mass(DeepTree::kRootNode, tail) - paths_.mass_of_unseen_end(DeepTree::kRootNode, tail);
  add(DeepTree::kRootNode, tail, 1 / std::max(mass, 1e-9F));
}

float DeepHan::log_after(std::string_view word, std::string_view character, float unknown) {
  std::array<char, 96> buffer;
  if (tail_.size() + word.size() + character.size() > buffer.size()) {
    return unknown;
  }
  char* end = std::copy(tail_.begin(), tail_.end(), buffer.data());
  end = std::copy(word.begin(), word.end(), end);
  const std::string_view before(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  end = std::copy(character.begin(), character.end(), end);
  const std::string_view after(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const float whole = paths_.mass(DeepTree::kRootNode, before);
  const float known = whole - paths_.mass_of_unseen_end(DeepTree::kRootNode, before);
  if (whole <= 0 || known < kKnownShare * whole) {
    return unknown;
  }
  return std::log(std::max(paths_.mass(DeepTree::kRootNode, after), 1e-30F) / known);
}

}  // namespace laya::predict
