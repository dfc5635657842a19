#include "predict/list/han_search.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "predict/deep/deep_source.h"

namespace laya::predict {
namespace {

// A word grows by a character that follows with at least this probability: below it, the shorter
// word is right more often than not by a margin that reading one more character does not repay.
constexpr float kLogGrow = -0.9F;  // p ≥ 0.4
constexpr std::size_t kFollowers = 4;
constexpr std::size_t kPasses = 2;

// ln p of one more character, with what the decoder knows of it.
float mix_deep(const SearchSources& sources, const Shares& shares, const HanWord& word,
               char32_t next, float log_instant) {
  std::array<char, 4 * HanWord::kMaxHan> bytes;
  std::size_t length = 0;
  for (std::size_t i = 0; i < word.length; ++i) {
    length += base::encode_utf8(sources.index->han()[word.han[i]].code_point,
                                std::span<char, 4>(bytes.data() + length, 4));
  }
  std::array<char, 4> character;
  const std::size_t size = base::encode_utf8(next, character);
  const float log_deep =
      sources.deep->log_han_after({bytes.data(), length}, {character.data(), size});
  return log_deep > 0 ? log_instant
                      : mix(MixingKind::Linear, shares.han_deep, log_deep, log_instant);
}

bool better(const HanWord& a, const HanWord& b) {
  return a.log_prob != b.log_prob ? a.log_prob > b.log_prob : a.han < b.han;
}

}  // namespace

std::size_t HanSearch::next(const SearchSources& sources, const TypedText& text,
                            const Shares& shares, std::span<HanWord> out) {
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
  // A source's likeliest characters, by its own number for each.
  const auto add_best = [&](std::size_t size, auto value, bool HanWord::*from) {
    std::array<std::uint32_t, kPool> best;
    std::size_t kept = 0;
    const auto more_probable = [&](std::uint32_t a, std::uint32_t b) {
      const float pa = value(a);
      const float pb = value(b);
      return pa != pb ? pa > pb : a < b;
    };
    for (std::uint32_t i = 0; i < size; ++i) {
      if (kept == kPool) {
        if (!more_probable(i, best.front())) {
          continue;
        }
        std::pop_heap(best.begin(), best.end(), more_probable);
        --kept;
      }
      best[kept++] = i;
      std::push_heap(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(kept), more_probable);
    }
    for (std::size_t i = 0; i < kept; ++i) {
      if (HanWord* word = add(best[i])) {
        word->*from = true;
      }
    }
  };
  if (network) {
    const std::span<const float> log_probs = sources.network->tree().root_log_probs();
    std::size_t pieces = 0;  // characters with a piece come first
    while (pieces < han.size() && han[pieces].token != kNoToken) {
      ++pieces;
    }
    add_best(
        pieces, [&](std::uint32_t i) { return log_probs[han[i].token]; }, &HanWord::from_network);
  }
  const std::span<const float> deep =
      shares.han_deep > 0 ? sources.deep->han_probs() : std::span<const float>();
  if (!deep.empty()) {
    add_best(
        deep.size(), [&](std::uint32_t i) { return deep[i]; }, &HanWord::from_deep);
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
    word.log_p_deep = deep.empty() ? kImpossible : std::log(std::max(deep[word.han[0]], 1e-30F));
    word.log_prob =
        mix(sources.mixing->han_deep_kind, deep.empty() ? 0 : shares.han_deep, word.log_p_deep,
            mix(sources.mixing->han_kind, shares.han_network, log_network, log_ngram));
    word.node = kRoot;
    if (sources.ngrams != nullptr) {
      word.context = sources.ngrams->context(text);
      sources.ngrams->model().push(&word.context, found->word);
    }
  }
  count_ = count;
  const std::size_t wanted = std::min(count, out.size());
  std::partial_sort(pool_.begin(), pool_.begin() + static_cast<std::ptrdiff_t>(wanted),
                    pool_.begin() + static_cast<std::ptrdiff_t>(count), better);
  std::copy_n(pool_.begin(), wanted, out.begin());
  return wanted;
}

void HanSearch::extend(const SearchSources& sources, const Shares& shares,
                       std::span<HanWord> words) {
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
        float log_prob = mix(sources.mixing->han_kind, looked ? shares.han_network : 0, log_network,
                             best[k].log_prob);
        if (shares.han_deep > 0) {
          log_prob = mix_deep(sources, shares, word, han[index].code_point, log_prob);
        }
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
