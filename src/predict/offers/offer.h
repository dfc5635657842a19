// Offer: a candidate that a source brings whole — it is no word of the pool, or it changes what is
// typed. Lexicon, emoji, corrections, pinyin and the remote tier speak this way.
//
// To add a source:
//   1. class EmojiSource : public OfferSource, made from immutable data that all sessions share;
//   2. in offer_sources.cpp, open_offer_sources(): where its path in EnginePaths is given, load the
//      data and append a factory that captures it (std::shared_ptr<const Data>):
//        factories.push_back([table] { return std::make_unique<EmojiSource>(table); });
//      A test puts it into EngineParts::offer_sources.
//   3. nothing else: every workbench makes one source of each factory, the list builder asks them in
//      that order behind network, table and decoder, and orders, blocks, joins and writes.
//
// What the list builder sees to, so that no source need: no offers inside a word, inside half a
// character or in a blocked field; in addresses and code, and where a space is owed, only emoji;
// an offer that the pool has as a word already is dropped; corrections are never the ghost, and
// first in the list only by the rules in list_builder.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "predict/source/field_names.h"
#include "predict/source/source.h"
#include "predict/source/typed_text.h"

namespace laya::predict {

struct Offer {
  /// As it will stand, without a space after it; lives until its source's next offer().
  std::string_view text;
  /// Bytes left of the caret (the open word, or more) that `text` takes the place of. 0: it only
  /// extends, and then `text` begins with the open word as typed, byte for byte.
  std::uint16_t erase_bytes = 0;
  float log_prob = kImpossible;  ///< ln p(text | context), on the pool's scale (PoolWord::score)
  float log_noise = 0;  ///< ln p(what was typed | text was meant) ≤ 0; 0 where it only extends
  Origin origin = Origin::Lexicon;

  /// What orders it among the pool's words.
  float score() const { return log_prob + log_noise; }
};

/// The offers of one decision: the kCapacity likeliest. No allocation.
class OfferList {
 public:
  static constexpr std::size_t kCapacity = 64;

  void clear() { size_ = 0; }
  /// Keeps `offer` unless the list is full of likelier ones. The same text in the same place twice:
  /// the likelier stays. An impossible one (kImpossible, NaN), or one without text, is left out.
  void add(const Offer& offer);
  std::span<const Offer> offers() const { return std::span(offers_).first(size_); }

 private:
  std::array<Offer, kCapacity> offers_;
  std::size_t size_ = 0;
};

class OfferSource {
 public:
  virtual ~OfferSource() = default;

  /// Adds its offers for what is typed. `pool` has been scored (PoolWord::score is ln p(word |
  /// context), mixed): reuse it. No allocation after construction. One thread at a time, not always
  /// the same.
  virtual void offer(const TypedText& text, const WordQuery& query, const WordPool& pool,
                     OfferList* out) = 0;
  /// Forgets whatever it keeps of a text (the field lost focus, or is private).
  virtual void clear() {}
};

/// Makes a workbench's own source; thread-safe, called once a bench.
using OfferSourceFactory = std::function<std::unique_ptr<OfferSource>()>;

}  // namespace laya::predict
