// SubwordTokenizer::from_tokenizer_json on any bytes: an error that names the file, or a tokenizer
// that tokenises any text, gives it back, and survives its own blob.
#include <string_view>

#include "fuzz_target.h"
#include "text/subword_tokenizer.h"

using laya::fuzz::require;
using laya::text::SubwordTokenizer;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = SubwordTokenizer::from_tokenizer_json(text);
  if (!tokenizer) {
    require(tokenizer.error().message.starts_with("tokenizer.json: "));
    return 0;
  }
  const std::string_view sample = text.substr(0, 2000);
  const auto ids = tokenizer->encode(sample);
  for (const laya::TokenId id : ids) {
    require(id < tokenizer->size());
  }
  if (!tokenizer->adds_space() || !sample.starts_with(' ')) {
    require(tokenizer->decode(ids) == tokenizer->normalized(sample));
  }
  require(tokenizer->closed_bytes(sample) <= sample.size());
  const auto again = SubwordTokenizer::parse(tokenizer->serialize());
  require(again.has_value() && again->encode(sample) == ids);
  return 0;
}
