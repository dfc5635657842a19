// The argument checks of scoring that all decoder backends share.
#pragma once

#include <span>

#include "base/result.h"
#include "base/token_id.h"
#include "model/decoder/decoder_config.h"

namespace laya::model {

/// `out_per_column` is V, the number of rows, or 1.
Status check_scores(const DecoderConfig& config, std::span<const float> hidden, std::size_t columns,
                    std::size_t out_per_column, std::span<const float> out);
Status check_rows(const DecoderConfig& config, std::span<const TokenId> rows);

}  // namespace laya::model
