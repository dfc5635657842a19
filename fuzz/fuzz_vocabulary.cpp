// Vocabulary::parse on any bytes: an error, or a vocabulary that tokenises any text and gives it
// back.
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_target.h"
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

/// FNV-1a, as vocabulary.cpp ends a blob: so that mutations get past the checksum.
void seal(std::vector<std::byte>& bytes) {
  if (bytes.size() < sizeof(std::uint64_t)) return;
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const std::size_t body = bytes.size() - sizeof(hash);
  for (std::size_t i = 0; i < body; ++i) {
    hash = (hash ^ static_cast<std::uint64_t>(bytes[i])) * 0x100000001b3ULL;
  }
  std::memcpy(bytes.data() + body, &hash, sizeof(hash));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  parse(bytes);
  std::vector<std::byte> sealed(bytes.begin(), bytes.end());
  seal(sealed);
  parse(sealed);
  return 0;
}
