// What makes a phrase worth showing as a ghost, whoever found it.
//
// The gate: a phrase of g keys that is right with probability p saves g keys then and costs a glance
// otherwise; shown is the phrase of the greatest p·g − (1−p)·kGlance, if that is positive and p is
// at least kLeastProbability. "Showing nothing beats a bad suggestion."
//
// Learnt on dev (README.md of models/ranker has the figures): of all thresholds, p·g/(1−p) saves
// most for the wrong ghosts that it shows; a logistic gate over eleven features of phrase and place
// saved no more. kGlance is where a wrong ghost stands at less than 2 % of the keys.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/utf8.h"
#include "text/grapheme.h"
#include "text/script.h"
#include "text/units.h"

namespace laya::predict {

struct GhostRules {
  static constexpr float kGlance = 12;  // a wrong phrase costs what this many right keys save
  // The decoder is surer than it is right: with SmolLM2 3.5 % of the keys of dev ewt show a wrong
  // ghost at 12, 1.8 % at 24.
  static constexpr float kDeepGlance = 24;
  static constexpr float kLeastProbability = 0.5F;
  static constexpr float kLeastLog = -0.6931472F;  // ln of it: what falls below is never shown
};

/// Expected keys saved by showing `text`, which is right with e^log_prob, where a wrong one costs
/// `glance` keys; less than 0: it costs.
inline float ghost_benefit(std::string_view text, float log_prob, float glance) {
  const float p = std::exp(std::min(log_prob, 0.0F));
  // Characters of Chinese cost about three keys of pinyin each: their glance is repaid sooner.
  float keys = 0;
  for (const base::Decoded& code : base::CodePoints(text)) {
    keys += text::is_han(code.code_point) ? 2.5F : 0.0F;
  }
  keys += static_cast<float>(text::count_graphemes(text));
  return p * keys - (1 - p) * glance;
}

/// Letters of English or Chinese: punctuation alone is never a ghost.
inline bool has_letters(std::string_view text) {
  for (const base::Decoded& code : base::CodePoints(text)) {
    const text::Script script = text::script_of(code.code_point);
    if (script == text::Script::Latin || script == text::Script::Han) {
      return true;
    }
  }
  return false;
}

/// Equal but for case.
inline bool same_word(std::string_view a, std::string_view b) {
  std::array<char, 2 * text::kMaxUnitBytes> lower_a;
  std::array<char, 2 * text::kMaxUnitBytes> lower_b;
  const std::size_t length_a = text::copy_lower(a, lower_a.data(), lower_a.size());
  const std::size_t length_b = text::copy_lower(b, lower_b.data(), lower_b.size());
  return std::string_view(lower_a.data(), length_a) == std::string_view(lower_b.data(), length_b);
}

}  // namespace laya::predict
