// Bits per character: how well a model knows a text, whatever it is used for. Comparable between
// models of different vocabularies, unlike perplexity a token.
//
// ln p(line) in the tokens that the model's own tokenizer gives it, at a field's start, over ln 2
// and the line's code points. The network is measured without the n-gram table (which knows no
// spelling, so what it says of a text is no probability of its characters), the decoder by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "eval/interval.h"
#include "eval/lines.h"
#include "predict/engine/engine.h"

namespace laya::eval {

/// Of longer lines, only so much is measured (whole characters): the decoder's context has an end.
inline constexpr std::size_t kMaxBpcBytes = 480;

struct BpcOptions {
  std::size_t max_lines = 0;
  Progress progress = {};
};

struct BpcResult {
  struct Bits {
    double bits = 0;  ///< per character
    Interval interval = {};
    double tokens_per_character = 0;
  };
  std::size_t lines = 0;
  std::uint64_t characters = 0;
  std::optional<Bits> network;
  std::optional<Bits> decoder;
};

/// BadArgument for no lines, or for an engine with neither network nor decoder.
Result<BpcResult> evaluate_bpc(const predict::Engine& engine, const std::vector<std::string>& lines,
                               const BpcOptions& options);

/// {"lines":…,"characters":…,"network":{"bits":…,"bits_interval":[…],…},"decoder":{…}}; null for
/// what the engine has not.
std::string to_json(const BpcResult& result);

}  // namespace laya::eval
