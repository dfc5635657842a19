// SubwordTokenizer::parse on any bytes: an error, or a tokenizer that writes the same bytes again,
// tokenises any text and gives it back.
#include <cstring>
#include <string_view>
#include <vector>

#include "fuzz_target.h"
#include "sealed.h"
#include "text/subword_tokenizer.h"

using laya::fuzz::require;
using laya::text::SubwordTokenizer;

namespace {

void parse(std::span<const std::byte> bytes) {
  const auto tokenizer = SubwordTokenizer::parse(bytes);
  if (!tokenizer) {
    require(tokenizer.error().message.starts_with("tokenizer: "));
    return;
  }
  const std::vector<std::byte> again = tokenizer->serialize();
  require(again.size() == bytes.size() &&
          std::memcmp(again.data(), bytes.data(), again.size()) == 0);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto ids = tokenizer->encode(text);
  for (const laya::TokenId id : ids) {
    require(id < tokenizer->size());
  }
  if (!tokenizer->adds_space()) {
    require(tokenizer->decode(ids) == tokenizer->normalized(text));
  }
  require(tokenizer->closed_bytes(text) <= text.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  laya::fuzz::parse_raw_and_sealed(std::as_bytes(std::span(data, size)), parse);
  return 0;
}
