// DeepContext: the text left of the caret as a decoder reads it — a front of fixed tokens and an
// open tail.
//
// The tail is the word being typed with the space before it ("I want to " is "I want to" + " ",
// since the next token begins with the space), or else whatever the last token spells, since that
// token may not end where the text does. Keeps the last ~192 tokens; their front moves in steps, so
// that the KV cache is filled anew once in a hundred tokens and not at each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/token_id.h"
#include "predict/deep/deep_opening.h"
#include "predict/source/typed_text.h"
#include "text/subword_tokenizer.h"

namespace laya::predict {

class DeepContext {
 public:
  /// `tokenizer` must outlive the context.
  DeepContext(const text::SubwordTokenizer& tokenizer, DeepOpenings openings,
              std::size_t context_tokens, std::size_t healed_tokens);

  void clear();
  /// Cuts `text` anew. Cheap where only the tail changed.
  void read(const TypedText& text);

  /// The fixed front, the opening included.
  std::span<const TokenId> tokens() const { return wanted_; }
  /// What stands before the text: that of the language which was written last.
  std::span<const TokenId> opening() const { return han_ ? openings_.han : openings_.latin; }
  /// What follows it up to the caret, and of this what lies before the open word.
  std::string_view tail() const { return tail_; }
  std::string_view lead() const { return std::string_view(tail_).substr(0, lead_size_); }
  /// The last read() moved the front of the text that was there before.
  bool slid() const { return slid_; }
  /// Length of the front of text.before() that tokens() hold or that was forgotten.
  std::size_t closed_bytes() const { return closed_bytes_; }

 private:
  std::size_t most_bytes() const;
  void begin_at(std::size_t end, std::string_view before, std::uint64_t kept_at);
  void cut_front();
  void find_language(std::string_view text);

  const text::SubwordTokenizer* tokenizer_;
  DeepOpenings openings_;
  bool han_ = false;
  bool slid_ = false;
  std::size_t context_tokens_;
  std::size_t healed_tokens_;
  std::string front_;           // the text that tokens_ spell
  std::uint64_t front_at_ = 0;  // its place in the field
  std::vector<TokenId> tokens_;
  std::vector<std::uint32_t> ends_;
  std::vector<TokenId> fresh_;
  std::vector<std::uint32_t> fresh_ends_;
  text::SubwordScratch scratch_;
  std::vector<TokenId> wanted_;
  std::string tail_;
  std::size_t lead_size_ = 0;
  std::size_t closed_bytes_ = 0;
};

}  // namespace laya::predict
