// What a conversion cost: the checkpoint in fp32 against the file that was made of it, on text.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/cancel_flag.h"
#include "base/result.h"
#include "convert/convert_parity.h"
#include "format/checkpoint.h"

namespace laya::convert {

/// Below this overlap of candidates a conversion deserves a warning (issue 4).
inline constexpr double kWantedOverlap = 0.98;

struct ConversionLoss {
  Parity weights;  ///< what the weights lost: both sides computed in fp32
  Parity run;      ///< the file as the cpu backend runs it, 8-bit activations included
  std::uint32_t worst_layer = 0;  ///< adds most to the difference of the residual streams
  double worst_layer_error = 0;   ///< relative difference of the streams after it
};

struct MeasureOptions {
  std::size_t contexts = 300;
  std::function<void(double done)> progress;  ///< may be empty
  const base::CancelFlag* cancel = nullptr;
};

/// `path` is a `.laya` made from `checkpoint`. Contexts are all places of `texts` (tokens of the
/// file, so both see the same), until there are enough. Errors: those of opening and reading
/// either, BadArgument (no text), Cancelled. Memory: two tables of [contexts, V] floats and one
/// layer.
Result<ConversionLoss> measure_conversion(const format::Checkpoint& checkpoint,
                                          const std::string& path,
                                          std::span<const std::string_view> texts,
                                          const MeasureOptions& options = {});

}  // namespace laya::convert
