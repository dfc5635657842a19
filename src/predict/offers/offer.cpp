#include "predict/offers/offer.h"

namespace laya::predict {

void OfferList::add(const Offer& offer) {
  const float score = offer.score();
  if (offer.text.empty() || !(score > kImpossible)) {
    return;
  }
  std::size_t least = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    Offer& have = offers_[i];
    if (have.erase_bytes == offer.erase_bytes && have.text == offer.text) {
      if (score > have.score()) {
        have = offer;
      }
      return;
    }
    if (have.score() < offers_[least].score()) {
      least = i;
    }
  }
  if (size_ < kCapacity) {
    offers_[size_++] = offer;
  } else if (score > offers_[least].score()) {
    offers_[least] = offer;
  }
}

}  // namespace laya::predict
