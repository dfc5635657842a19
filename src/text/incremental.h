// The tokens of a text that is being edited. An edit re-encodes only the chunks it touches.
//
// Equals Tokenizer::encode(text()) after any sequence of edits. Belongs to one session (not
// thread-safe). After warm-up (text within the reserved capacity) an edit allocates nothing; it
// costs a few µs plus moving what lies right of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/chunk.h"
#include "text/tokenizer.h"

namespace laya::text {

class IncrementalTokenizer {
 public:
  /// `tokenizer` must outlive this. Reserves for `capacity_bytes` of text; longer text is fine, it
  /// allocates.
  explicit IncrementalTokenizer(const Tokenizer& tokenizer, std::size_t capacity_bytes = 4096);

  /// Replaces `erased` bytes at `offset` by `inserted`; both are clipped to the text. The one
  /// primitive behind all edits. Cutting a UTF-8 sequence in half is allowed. `inserted` may not
  /// point into text().
  void replace(std::size_t offset, std::size_t erased, std::string_view inserted);

  void insert(std::size_t offset, std::string_view inserted) { replace(offset, 0, inserted); }
  void erase(std::size_t offset, std::size_t count) { replace(offset, count, {}); }
  void append(std::string_view inserted) { replace(text_.size(), 0, inserted); }
  void assign(std::string_view text) { replace(0, text_.size(), text); }

  std::string_view text() const { return text_; }
  /// Tokens of the whole text, and the byte at which each ends. Views are valid until the next
  /// edit.
  std::span<const TokenId> ids() const { return tokens_.ids; }
  std::span<const std::uint32_t> ends() const { return tokens_.ends; }

  /// How many tokens at the front are the same as before the last edit: a model state may be kept
  /// up to there
  /// (`State::truncate(min(unchanged, its length))`) and advanced over the rest.
  std::size_t unchanged_tokens() const { return unchanged_tokens_; }

  /// Tokens of the closed chunks; the model is advanced over these. ids().size() unless the text
  /// ends in an open word.
  std::size_t closed_tokens() const { return closed_tokens_; }
  /// The bytes behind the closed tokens: the word being typed, "" when there is none.
  std::string_view open_prefix() const { return std::string_view(text_).substr(closed_bytes_); }

 private:
  struct ChunkEnd {
    std::uint32_t byte;   // where the chunk ends in text_
    std::uint32_t token;  // tokens up to there
  };

  void find_open_chunk();

  const Tokenizer* tokenizer_;
  std::string text_;
  Tokens tokens_;
  std::vector<ChunkEnd> chunks_;
  Tokens fresh_tokens_;  // scratch of replace()
  std::vector<ChunkEnd> fresh_chunks_;
  std::size_t unchanged_tokens_ = 0;
  std::size_t closed_tokens_ = 0;
  std::size_t closed_bytes_ = 0;
};

}  // namespace laya::text
