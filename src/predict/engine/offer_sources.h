// Which sources of whole candidates an engine has: opens their data files. The one place to add
// one.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "predict/offers/offer.h"

namespace laya::predict {

struct EnginePaths;

/// A factory for each source whose path is given, in the order in which they are asked. `ngrams`:
/// the engine's table, or nullptr. Errors: as the files' readers say; naming the file.
Result<std::vector<OfferSourceFactory>> open_offer_sources(
    const EnginePaths& paths, std::shared_ptr<const model::NgramModel> ngrams);

}  // namespace laya::predict
