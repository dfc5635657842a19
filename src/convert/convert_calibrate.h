// Runs text through a checkpoint once, layer after layer, and quantises each matrix for what it met
// there, so that the next one is chosen for inputs that are already a little off.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel_flag.h"
#include "base/result.h"
#include "convert/convert_source.h"
#include "model/core/aligned_bytes.h"
#include "model/gru/quantize.h"
#include "text/subword_tokenizer.h"

namespace laya::convert {

/// A matrix that was quantised for its inputs, in our row order.
struct CalibratedMatrix {
  model::Precision precision;
  model::AlignedBytes bytes;
  double weight_error = 0;  ///< ‖ours − source‖ / ‖source‖
  double output_error = 0;  ///< the same of what comes out of it, on the text
};
using CalibratedMatrices = std::map<std::string, CalibratedMatrix, std::less<>>;

struct CalibrateOptions {
  std::function<model::Precision(const SourcePart&)> precision_of;
  std::vector<std::uint32_t> head_rows;  ///< of the source, where the head is to be quantised too
  model::Precision head;
  std::function<void(double done)> progress;  ///< may be empty
  const base::CancelFlag* cancel = nullptr;
};

/// The tokens (original ids) of each text, BOS in front where the model wants it; texts of fewer
/// than two tokens are left out, longer ones than 512 cut.
std::vector<std::vector<TokenId>> encode_texts(const text::SubwordTokenizer& tokenizer,
                                               std::span<const std::string_view> texts);

/// Those matrices that precision_of() wants as Int4 and whose source is no such thing already. The
/// head is "head.weight" in the result.
Result<CalibratedMatrices> calibrate(const SourceModel& source,
                                     std::span<const std::vector<TokenId>> sequences,
                                     const CalibrateOptions& options);

}  // namespace laya::convert
