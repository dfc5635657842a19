// Where sentencepiece's one long word can be cut without changing what merging makes of it: between
// two characters that stand side by side in no token. Exact, and most of text has such a place
// every few characters; so words stay short and the front of a text is settled early.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace laya::text {

/// The pairs of neighbouring characters inside tokens, as a Bloom filter (Bloom 1970; both bits of
/// a pair in one word): may say "joined" of a pair that is not, which only makes words longer.
class CharacterPairs {
 public:
  /// Adds what stands inside `token` (well-formed UTF-8). Call reserve() before the first.
  void add(std::string_view token);
  /// Room for about `pairs` different ones.
  void reserve(std::size_t pairs);

  /// Whether a token may hold `left` followed by `right`.
  bool joined(char32_t left, char32_t right) const;

  std::size_t size_bytes() const { return words_.size() * sizeof(std::uint64_t); }

 private:
  std::vector<std::uint64_t> words_;  // a power of two
};

/// Tokens that are found in the text before anything is merged.
class UserDefinedTokens {
 public:
  struct Match {
    std::size_t bytes;  ///< of the longest token at the front of the text; 0: none
    std::uint32_t id;
    bool open;  ///< what is appended to the text may make it a longer one
  };

  UserDefinedTokens() = default;
  /// `ids` sorted by their bytes, which `tokens` gives in the same order.
  UserDefinedTokens(std::vector<std::uint32_t> ids, std::vector<std::string_view> tokens);

  Match match(std::string_view text) const;

 private:
  std::vector<std::uint32_t> ids_;
  std::vector<std::uint32_t> offsets_;  // into bytes_; copied, so that the tokenizer can move
  std::vector<char> bytes_;
  bool starts_[256] = {};
};

}  // namespace laya::text
