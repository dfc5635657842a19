// Vocabulary::parse on any bytes: an error, or a vocabulary that tokenises any text and gives it
// back.
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_target.h"
#include "sealed.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

using laya::fuzz::require;
using laya::text::Tokenizer;
using laya::text::Vocabulary;

namespace {

void parse(std::span<const std::byte> bytes) {
  auto vocabulary = Vocabulary::parse(bytes);
  if (!vocabulary) {
    require(vocabulary.error().message.starts_with("vocabulary: "));
    return;
  }
  require(vocabulary->size() <= Vocabulary::kMaxPieces);
  const std::vector<std::byte> again = vocabulary->serialize();
  require(again.size() == bytes.size() &&
          std::memcmp(again.data(), bytes.data(), again.size()) == 0);
  const Tokenizer tokenizer(std::move(vocabulary).value());
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  require(tokenizer.decode(tokenizer.encode(text)) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  laya::fuzz::parse_raw_and_sealed(std::as_bytes(std::span(data, size)), parse);
  return 0;
}
