// The shipped vocabulary for tests of this room.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace laya::text {

inline std::vector<std::byte> shipped_vocabulary_blob() {
  std::ifstream in(std::string(LAYA_SOURCE_DIR) + "/models/instant/vocabulary.bin",
                   std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  return {data, data + bytes.size()};
}

inline Vocabulary shipped_vocabulary() {
  Result<Vocabulary> vocabulary = Vocabulary::parse(shipped_vocabulary_blob());
  if (!vocabulary) {
    ADD_FAILURE() << "models/instant/vocabulary.bin: " << vocabulary.error().message;
    std::abort();
  }
  return std::move(vocabulary).value();
}

/// One for all tests: reading it takes milliseconds, but there are thousands of cases.
inline const Tokenizer& shipped_tokenizer() {
  static const Tokenizer tokenizer(shipped_vocabulary());
  return tokenizer;
}

/// Tokens as text, "the |cat|", bytes as <E4>, the newline as ⏎: what the expectations below read
/// like.
inline std::string shown(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  std::string out;
  for (const TokenId id : ids) {
    const Vocabulary& vocabulary = tokenizer.vocabulary();
    if (vocabulary.type(id) == PieceType::Byte) {
      static const char* const kHex = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(vocabulary.text(id)[0]);
      out += std::string("<") + kHex[byte >> 4] + kHex[byte & 15] + ">";
    } else if (vocabulary.type(id) == PieceType::Newline) {
      out += "⏎";
    } else {
      out += vocabulary.text(id);
    }
    out += '|';
  }
  return out;
}

}  // namespace laya::text
