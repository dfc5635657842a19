// Two decoders inside the whole product: are the same words and characters offered?
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace laya::apps {

/// Shares of contexts, 0…1.
struct WordsCompared {
  std::size_t contexts = 0;
  double same_top3 = 0;       ///< the list of three holds the same words or characters
  double same_order = 0;      ///< in the same order
  double same_deep_top3 = 0;  ///< the decoder's own three likeliest of the words weighed
};

/// Opens the engine with each decoder and asks both at `contexts` places of `lines`: before a word
/// (what stands left of it ends in a space), or between two Han characters. `model` is what --model
/// says. Errors: those of opening the engine; BadArgument where no line has such a place.
Result<WordsCompared> compare_words(const std::string& model, const std::string& first,
                                    const std::string& second,
                                    std::span<const std::string_view> lines, std::size_t contexts,
                                    const std::function<void(double done)>& progress);

}  // namespace laya::apps
