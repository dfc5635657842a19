// Which nodes are worth a pass: DeepWords::wish, one function a reason to wish.
#include <algorithm>
#include <cmath>

#include "predict/deep/deep_options.h"
#include "predict/deep/deep_word_fit.h"
#include "predict/deep/deep_words.h"
#include "predict/source/likeliest.h"

namespace laya::predict {
namespace {

// Beginnings of unlisted words that are wished for at one origin, at most.
constexpr std::size_t kStems = 4;
// An unknown word's letters beyond its first token agree with the typed ones this often, each.
constexpr float kNextLetter = 0.3F;
// Where less than this of what may follow is a word at all (Chinese, mostly), little is looked
// into.
constexpr float kLeastMass = 0.25F;

}  // namespace

// Wishes in shares of the list's mass; those below the least share, or looked into, are dropped.
class DeepWords::WishList {
 public:
  WishList(const DeepTree& tree, float scale, float least_share, std::vector<DeepWish>* wishes)
      : tree_(&tree), scale_(scale), least_share_(least_share), wishes_(wishes) {}

  /// `weight`: the probability that hangs on the token.
  void add(int node, TokenId token, float weight) {
    if (weight * scale_ < least_share_ || tree_->find(node, token) != DeepTree::kNone) {
      return;
    }
    for (DeepWish& have : *wishes_) {
      if (have.node == node && have.token == token) {
        have.weight += weight * scale_;
        return;
      }
    }
    wishes_->push_back({node, token, weight * scale_});
  }

 private:
  const DeepTree* tree_;
  float scale_;
  float least_share_;
  std::vector<DeepWish>* wishes_;
};

void DeepWords::wish(const WordQuery& query, WordPool* pool, std::vector<DeepWish>* wishes) {
  // The list's own mass: what is less than a share of it cannot matter.
  float mass = 0;
  Likeliest<DeepOptions::kMaxWordEnds> likeliest;
  const std::span<const PoolWord> words = pool->words();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const float p = query.deep_share * std::exp(words[i].log_p_deep) +
                    (1 - query.deep_share) * other_sources(words[i]);
    mass += p;
    if (p > 0) {
      likeliest.add({p, static_cast<std::uint32_t>(i)});
    }
  }
  if (mass <= 0) {
    return;
  }
  if (query.typed.empty()) {
    mass = std::max(mass, kLeastMass);
  }
  WishList list(*paths_.tree, query.deep_share / mass, options_->least_share, wishes);
  for (const DeepWish& wish : unseen_) {
    list.add(wish.node, wish.token, wish.weight);
  }
  const auto best = likeliest.sorted();
  for (const auto& [p, i] : best.first(std::min(best.size(), options_->word_ends))) {
    wish_for_end(words[i], query, &list);
  }
  for (const Origin& origin : origins_) {
    wish_for_stems(origin, query, &list);
    wish_for_short_stems(origin, query, &list);
  }
  wish_for_next_tokens(query, &list);
}

// Whether a likely word is over where its token ends, and what comes next if it is taken.
void DeepWords::wish_for_end(const PoolWord& word, const WordQuery& query, WishList* list) const {
  const std::uint32_t group = index_->group_of(word.word, word.group, word.key);
  if (group == kNoGroup) {
    return;
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
      list->add(origin.node, token, origin.weight * highest * options_->word_end_weight);
    }
  }
}

// Beginnings of words that no list has: a token that is typed, or begins with what is.
void DeepWords::wish_for_stems(const Origin& origin, const WordQuery& query, WishList* list) const {
  const auto [first, last] = index_->with_prefix(query.prefix);
  Likeliest<kStems> stems;  // by number of the entry
  float least = 0;          // of those kept, once there are kStems
  for (std::uint32_t g = first; g < last; ++g) {
    const DeepGroup& group = index_->groups()[g];
    if (values_[g] * (1 - group.ends) <= least * group.ends) {
      continue;  // no entry of it can be among them
    }
    for (std::uint32_t i = group.first; i < group.first + group.count; ++i) {
      const DeepEntry& entry = index_->entry(i);
      const float p = entry.lead != origin.lead || !form_of(entry).starts_with(query.typed)
                          ? 0
                          : paths_.tree->probability(origin.node, entry.token) * (1 - group.ends);
      if (p > 0) {
        stems.add({p, i});
        least = stems.least();
      }
    }
  }
  for (const auto& [p, i] : stems.sorted()) {
    list->add(origin.node, index_->entry(i).token, origin.weight * p * options_->stem_weight);
  }
}

// And those shorter than what is typed: " pre" of " prednisone".
void DeepWords::wish_for_short_stems(const Origin& origin, const WordQuery& query,
                                     WishList* list) const {
  Bytes buffer;
  const std::size_t lead = origin.lead == DeepLead::Space ? 1 : 0;
  const std::size_t whole = query.typed.size() + lead;
  if (whole > buffer.size()) {
    return;
  }
  buffer[0] = ' ';
  std::copy(query.typed.begin(), query.typed.end(),
            buffer.begin() + static_cast<std::ptrdiff_t>(lead));
  float letters = options_->stem_weight;
  for (std::size_t length = whole; length > lead; --length) {
    const TokenId token = tokenizer_->find({buffer.data(), length});
    if (token != kNoToken && length < whole) {
      list->add(origin.node, token,
                origin.weight * paths_.tree->probability(origin.node, token) *
                    (1 - index_->ends(token)) * letters);
    }
    letters *= kNextLetter;
  }
}

// Words of several tokens, one token on.
void DeepWords::wish_for_next_tokens(const WordQuery& query, WishList* list) const {
  const std::span<const DeepTree::Node> nodes = paths_.tree->nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (index_->group_of_token(nodes[i].token) == kNoGroup) {
      continue;
    }
    float reach = 0;
    const Origin* origin = origin_of(static_cast<int>(i), &reach);
    if (origin == nullptr) {
      continue;
    }
    Bytes buffer;
    const std::string_view spelt = spelt_by(static_cast<int>(i), origin->node, &buffer);
    const std::size_t common = std::min(spelt.size(), query.typed.size());
    if (spelt.substr(0, common) != query.typed.substr(0, common)) {
      continue;
    }
    const std::string_view rest = query.typed.substr(common);
    for (std::size_t k = 0; k < nodes[i].going_on_count; ++k) {
      const TokenId token = nodes[i].going_on[k];
      if (tokenizer_->bytes(token).starts_with(rest)) {
        list->add(static_cast<int>(i), token,
                  origin->weight * reach * paths_.tree->probability(static_cast<int>(i), token) *
                      options_->stem_weight);
      }
    }
  }
}

// The origin that `node` lies below, nullptr without; `reach`: p(node | origin).
const DeepWords::Origin* DeepWords::origin_of(int node, float* reach) const {
  const std::span<const DeepTree::Node> nodes = paths_.tree->nodes();
  *reach = 1;
  while (node != DeepTree::kRootNode) {
    const DeepTree::Node& at = nodes[static_cast<std::size_t>(node)];
    *reach *= paths_.tree->probability(at.parent, at.token);
    node = at.parent;
    const Origin* found = nullptr;
    for (const Origin& candidate : origins_) {
      found = candidate.node == node ? &candidate : found;  // the last of several
    }
    if (found != nullptr) {
      return found;
    }
  }
  return nullptr;
}

// The letters on the way from `origin` to `node`, without a space before them.
std::string_view DeepWords::spelt_by(int node, int origin, Bytes* buffer) const {
  const std::span<const DeepTree::Node> nodes = paths_.tree->nodes();
  std::size_t begin = buffer->size();
  for (int at = node; at != origin; at = nodes[static_cast<std::size_t>(at)].parent) {
    const std::string_view bytes = tokenizer_->bytes(nodes[static_cast<std::size_t>(at)].token);
    if (bytes.size() > begin) {
      break;
    }
    begin -= bytes.size();
    std::copy(bytes.begin(), bytes.end(), buffer->begin() + static_cast<std::ptrdiff_t>(begin));
  }
  std::string_view spelt(buffer->data() + begin, buffer->size() - begin);
  if (spelt.starts_with(' ')) {
    spelt.remove_prefix(1);
  }
  return spelt;
}

}  // namespace laya::predict
