// The tokens of a subword tokenizer by id and by bytes. Ids below size() are the model's rows;
// behind them stand, after pruning, tokens without a row that merging still passes through.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"

namespace laya::text {

enum class SubwordTokenKind : std::uint8_t {
  Normal = 0,
  Byte = 1,     ///< sentencepiece's <0xE4>: one byte of a character without a token
  Control = 2,  ///< BOS, EOS, padding, unknown, chat marks: adds no bytes, never produced
};

class SubwordVocabulary {
 public:
  struct Token {
    std::string_view text;  ///< its bytes; the name of a Control token
    SubwordTokenKind kind;
    bool user_defined;  ///< found before merging (subword_parts.h)
  };

  /// `tokens` by id, of which the first `rows` have a row. Corrupt or TooLarge name "tokens[id]":
  /// no bytes or too many, two Normal ones with the same, a Byte of another length than one.
  static Result<SubwordVocabulary> create(std::span<const Token> tokens, std::size_t rows);

  std::size_t size() const { return rows_; }
  std::size_t total() const { return kinds_.size(); }

  std::string_view bytes(TokenId id) const {
    return kinds_[id] == SubwordTokenKind::Control ? std::string_view() : text(id);
  }
  std::string_view control_name(TokenId id) const {
    return kinds_[id] == SubwordTokenKind::Control ? text(id) : std::string_view();
  }
  /// Bytes of any token, name of a Control one.
  std::string_view text(TokenId id) const {
    return {bytes_.data() + offsets_[id], offsets_[id + 1] - offsets_[id]};
  }
  SubwordTokenKind kind(TokenId id) const { return kinds_[id]; }
  bool user_defined(TokenId id) const { return user_defined_[id] != 0; }

  /// The Normal token of exactly these bytes, with or without a row; or kNoToken. O(1).
  TokenId find(std::string_view bytes) const;
  /// The same among tokens with a row, and the Byte one where there is no Normal one.
  TokenId find_row(std::string_view bytes) const;
  /// What spells one byte: the Byte token, else the Normal one of that byte (byte-level), else
  /// kNoToken.
  TokenId byte_id(std::uint8_t byte) const { return byte_ids_[byte]; }

  /// See SubwordTokenizer::with_prefix().
  std::span<const TokenId> with_prefix(std::string_view prefix) const;

  std::size_t size_bytes() const;

 private:
  Status index();  // fills byte_ids_ and table_
  void sort_rows();

  std::size_t rows_ = 0;
  std::string bytes_;
  std::vector<std::uint32_t> offsets_;  // [total + 1] into bytes_
  std::vector<SubwordTokenKind> kinds_;
  std::vector<std::uint8_t> user_defined_;
  std::array<TokenId, 256> byte_ids_{};
  std::vector<TokenId> table_;   // open addressing, a power of two, ids or kNoToken
  std::vector<TokenId> sorted_;  // rows by bytes
};

}  // namespace laya::text
