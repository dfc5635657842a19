// Decisions over tokens from any bytes: an error that names the source, or windows and actions
// within their limits.
#include <string_view>

#include "fuzz_target.h"
#include "model/decision/decision_config.h"
#include "train/decision/decision_examples.h"

using laya::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto examples = laya::train::parse_decision_examples(text, "input");
  if (!examples) {
    require(examples.error().message.starts_with("input: "));
    return 0;
  }
  require(examples->size() > 0 && examples->first.size() == examples->size() + 1);
  require(examples->first.back() == examples->tokens.size());
  for (std::size_t i = 0; i < examples->size(); ++i) {
    const auto window = examples->window(i);
    require(!window.empty() && window.size() <= laya::model::kMaxDecisionWindow);
    require(examples->action[i] < examples->actions);
    for (const laya::TokenId token : window) require(token < examples->vocabulary_size);
  }
  return 0;
}
