// What stands before every text that a decoder reads: the token that models are taught to begin
// with, and where it helps a few lines of what people type, to set the tone.
#pragma once

#include <cstdint>
#include <vector>

#include "base/token_id.h"
#include "predict/deep/deep_options.h"
#include "text/subword_tokenizer.h"

namespace laya::predict {

struct DeepOpenings {
  std::vector<TokenId> latin;  ///< before English
  std::vector<TokenId> han;    ///< before Chinese
};

/// Neither is empty (an empty main sequence predicts nothing). `knows_han`: DeepIndex::knows_han().
DeepOpenings deep_openings(const text::SubwordTokenizer& tokenizer, const DeepOptions& options,
                           bool knows_han);

/// The longest main sequence of a session: opening, context, and what it grows by before its front
/// is cut.
std::uint32_t deep_capacity_tokens(const DeepOptions& options, const DeepOpenings& openings);

}  // namespace laya::predict
