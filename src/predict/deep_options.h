// What a DeepSource may spend, and how it reads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace laya::predict {

/// What the passes may be spent on. The defaults are those measured best on dev.
struct DeepOptions {
  std::size_t columns = 12;      ///< of one pass, at most (≤ 16)
  std::size_t rounds = 2;        ///< passes of one prepare() beyond the root's
  float least_share = 0.02F;     ///< of the list's mass: a token below it is not looked into
  float bar = 0.3F;              ///< of the third word's probability: less is not proposed
  std::size_t ends = 8;          ///< likeliest words whose end is looked into (≤ 16)
  float end_weight = 1;          ///< how much that is worth against …
  float stem_weight = 0.5F;      ///< … the beginnings of words that no list has
  float sharpness = 1;           ///< multiplies the decoder's scores
  float deep_share = 0.6F;       ///< δ that the wishes above are weighed with
  std::size_t healed_tokens = 1;     ///< where no space closes the text: tokens that are open
  std::size_t context_tokens = 192;  ///< kept of the text; up to half more between two re-readings
  enum class First : std::uint8_t { Bos, Eos, Newline } first = First::Bos;  ///< before every text
};

}  // namespace laya::predict
