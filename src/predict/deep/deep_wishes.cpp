// Which nodes are worth a pass: DeepWords::wish.
#include <algorithm>
#include <cmath>

#include "predict/deep/deep_options.h"
#include "predict/deep/deep_word_fit.h"
#include "predict/deep/deep_words.h"

namespace laya::predict {
namespace {

constexpr std::size_t kStems = 4;
// An unknown word's letters beyond its first token agree with the typed ones this often, each.
constexpr float kNextLetter = 0.3F;
// Where less than this of what may follow is a word at all (Chinese, mostly), little is looked
// into.
constexpr float kLeastMass = 0.25F;

}  // namespace

void DeepWords::wish(const WordQuery& query, WordPool* pool, std::vector<DeepWish>* wishes) {
  // The list's own mass: what is less than a share of it cannot matter.
  float mass = 0;
  std::array<std::pair<float, const PoolWord*>, 16> best{};
  const std::size_t wanted = std::min(options_->ends, best.size());
  for (const PoolWord& word : pool->words()) {
    const float p =
        query.deep_share * std::exp(word.log_p_deep) + (1 - query.deep_share) * other_sources(word);
    mass += p;
    std::size_t at = wanted;
    for (; at > 0 && best[at - 1].first < p; --at) {
      if (at < wanted) {
        best[at] = best[at - 1];
      }
    }
    if (at < wanted) {
      best[at] = {p, &word};
    }
  }
  if (mass <= 0) {
    return;
  }
  if (query.typed.empty()) {
    mass = std::max(mass, kLeastMass);
  }
  const float scale = query.deep_share / mass;
  const auto add = [&](int node, TokenId token, float weight) {
    if (weight * scale < options_->least_share ||
        paths_.tree->find(node, token) != DeepTree::kNone) {
      return;
    }
    for (DeepWish& have : *wishes) {
      if (have.node == node && have.token == token) {
        have.weight += weight * scale;
        return;
      }
    }
    wishes->push_back({node, token, weight * scale});
  };
  for (const DeepWish& wish : unseen_) {
    add(wish.node, wish.token, wish.weight);
  }
  // Ends of the likeliest words: whether they are over there, and what comes next if they are
  // taken.
  for (std::size_t i = 0; i < wanted && best[i].second != nullptr; ++i) {
    const PoolWord& word = *best[i].second;
    const std::uint32_t group = index_->group_of(word.word, word.group, word.key);
    if (group == kNoGroup) {
      continue;
    }
    for (const Origin& origin : origins_) {
      float highest = 0;
      TokenId token = kNoToken;
      for (const DeepEntry& entry : index_->entries(index_->groups()[group])) {
        const float p =
            entry.lead != origin.lead
                ? 0
                : paths_.tree->probability(origin.node, entry.token) * fit(form_of(entry), query);
        if (p > highest) {
          highest = p;
          token = entry.token;
        }
      }
      if (token != kNoToken) {
        add(origin.node, token, origin.weight * highest * options_->end_weight);
      }
    }
  }
  // Beginnings of words that no list has.
  const auto [first, last] = index_->with_prefix(query.prefix);
  for (const Origin& origin : origins_) {
    std::array<std::pair<float, TokenId>, kStems> stems{};
    for (std::uint32_t g = first; g < last; ++g) {
      const DeepGroup& group = index_->groups()[g];
      if (values_[g] * (1 - group.ends) <= stems.back().first * group.ends) {
        continue;
      }
      for (const DeepEntry& entry : index_->entries(group)) {
        const float p = entry.lead != origin.lead || !form_of(entry).starts_with(query.typed)
                            ? 0
                            : paths_.tree->probability(origin.node, entry.token) * (1 - group.ends);
        std::size_t at = kStems;
        for (; at > 0 && stems[at - 1].first < p; --at) {
          if (at < kStems) {
            stems[at] = stems[at - 1];
          }
        }
        if (at < kStems && p > 0) {
          stems[at] = {p, entry.token};
        }
      }
    }
    for (const auto& [p, token] : stems) {
      if (p > 0) {
        add(origin.node, token, origin.weight * p * options_->stem_weight);
      }
    }
    // And those shorter than what is typed: " pre" of " prednisone".
    Bytes buffer;
    const std::size_t lead = origin.lead == DeepLead::Space ? 1 : 0;
    if (query.typed.size() + lead <= buffer.size()) {
      buffer[0] = ' ';
      std::copy(query.typed.begin(), query.typed.end(),
                buffer.begin() + static_cast<std::ptrdiff_t>(lead));
      float letters = options_->stem_weight;
      for (std::size_t length = query.typed.size() + lead; length > lead; --length) {
        const TokenId token = tokenizer_->find({buffer.data(), length});
        if (token != kNoToken && length < query.typed.size() + lead) {
          add(origin.node, token,
              origin.weight * paths_.tree->probability(origin.node, token) *
                  (1 - index_->ends(token)) * letters);
        }
        letters *= kNextLetter;
      }
    }
  }
  // Words of several tokens, one token on.
  const std::span<const DeepTree::Node> nodes = paths_.tree->nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    float reach = paths_.tree->probability(nodes[i].parent, nodes[i].token);
    if (index_->group_of_token(nodes[i].token) == kNoGroup) {
      continue;
    }
    int root = nodes[i].parent;
    const Origin* origin = nullptr;
    while (origin == nullptr) {
      for (const Origin& candidate : origins_) {
        origin = candidate.node == root ? &candidate : origin;
      }
      if (origin != nullptr || root == DeepTree::kRootNode) {
        break;
      }
      const DeepTree::Node& at = nodes[static_cast<std::size_t>(root)];
      reach *= paths_.tree->probability(at.parent, at.token);
      root = at.parent;
    }
    if (origin == nullptr) {
      continue;
    }
    // What the node's path spells, against what is typed.
    Bytes buffer;
    std::size_t length = buffer.size();
    for (int at = static_cast<int>(i); at != root;
         at = nodes[static_cast<std::size_t>(at)].parent) {
      const std::string_view bytes = tokenizer_->bytes(nodes[static_cast<std::size_t>(at)].token);
      if (bytes.size() > length) {
        break;
      }
      length -= bytes.size();
      std::copy(bytes.begin(), bytes.end(), buffer.begin() + static_cast<std::ptrdiff_t>(length));
    }
    std::string_view spelt(buffer.data() + length, buffer.size() - length);
    if (!spelt.empty() && spelt.front() == ' ') {
      spelt.remove_prefix(1);
    }
    const std::size_t common = std::min(spelt.size(), query.typed.size());
    if (spelt.substr(0, common) != query.typed.substr(0, common)) {
      continue;
    }
    const std::string_view rest = query.typed.substr(common);
    for (std::size_t k = 0; k < nodes[i].going_on_count; ++k) {
      const TokenId token = nodes[i].going_on[k];
      if (tokenizer_->bytes(token).starts_with(rest)) {
        add(static_cast<int>(i), token,
            origin->weight * reach * paths_.tree->probability(static_cast<int>(i), token) *
                options_->stem_weight);
      }
    }
  }
}

}  // namespace laya::predict
