#include "predict/deep/deep_paths.h"

#include <algorithm>

namespace laya::predict {
namespace {

// The last piece of a word of several: over, mostly.
constexpr float kSuffixEnds = 0.8F;
// A tokeniser takes the longest piece that it was taught to; how likely it is that the text was cut
// before its last piece and goes on as it does nevertheless.
constexpr float kCutEarlier = 0.05F;

/// Σ p(t | node) · below(node·t, x − t) over the nodes t below `node` that are a front of x.
template <typename Below>
float sum_over_fronts(const DeepPaths& paths, int node, std::string_view x, const Below& below) {
  float sum = 0;
  const std::span<const DeepTree::Node> nodes = paths.tree->nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].parent != node) {
      continue;
    }
    const std::string_view bytes = paths.tokenizer->bytes(nodes[i].token);
    if (bytes.size() < x.size() && x.starts_with(bytes)) {
      sum += paths.tree->probability(node, nodes[i].token) *
             below(static_cast<int>(i), x.substr(bytes.size()));
    }
  }
  return sum;
}

}  // namespace

float DeepPaths::mass_of_tokens(int node, std::string_view x) const {
  const std::span<const float> probs = tree->probs(node);
  float lanes[4] = {};
  std::size_t lane = 0;
  for (const TokenId token : tokenizer->with_prefix(x)) {
    lanes[lane++ % 4] += probs[token];
  }
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

float DeepPaths::mass(int node, std::string_view x) const {
  if (x.empty()) {
    return 1;
  }
  return mass_of_tokens(node, x) +
         sum_over_fronts(*this, node, x,
                         [this](int child, std::string_view rest) { return mass(child, rest); });
}

float DeepPaths::mass_of_unseen_end(int node, std::string_view x) const {
  float sum = 0;
  const TokenId whole = tokenizer->find(x);
  if (whole != kNoToken && tree->find(node, whole) == DeepTree::kNone) {
    sum += tree->probability(node, whole);
  }
  return sum + sum_over_fronts(*this, node, x, [this](int child, std::string_view rest) {
           return mass_of_unseen_end(child, rest);
         });
}

float DeepPaths::word_end(int node, TokenId token, float prior) const {
  const int child = tree->find(node, token);
  return tree->probability(node, token) *
         (child == DeepTree::kNone ? prior : tree->nodes()[static_cast<std::size_t>(child)].ends);
}

float DeepPaths::rest_of_word(int node, std::string_view x) const {
  float sum = 0;
  const TokenId whole = tokenizer->find(x);
  if (whole != kNoToken) {
    sum += word_end(node, whole, kSuffixEnds);
  }
  return sum + sum_over_fronts(*this, node, x, [this](int child, std::string_view rest) {
           return rest_of_word(child, rest);
         });
}

void wish_for_rest(const DeepPaths& paths, int node, std::string_view rest, float weight,
                   float least, std::vector<DeepWish>* wishes) {
  for (std::size_t length = 1; length <= rest.size(); ++length) {
    const TokenId token = paths.tokenizer->find(rest.substr(0, length));
    if (token == kNoToken) {
      continue;
    }
    const float here = weight * paths.tree->probability(node, token);
    const int child = paths.tree->find(node, token);
    if (child != DeepTree::kNone) {
      if (length < rest.size()) {
        wish_for_rest(paths, child, rest.substr(length), here, least, wishes);
      }
      continue;
    }
    const float hangs = length == rest.size() ? here : here * kCutEarlier;
    if (hangs >= least) {
      wishes->push_back({node, token, hangs});
    }
  }
}

}  // namespace laya::predict
