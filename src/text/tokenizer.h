// Text ▶ tokens and back: chunks (chunk.h), then in each chunk the likeliest cut into pieces
// (Viterbi over unigram scores, Kudo 2018, https://arxiv.org/abs/1804.10959), bytes where a
// character has no piece. Equals sentencepiece's own encoding of each chunk.
//
// Promise: decode(encode(x)) == x for any bytes. Not normalised here; see normalize.h.
// Immutable after construction: share it between threads. encode() allocates only to grow the
// vectors it is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/trie.h"
#include "text/vocabulary.h"

namespace laya::text {

/// Tokens of a text with their places: token i covers bytes [i == 0 ? 0 : ends[i - 1], ends[i]).
struct Tokens {
  std::vector<TokenId> ids;
  std::vector<std::uint32_t> ends;

  void clear() {
    ids.clear();
    ends.clear();
  }
};

class Tokenizer {
 public:
  /// Builds the trie (~2 ms for 16 k pieces).
  explicit Tokenizer(Vocabulary vocabulary);

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const Trie& trie() const { return trie_; }

  /// Tokens of all of `text` (< 4 GiB), no BOS in front, no newline added. The last, open word is
  /// encoded as it stands.
  std::vector<TokenId> encode(std::string_view text) const;
  /// Appends to `ids`; the trainer's way, one line after another without allocating.
  void encode(std::string_view text, std::vector<TokenId>& ids) const;
  /// Appends ids and byte offsets; offsets start at `base_offset`.
  void encode(std::string_view text, Tokens& out, std::uint32_t base_offset = 0) const;

  /// Appends the tokens of ONE chunk (as next_chunk() cuts it; at most kMaxChunkBytes).
  void encode_chunk(std::string_view chunk, Tokens& out, std::uint32_t base_offset) const;

  /// The bytes that `ids` stand for; BOS stands for none. Ids outside the vocabulary are skipped.
  std::string decode(std::span<const TokenId> ids) const;
  void decode(std::span<const TokenId> ids, std::string& out) const;  // appends

 private:
  Vocabulary vocabulary_;
  Trie trie_;
  float unknown_score_;  // of a character without a piece: sentencepiece's rule, lowest score - 10
};

}  // namespace laya::text
