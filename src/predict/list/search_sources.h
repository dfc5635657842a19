// The sources of one session, and their shares at a place of the text.
#pragma once

#include <span>
#include <string_view>

#include "predict/source/mixing.h"
#include "predict/source/source.h"

namespace laya::predict {

class BlockList;
class DeepSource;
class NetworkSource;
class NgramSource;
class OfferSource;
class PassedOver;
class PieceIndex;
class SourceTrust;
class TypingMemory;

/// What a search may use; any source may be nullptr, not network and table both.
struct SearchSources {
  NetworkSource* network = nullptr;
  NgramSource* ngrams = nullptr;
  const PieceIndex* index = nullptr;
  const Mixing* mixing = nullptr;
  DeepSource* deep = nullptr;
  const PassedOver* passed_over = nullptr;    ///< words that count little now; may be nullptr
  std::span<OfferSource* const> offers = {};  ///< asked in this order when the pool is scored
  const BlockList* block_list = nullptr;      ///< never suggested; may be nullptr
  const SourceTrust* trust = nullptr;         ///< who has been right so far; may be nullptr
  const TypingMemory* memory = nullptr;       ///< how the typing goes; may be nullptr
};

/// Shares for `text` with the lower-case `prefix` typed; of sources that are left out or not ready,
/// 0.
Shares shares_of(const SearchSources& sources, const TypedText& text, std::string_view prefix);

struct Mixed {
  float score;     ///< orders the list
  float log_prob;  ///< mixed linearly: sums over the pool
};
Mixed mix_word(const Mixing& mixing, const Shares& shares, const PoolWord& word);

}  // namespace laya::predict
