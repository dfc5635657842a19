// Which sources of whole candidates an engine has: opens their data files. The one place to add
// one.
#pragma once

#include <vector>

#include "base/result.h"
#include "predict/offers/offer.h"

namespace laya::predict {

class Engine;
struct EnginePaths;

/// A factory for each source whose path is given, in the order in which they are asked. `engine`
/// has its models and index already; keep what it points at, not its address (it is moved). Errors:
/// as the files' readers say; naming the file.
Result<std::vector<OfferSourceFactory>> open_offer_sources(const EnginePaths& paths,
                                                           const Engine& engine);

}  // namespace laya::predict
