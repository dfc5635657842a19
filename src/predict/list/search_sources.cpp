#include "predict/list/search_sources.h"

#include "base/utf8.h"
#include "predict/deep/deep_source.h"
#include "predict/instant/network_source.h"
#include "predict/instant/ngram_source.h"
#include "predict/list/source_trust.h"

namespace laya::predict {

Shares shares_of(const SearchSources& sources, const TypedText& text, std::string_view prefix) {
  const std::size_t units =
      sources.ngrams != nullptr ? sources.ngrams->units_in_line(text) : std::size_t{4};
  Shares shares = sources.mixing->shares_at(units, base::count_code_points(prefix));
  if (sources.deep == nullptr || !sources.deep->ready()) {
    shares.deep = shares.han_deep = 0;
  } else if (!sources.deep->knows_han()) {
    shares.han_deep = 0;
  }
  const bool network = sources.network != nullptr && sources.network->prepare(text);
  if (!network) {
    shares.network = shares.han_network = 0;
  } else if (sources.ngrams == nullptr) {
    shares.network = shares.han_network = 1;
  }
  return sources.trust != nullptr ? sources.trust->adjusted(shares) : shares;
}

Mixed mix_word(const Mixing& mixing, const Shares& shares, const PoolWord& word) {
  // The decoder's and the network's probabilities hold the typed case already.
  const float ngram = word.log_p_ngram + word.log_case_fit;
  const float instant = mix(mixing.word_kind, shares.network, word.log_p_network, ngram);
  const float linear = mix(MixingKind::Linear, shares.network, word.log_p_network, ngram);
  return {mix(mixing.word_deep_kind, shares.deep, word.log_p_deep, instant),
          mix(MixingKind::Linear, shares.deep, word.log_p_deep, linear)};
}

}  // namespace laya::predict
