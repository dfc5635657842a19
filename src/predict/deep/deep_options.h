// What a DeepSource may spend, and how it reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/token_id.h"

namespace laya::predict {

/// What the passes may be spent on. The defaults are those measured best on dev.
struct DeepOptions {
  std::size_t columns = 12;   ///< of one pass, at most (≤ 16)
  std::size_t rounds = 1;     ///< passes of one prepare() beyond the root's
  float least_share = 0.05F;  ///< of the list's mass: a token below it is not looked into
  /// A word of several tokens that no list knows is proposed from this share of the third word's
  /// probability on: below it would not come among the few that are shown.
  float composed_share = 0.3F;
  static constexpr std::size_t kMaxWordEnds = 16;
  std::size_t word_ends = 0;      ///< likeliest words whose end is looked into (≤ kMaxWordEnds)
  float word_end_weight = 1;      ///< what p(word) counts for there, against …
  float stem_weight = 0.5F;       ///< … p(token) at the beginnings of words that no list has
  float sharpness = 1;            ///< multiplies the decoder's scores
  float deep_share = 0.6F;        ///< δ that the wishes above are weighed with
  std::size_t healed_tokens = 1;  ///< where no space closes the text: tokens that are open
  std::size_t context_tokens = 192;  ///< kept of the text; up to half more between two re-readings
  /// Tokens before every text; empty: BOS where the tokenizer says that the model was taught with
  /// it, else a line end.
  std::vector<TokenId> first = {};
  /// What is remembered of texts that were left, for all sessions (DeepService::prefixes()).
  std::size_t prefix_mb = 64;
  /// Then a few lines of everyday text (deep_opening.cpp).
  enum class Prime : std::uint8_t { Never, WhereItHelps, Always } prime = Prime::WhereItHelps;
};

}  // namespace laya::predict
