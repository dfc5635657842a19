// parse_completions on any bytes: an error that quotes nothing, or lines that may be shown.
#include <string_view>

#include "base/utf8.h"
#include "fuzz_target.h"
#include "remote/completion_answer.h"

using laya::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const auto got = laya::remote::parse_completions(body, 5);
  if (!got) {
    require(got.error().message.starts_with("completion server: "));
    return 0;
  }
  require(got->size() <= 5);
  for (const std::string& text : *got) {
    require(!text.empty() && text.size() <= laya::remote::kMaxContinuationBytes);
    require(laya::base::is_valid_utf8(text) && text.find('\n') == std::string::npos);
  }
  return 0;
}
