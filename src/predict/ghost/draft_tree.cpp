#include "predict/ghost/draft_tree.h"

#include <algorithm>
#include <array>

namespace laya::predict {
namespace {

constexpr std::size_t kOffers = 96;       // nodes
constexpr std::size_t kCandidates = 256;  // looked at for one pass
constexpr float kLeast = 0.002F;          // a path less likely is no guess
// What nobody said before is worth more than its probability: a phrase that goes on as usual is
// told by few drafts. Chosen on phrases behind dev text, as the constants of said_before.cpp.
constexpr float kOffersWeight = 2;

}  // namespace

DraftTree::DraftTree() {
  offers_.reserve(kOffers);
  offer_probs_.reserve(kOffers);
  candidates_.reserve(kCandidates);
}

void DraftTree::clear() {
  offers_.clear();
  offer_probs_.clear();
}

void DraftTree::offer(std::span<const TokenId> tokens, float prob) {
  if (offers_.size() + tokens.size() > kOffers) {
    return;
  }
  std::int32_t at = TokenTrie::kTop;
  for (const TokenId token : tokens) {
    at = offers_.add(at, token);
    offer_probs_.resize(offers_.size(), 0);
    float& known = offer_probs_[static_cast<std::size_t>(at)];
    known = std::max(known, prob);
  }
}

void DraftTree::choose(const SaidBefore& said, std::span<const TokenId> tokens, std::size_t columns,
                       TokenTrie& drafts) {
  candidates_.clear();
  expand(said, tokens, drafts, TokenTrie::kTop, TokenTrie::kTop, 1);
  while (drafts.size() < columns && !candidates_.empty()) {
    const auto best = std::max_element(
        candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
          return a.prob != b.prob ? a.prob < b.prob : a.token > b.token;
        });
    const Candidate next = *best;
    *best = candidates_.back();
    candidates_.pop_back();
    const std::int32_t node = drafts.add(next.parent, next.token);
    expand(said, tokens, drafts, node, next.offer, next.prob);
  }
}

// What may follow node `at` of the drafts, which is node `offer` of the offers (kNone: of none).
void DraftTree::expand(const SaidBefore& said, std::span<const TokenId> tokens,
                       const TokenTrie& drafts, std::int32_t at, std::int32_t offer, float prob) {
  std::array<TokenId, SaidBefore::kTokensBehind> behind;
  const SaidBefore::Guesses known = said.guess(drafts.last_tokens(tokens, at, behind));
  const auto add = [&](TokenId token, float p, std::int32_t in_offers) {
    if (p * prob >= kLeast && candidates_.size() < kCandidates) {
      candidates_.push_back({p * prob, at, in_offers, token});
    }
  };
  const float whole = offer == TokenTrie::kTop || offer == TokenTrie::kNone
                          ? 1
                          : offer_probs_[static_cast<std::size_t>(offer)];
  const auto share = [&](std::int32_t node) {
    return node == TokenTrie::kNone
               ? 0.0F
               : kOffersWeight * known.unknown *
                     std::min(1.0F, offer_probs_[static_cast<std::size_t>(node)] / whole);
  };
  for (const SaidBefore::Guess& guess : known.all()) {
    const std::int32_t node =
        offer == TokenTrie::kNone ? TokenTrie::kNone : offers_.find(offer, guess.token);
    add(guess.token, guess.prob + share(node), node);
  }
  if (offer == TokenTrie::kNone) {
    return;
  }
  for (std::int32_t node = offers_.first_child(offer); node != TokenTrie::kNone;
       node = offers_[node].next_sibling) {
    const TokenId token = offers_[node].token;
    const auto same = [&](const SaidBefore::Guess& guess) { return guess.token == token; };
    if (std::none_of(known.all().begin(), known.all().end(), same)) {
      add(token, share(node), node);
    }
  }
}

}  // namespace laya::predict
