// The tokenizers of pretrained models, from their own files: byte-level BPE (GPT-2, SmolLM2, Llama
// 3, Qwen) and sentencepiece BPE with byte fallback (Llama 2, Gemma). Sennrich et al. 2016,
// https://arxiv.org/abs/1508.07909. Equal to Hugging Face's `tokenizers` on text
// (bench/peers/tokenizer_parity.py), but for what users type: the names of control tokens
// ("<eos>") are plain text here, and no control token is ever produced.
//
// Promise: decode(encode(x)) == normalized(x) for any bytes, and normalized(x) == x but where the
// model's own normaliser says NFC (Qwen), and for bytes that a byte-level model has no token for
// (SmolLM2: six control characters and what no text holds), which are left out as the model's
// makers leave them out. Ill-formed UTF-8 is spelled byte by byte.
//
// Immutable after construction: share one between threads. A few MB; hold it by shared_ptr.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"
#include "text/subword_boundaries.h"
#include "text/subword_merges.h"
#include "text/subword_parts.h"
#include "text/subword_pretokenizer.h"
#include "text/subword_vocabulary.h"

namespace laya::text {

/// Working memory of encode(), kept by the caller from call to call so that nothing is allocated
/// after the first. One per thread.
struct SubwordScratch {
  std::string normalized;                ///< NFC of the text, where the model asks for it
  std::vector<std::uint32_t> source_at;  ///< [normalized bytes + 1] their place in the given text
  std::vector<std::uint32_t> ends;
  MergeScratch merge;
};

/// Where the text given to encode() or decode() stands.
enum class TextPosition : std::uint8_t {
  Start,  ///< the very front: Llama 2 puts a space before it, which decode() takes away again
  Rest,   ///< goes on behind text whose tokens are there already, at a place that closed_bytes()
          ///< gave
};

class SubwordTokenizer {
 public:
  /// Reads a Hugging Face `tokenizer.json`. `specials` (from config.json, tokenizer_config.json)
  /// wins over what the file says itself. Corrupt, Unsupported or TooLarge name the field:
  /// "tokenizer.json: model.merges[7] …".
  static Result<SubwordTokenizer> from_tokenizer_json(std::string_view json,
                                                      const SubwordSpecials& specials = {});
  /// From what a GGUF file says (subword_parts.h). Errors as above, "tokenizer: tokens[7] …".
  static Result<SubwordTokenizer> from_parts(const SubwordParts& parts);

  /// The blob `tokenizer` of a `.laya` file. parse() copies; it reads what serialize() wrote and
  /// answers Corrupt, Version or TooLarge, naming the field, to anything else.
  static Result<SubwordTokenizer> parse(std::span<const std::byte> blob);
  std::vector<std::byte> serialize() const;

  /// The same tokenizer with only the tokens `kept` (ascending ids, none twice), renumbered to rows
  /// 0…kept.size()-1. Text whose tokens are all kept is encoded as before, row for id: the tokens
  /// that merging passes through on its way to kept ones stay known, without a row. Where merging
  /// ends at one of those, it is spelled by the two that it was merged from, and so on down, then
  /// by bytes. BadArgument unless `kept` holds all of required_by(kept).
  Result<SubwordTokenizer> pruned(std::span<const TokenId> kept) const;
  /// `wanted` and what must be kept with it so that every text can be spelled: the bytes, BOS and
  /// EOS. Ascending, none twice. Ids ≥ size() are ignored.
  std::vector<TokenId> required_by(std::span<const TokenId> wanted) const;

  /// Tokens, and so the ids 0…size()-1. A model may have more rows (padding): never produced.
  std::size_t size() const { return vocabulary_.size(); }
  SubwordKind subword_kind() const { return options_.kind; }
  PreTokenizer pre_tokenizer() const { return options_.pre_tokenizer; }

  /// Appends the tokens of `text` (< 4 GiB) to `ids`: no BOS. When `ends` is given, token i covers
  /// the bytes of the given text [previous end, ends[i]); where NFC shortened it, the token that
  /// starts a composed character covers all it was composed from. Time O(n log n) however long a
  /// word is. Allocates only to grow the vectors (with `scratch` given), and for text that may have
  /// to be composed (NFC).
  void encode(std::string_view text, std::vector<TokenId>& ids, std::vector<std::uint32_t>* ends,
              TextPosition position = TextPosition::Start, SubwordScratch* scratch = nullptr) const;
  std::vector<TokenId> encode(std::string_view text,
                              TextPosition position = TextPosition::Start) const;

  /// The text of `ids`. Control tokens and ids ≥ size() stand for nothing.
  std::string decode(std::span<const TokenId> ids,
                     TextPosition position = TextPosition::Start) const;

  /// The exact bytes that `id` (< size()) adds to text: real spaces, not Ġ or ▁; parts of
  /// characters too; "" for a Control token. Lives as long as the tokenizer.
  std::string_view bytes(TokenId id) const { return vocabulary_.bytes(id); }
  SubwordTokenKind kind(TokenId id) const { return vocabulary_.kind(id); }
  /// What the model's file calls a Control token ("<bos>"); "" for the others.
  std::string_view control_name(TokenId id) const { return vocabulary_.control_name(id); }

  /// The token that adds exactly `bytes` and that encode() would use for them, or kNoToken.
  TokenId find(std::string_view bytes) const { return vocabulary_.find_row(bytes); }

  /// All tokens whose bytes begin with `prefix` (the ones that equal it first), ordered by their
  /// bytes: all Normal ones, and Byte ones where no Normal token has that byte. All for "".
  /// O(log size), and O(1) more than that only in what the caller walks. Lives as long as the
  /// tokenizer.
  std::span<const TokenId> with_prefix(std::string_view prefix) const {
    return vocabulary_.with_prefix(prefix);
  }

  /// kNoToken where the model has none.
  TokenId bos() const { return options_.bos; }
  TokenId eos() const { return options_.eos; }
  /// Whether the model was trained with BOS in front of every text; encode() never adds it.
  bool add_bos() const { return options_.add_bos; }
  /// Whether encode(…, Start) puts a space before the text (Llama 2): the first token's bytes then
  /// begin with one that the text does not have.
  bool adds_space() const { return options_.prefix_space != PrefixSpace::Never; }

  /// Length of the front of `text` whose tokens stay as they are, whatever is appended: a place
  /// between two tokens, from which encode(…, Rest) goes on as if the text had been encoded whole.
  /// Take the front's tokens from those of the text (ends ≤ closed): encoded alone, blanks at its
  /// end could be cut in another way.
  ///   byte-level: the start of the first pre-token whose end the regular expression could not
  ///   tell without seeing the end of the text (the last word; a trailing run of blanks);
  ///   sentencepiece: the last place between two characters that stand side by side in no token
  ///   (before the last space, mostly; inside Han runs where no token joins the two).
  /// Never inside a character; less where an appended accent could join the last one (NFC). O(n).
  std::size_t closed_bytes(std::string_view text) const;

  /// What decode(encode(text)) gives: `text`, or its NFC for the models that ask for it.
  std::string normalized(std::string_view text) const;

 private:
  friend struct SubwordAssembly;  // subword_assembly.h: the one way to make one
  SubwordTokenizer() = default;

  void encode_words(std::string_view text, std::vector<TokenId>& ids,
                    std::vector<std::uint32_t>& ends, MergeScratch& scratch) const;
  void encode_sentence(std::string_view text, TextPosition position, std::vector<TokenId>& ids,
                       std::vector<std::uint32_t>& ends, MergeScratch& scratch) const;
  void push_byte(std::uint8_t byte, std::size_t end, std::vector<TokenId>& ids,
                 std::vector<std::uint32_t>& ends) const;
  void push_character(std::string_view text, std::size_t at, std::size_t length,
                      std::vector<TokenId>& ids, std::vector<std::uint32_t>& ends) const;
  void finish_word(std::size_t first, std::vector<TokenId>& ids, std::vector<std::uint32_t>& ends,
                   MergeScratch& scratch) const;
  bool puts_space_before(std::string_view text, TextPosition position) const;
  std::size_t closed_words(std::string_view text) const;
  std::size_t closed_sentence(std::string_view text) const;

  SubwordOptions options_;
  SubwordVocabulary vocabulary_;
  MergeTable merges_;
  CharacterPairs pairs_;                        // sentencepiece
  UserDefinedTokens user_defined_;              // sentencepiece
  std::vector<std::uint32_t> spelling_starts_;  // [tokens without a row + 1] into spellings_
  std::vector<TokenId> spellings_;              // rows
};

}  // namespace laya::text
