// From somebody else's checkpoint to `.laya`: names and conventions translated, weights repacked,
// the vocabulary pruned on request. Called by `laya convert` and, through it, by `laya model`.
//
//   auto checkpoint = format::Checkpoint::open("model.gguf");
//   convert::ConvertOptions options;
//   auto report = convert::convert(*checkpoint, options, "model.laya");
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel_flag.h"
#include "base/result.h"
#include "base/token_id.h"
#include "format/checkpoint.h"
#include "model/decoder/decoder_config.h"
#include "model/gru/quantize.h"

namespace laya::convert {

/// What the matrices become.
enum class WeightPolicy : std::uint8_t {
  Auto,    ///< quantised sources as they are, but nothing wider than 4 bits where 4 cost little
           ///< (measured); others: int4/32m from 30 M parameters on, else int8
  Source,  ///< quantised sources repacked group by group, as exactly as our types can; others fp16
  Fixed,   ///< ConvertOptions::precision for all
};

struct ConvertOptions {
  WeightPolicy policy = WeightPolicy::Auto;
  model::Precision precision;            ///< WeightPolicy::Fixed
  std::optional<model::Precision> head;  ///< of the rows that make logits; else by the policy
  std::map<std::string, model::Precision, std::less<>> exceptions;  ///< by our tensor names
  std::vector<TokenId> kept;  ///< original ids, ascending; empty: all. Closed by the tokenizer's
                              ///< required_by() here
  std::vector<std::string> texts;    ///< lines to quantise for; empty: sentences that are built in
  std::string name, licence;         ///< "" for the checkpoint's own
  std::vector<std::string> sources;  ///< where it was got from, for the metadata
  std::function<void(std::string_view stage, double done)> progress;  ///< done 0…1; may be empty
  const base::CancelFlag* cancel = nullptr;
};

/// What became of one tensor.
struct ConvertedTensor {
  std::string name;
  std::string source;     ///< "Q4_1", "BF16", …
  std::string precision;  ///< "int4/32m", …
  std::uint64_t bytes = 0;
  double relative_error = 0;  ///< ‖ours − source‖ / ‖source‖, over what was written
  double output_error = 0;    ///< the same of its products with what it met on the built-in text;
                              ///< 0 where it was not quantised for that
};

struct ConvertReport {
  std::string name, family, licence;
  model::DecoderConfig config;
  std::uint32_t source_vocabulary = 0;  ///< rows before pruning
  std::uint64_t source_bytes = 0, bytes = 0;
  std::vector<ConvertedTensor> tensors;
};

/// Writes `path`, whole or not at all. Errors: those of read_source_model() and of the tokenizer;
/// Corrupt (a weight is NaN or infinite, tensor named), Io, Cancelled. One thread.
Result<ConvertReport> convert(const format::Checkpoint& checkpoint, const ConvertOptions& options,
                              const std::string& path);

}  // namespace laya::convert
