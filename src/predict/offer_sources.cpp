#include "predict/offer_sources.h"

#include "predict/engine.h"

namespace laya::predict {

Result<std::vector<OfferSourceFactory>> open_offer_sources(const EnginePaths& paths,
                                                           const Engine& engine) {
  std::vector<OfferSourceFactory> factories;
  (void)paths;
  (void)engine;
  return factories;
}

}  // namespace laya::predict
