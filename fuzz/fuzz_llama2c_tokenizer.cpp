// The reader of llama2.c's tokenizer.bin on any bytes, with the size given and found.
#include "format/llama2c_file.h"
#include "fuzz_target.h"

using laya::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  for (const std::uint32_t count : {0u, 1u, 3u, 0xFFFFFFFFu}) {
    const auto read = laya::format::parse_llama2c_tokenizer(bytes, count, "input");
    if (!read) {
      require(read.error().message.starts_with("input: "));
      continue;
    }
    require(read->tokens.size() == read->scores.size() &&
            (count == 0 || read->tokens.size() == count));
    for (const std::string& token : read->tokens) require(token.size() <= read->max_token_bytes);
  }
  return 0;
}
