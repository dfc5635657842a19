// parse_nbest on any bytes: an error that names the line, or sentences of finite scores.
#include <cmath>
#include <string_view>

#include "eval/evaluate_rerank.h"
#include "fuzz_target.h"

using laya::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto got = laya::eval::parse_nbest({reinterpret_cast<const char*>(data), size});
  if (!got) {
    require(got.error().message.starts_with("line "));
    return 0;
  }
  for (const laya::eval::NbestSentence& sentence : *got) {
    for (const auto& candidate : sentence.candidates) {
      require(std::isfinite(candidate.score));
    }
  }
  return 0;
}
