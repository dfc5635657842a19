#include "predict/han_search.h"

#include <algorithm>
#include <cmath>

namespace laya::predict {
namespace {

// A word grows by a character that follows with at least this probability: below it, the shorter
// word is right more often than not by a margin that reading one more character does not repay.
constexpr float kLogGrow = -0.9F;  // p ≥ 0.4
constexpr std::size_t kFollowers = 4;
constexpr std::size_t kPasses = 2;

bool better(const HanWord& a, const HanWord& b) {
  return a.log_prob != b.log_prob ? a.log_prob > b.log_prob : a.han < b.han;
}

}  // namespace

std::size_t HanSearch::next(const SearchSources& sources, const TypedText& text, float share,
                            std::span<HanWord> out) {
  std::size_t count = 0;
  const auto add = [&](std::uint32_t index) -> HanWord* {
    for (std::size_t i = 0; i < count; ++i) {
      if (pool_[i].han[0] == index) {
        return &pool_[i];
      }
    }
    if (count == pool_.size()) {
      return nullptr;
    }
    HanWord& word = pool_[count++];
    word = {};
    word.han[0] = index;
    word.length = 1;
    return &word;
  };

  const bool network = sources.network != nullptr && sources.network->prepare(text);
  const std::span<const HanPiece> han = sources.index->han();
  if (sources.ngrams != nullptr) {
    std::array<model::Scored, kPool> best;
    const std::size_t found =
        sources.ngrams->model().top_han(sources.ngrams->context(text), sources.ngrams->recent(),
                                        sources.ngrams->recent_mix(), best);
    for (std::size_t i = 0; i < found; ++i) {
      const std::uint32_t index = sources.index->han_of_word(best[i].word);
      if (index == kNoGroup) {
        continue;  // a character without a piece of its own
      }
      if (HanWord* word = add(index)) {
        word->from_ngram = true;
      }
    }
  }
  if (network) {
    const std::span<const float> log_probs = sources.network->tree().root_log_probs();
    std::array<std::uint32_t, kPool> best;
    std::size_t size = 0;
    const auto more_probable = [&](std::uint32_t a, std::uint32_t b) {
      const float pa = log_probs[han[a].token];
      const float pb = log_probs[han[b].token];
      return pa != pb ? pa > pb : a < b;
    };
    for (std::uint32_t i = 0; i < han.size() && han[i].token != kNoToken; ++i) {
      if (size == kPool) {
        if (!more_probable(i, best.front())) {
          continue;
        }
        std::pop_heap(best.begin(), best.end(), more_probable);
        --size;
      }
      best[size++] = i;
      std::push_heap(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(size), more_probable);
    }
    for (std::size_t i = 0; i < size; ++i) {
      if (HanWord* word = add(best[i])) {
        word->from_network = true;
      }
    }
  }

  for (std::size_t i = 0; i < count; ++i) {
    HanWord& word = pool_[i];
    const HanPiece* found = &han[word.han[0]];
    const float log_network = network && found->token != kNoToken
                                  ? sources.network->tree().root_log_probs()[found->token]
                                  : kImpossible;
    const float log_ngram = sources.ngrams == nullptr
                                ? kImpossible
                                : sources.ngrams->model().log_prob(
                                      sources.ngrams->context(text), found->word,
                                      sources.ngrams->recent(), sources.ngrams->recent_mix());
    word.log_p_network = log_network;
    word.log_p_ngram = log_ngram;
    word.log_prob =
        mix(sources.mixing->han_kind, !network ? 0 : (sources.ngrams == nullptr ? 1 : share),
            log_network, log_ngram);
    word.node = kRoot;
    if (sources.ngrams != nullptr) {
      word.context = sources.ngrams->context(text);
      sources.ngrams->model().push(&word.context, found->word);
    }
  }
  const std::size_t wanted = std::min(count, out.size());
  std::partial_sort(pool_.begin(), pool_.begin() + static_cast<std::ptrdiff_t>(wanted),
                    pool_.begin() + static_cast<std::ptrdiff_t>(count), better);
  std::copy_n(pool_.begin(), wanted, out.begin());
  return wanted;
}

void HanSearch::extend(const SearchSources& sources, float share, std::span<HanWord> words) {
  if (sources.ngrams == nullptr) {
    return;  // without the table every follower would cost a pass over all logits; single
             // characters then
  }
  const model::NgramModel& ngrams = sources.ngrams->model();
  const std::span<const HanPiece> han = sources.index->han();
  const bool network = sources.network != nullptr && sources.network->tree().ready();
  std::array<std::uint32_t, kPool> growing;
  std::size_t count = std::min(words.size(), model::kMaxColumns);
  for (std::size_t i = 0; i < count; ++i) {
    growing[i] = static_cast<std::uint32_t>(i);
  }
  for (std::size_t pass = 0; pass < kPasses && count > 0; ++pass) {
    // Only words whose follower the table holds for likely are worth a look.
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      std::array<model::Scored, 1> best;
      if (ngrams.top_han(words[growing[i]].context, best) == 1 && best[0].log_prob > kLogGrow - 1) {
        growing[kept++] = growing[i];
      }
    }
    count = kept;
    if (network) {
      NetworkTree& tree = sources.network->tree();
      std::array<NetworkTree::Growth, model::kMaxColumns> growths;
      std::array<std::uint32_t, model::kMaxColumns> grown;
      std::size_t size = 0;
      for (std::size_t i = 0; i < count; ++i) {
        HanWord& word = words[growing[i]];
        const TokenId token = han[word.han[word.length - 1]].token;
        const NodeId have = token == kNoToken ? kNoNode : tree.find(word.node, token);
        if (token == kNoToken) {
          word.node = kRoot;
        } else if (have != kNoNode) {
          word.node = have;
        } else if (size < tree.free_nodes() && size < model::kMaxColumns) {
          growths[size] = {word.node, token};
          grown[size++] = growing[i];
        }
      }
      const NodeId first = tree.first_new();
      if (size > 0 && !tree.grow(std::span(growths.data(), size))) {
        return;
      }
      for (std::size_t i = 0; i < size; ++i) {
        words[grown[i]].node = first + static_cast<NodeId>(i);
      }
    }
    kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      HanWord& word = words[growing[i]];
      std::array<model::Scored, kFollowers> best;
      const std::size_t found = ngrams.top_han(word.context, best);
      float best_log_prob = kImpossible;
      std::uint32_t best_han = kNoGroup;
      for (std::size_t k = 0; k < found; ++k) {
        const std::uint32_t index = sources.index->han_of_word(best[k].word);
        if (index == kNoGroup) {
          continue;
        }
        const bool looked = network && word.node != kRoot && han[index].token != kNoToken;
        const float log_network =
            looked ? sources.network->tree().log_prob(word.node, han[index].token) : kImpossible;
        const float log_prob =
            mix(sources.mixing->han_kind, looked ? share : 0, log_network, best[k].log_prob);
        if (log_prob > best_log_prob) {
          best_log_prob = log_prob;
          best_han = index;
        }
      }
      if (best_han == kNoGroup || best_log_prob < kLogGrow || word.length == HanWord::kMaxHan) {
        continue;
      }
      word.han[word.length++] = best_han;
      word.log_prob += best_log_prob;
      ngrams.push(&word.context, han[best_han].word);
      growing[kept++] = growing[i];
    }
    count = kept;
  }
}

}  // namespace laya::predict
