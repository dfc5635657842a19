// Completions that neither network nor table knows: rare words of the lexicon.
#pragma once

#include <array>
#include <memory>

#include "predict/offers/lexicon.h"
#include "predict/offers/offer.h"

namespace laya::model {
class NgramModel;
}

namespace laya::predict {

class LexiconSource : public OfferSource {
 public:
  /// `ngrams` may be nullptr and must otherwise outlive the source.
  LexiconSource(std::shared_ptr<const Lexicon> lexicon, const model::NgramModel* ngrams);

  void offer(const TypedText& text, const WordQuery& query, const WordPool& pool,
             OfferList* out) override;

 private:
  static constexpr std::size_t kOffered = 5;
  static constexpr std::size_t kTextBytes = 192;

  std::shared_ptr<const Lexicon> lexicon_;
  const model::NgramModel* ngrams_;
  std::array<std::array<char, kTextBytes>, kOffered> texts_;
};

}  // namespace laya::predict
