// Corrections as offers: of the word being typed, and of the word just finished by a space.
#pragma once

#include <memory>

#include "predict/offers/corrector.h"
#include "predict/offers/offer.h"

namespace laya::model {
class NgramModel;
}

namespace laya::predict {

class CorrectionSource : public OfferSource {
 public:
  /// `ngrams` may be nullptr and must otherwise outlive the source.
  CorrectionSource(std::shared_ptr<const Lexicon> lexicon, const model::NgramModel* ngrams);

  void offer(const TypedText& text, const WordQuery& query, const WordPool& pool,
             OfferList* out) override;

 private:
  std::shared_ptr<const Lexicon> lexicon_;
  Corrector corrector_;
};

}  // namespace laya::predict
