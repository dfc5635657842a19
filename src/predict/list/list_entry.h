// A candidate on its way into the list.
#pragma once

#include "predict/list/han_search.h"
#include "predict/offers/offer.h"
#include "predict/source/source.h"

namespace laya::predict {

/// A candidate before it is written out: a word of the pool, a Chinese word or an offer.
struct Ranked {
  float order = kImpossible;  ///< score, less what was passed over
  float score = kImpossible;
  const PoolWord* word = nullptr;
  const HanWord* han = nullptr;
  const Offer* offer = nullptr;
  bool passed = false;  ///< it was shown for the word being typed, and not taken
};

}  // namespace laya::predict
