// The n-gram table's context behind a text, for whoever asks the table now and then and follows no
// edits.
#pragma once

#include <limits>
#include <string_view>

#include "model/ngram/ngram.h"

namespace laya::predict {

inline constexpr float kLogZero = -std::numeric_limits<float>::infinity();

/// The context behind `before` (its last line's last units). `ngrams` may be nullptr. A few µs, no
/// allocation.
model::NgramContext table_context(const model::NgramModel* ngrams, std::string_view before);

}  // namespace laya::predict
