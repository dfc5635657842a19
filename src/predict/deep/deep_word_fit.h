// How a written form fits what is typed, and what the instant sources think of a word: shared by
// deep_words.cpp and deep_wishes.cpp alone.
#pragma once

#include <cmath>
#include <string_view>

#include "predict/source/source.h"

namespace laya::predict {

/// Probabilities below this are none: keeps logarithms finite.
inline constexpr float kLeast = 1e-30F;

/// What a written form counts: 1 if it begins as typed, letter case included.
inline float fit(std::string_view form, const WordQuery& query) {
  return form.starts_with(query.typed) ? 1 : query.other_case;
}

/// p(word) by the instant sources: their mean, or the table's where the network says nothing.
inline float other_sources(const PoolWord& word) {
  const float ngram = std::exp(word.log_p_ngram);
  return word.log_p_network == kImpossible ? ngram : (ngram + std::exp(word.log_p_network)) / 2;
}

}  // namespace laya::predict
