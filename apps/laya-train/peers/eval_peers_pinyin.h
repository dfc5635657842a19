// The pinyin part of `laya eval peers`: libime, librime and ours, sentence by sentence.
#pragma once

#include <string>

#include "base/result.h"
#include "laya-train/eval/eval_tiers.h"
#include "laya-train/peers/peer_predictor.h"

namespace laya::apps {

/// Types the lines `typed<TAB>expected` of `text.file` into every input method that is there (and
/// wanted: `only`, empty for all). JSON as eval_peers.cpp writes it; prints rows unless text.json.
Result<nlohmann::ordered_json> compare_pinyin(const EvalText& text, const PeerFolders& folders,
                                              const std::vector<std::string>& only);

}  // namespace laya::apps
