// What a subword tokenizer is made of, as model files state it. Whoever reads a file
// (tokenizer.json here; GGUF in the converter) fills SubwordParts; SubwordTokenizer::from_parts()
// checks it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"

namespace laya::text {

/// How bytes are written in the pieces, and so how text is cut to begin with.
enum class SubwordKind : std::uint8_t {
  ByteLevel = 0,  ///< GPT-2's: each byte is a symbol, shown as a printable character (space = Ġ)
  Sentencepiece = 1,  ///< each character is a symbol, ▁ (U+2581) for a space, <0xE4> for a byte
};

/// The regular expression that cuts text before merging. The patterns stand in
/// subword_pretokenizer.cpp.
enum class PreTokenizer : std::uint8_t {
  None = 0,    ///< sentencepiece: the whole text is one word
  Gpt2 = 1,    ///< GPT-2
  SmolLm = 2,  ///< each digit alone, then GPT-2's
  Llama3 = 3,  ///< up to three digits together; GGUF: llama-bpe
  Qwen2 = 4,   ///< as Llama 3, each digit alone
};

/// What is done to the text before anything else.
enum class SubwordNormalizer : std::uint8_t { None = 0, Nfc = 1 };

/// Whether a space is put before the very front of a text (sentencepiece's add_dummy_prefix).
enum class PrefixSpace : std::uint8_t {
  Never = 0,
  Always = 1,       ///< Llama 2, TinyLlama
  UnlessThere = 2,  ///< not before a text that starts with one (tokenizer.json: Metaspace "first");
                    ///< decode() cannot tell "hi" from " hi" then
};

/// What a piece is for; the numbers are GGUF's `tokenizer.ggml.token_type`.
enum class PieceRole : std::uint8_t {
  Normal = 1,
  Unknown = 2,      ///< never produced
  Control = 3,      ///< never produced
  UserDefined = 4,  ///< sentencepiece: found in the text before anything is merged, the longest at
                    ///< the leftmost place ("\n\n", "<table>"); byte-level: never produced
  Unused = 5,       ///< never produced
  Byte = 6,         ///< <0xE4>
};

/// Ids that the files beside a tokenizer.json state; empty fields are looked for in the file.
struct SubwordSpecials {
  std::optional<TokenId> bos;
  std::optional<TokenId> eos;
  std::optional<bool> add_bos;
};

/// What all forms of a tokenizer state beside its tokens and merges.
struct SubwordOptions {
  SubwordKind kind = SubwordKind::ByteLevel;
  PreTokenizer pre_tokenizer = PreTokenizer::None;
  SubwordNormalizer normalizer = SubwordNormalizer::None;
  PrefixSpace prefix_space =
      PrefixSpace::Never;      ///< GGUF: add_space_prefix, for sentencepiece only
  bool ignore_merges = false;  ///< a pre-token that is a token is taken whole (Llama 3)
  bool add_bos = false;        ///< GGUF: add_bos_token
  TokenId bos = kNoToken;
  TokenId eos = kNoToken;
};

/// Limits of every form of a tokenizer; beyond them is TooLarge.
inline constexpr std::size_t kMaxSubwordTokens = 1u << 20;  // the largest today: 262,144
inline constexpr std::size_t kMaxSubwordMerges = 1u << 22;  // Gemma: 514,906
inline constexpr std::size_t kMaxSubwordBytes = 1024;  // of one token; today's longest: 128 spaces

/// At most one of scores, merges and merge_ids is not empty; none of them: nothing merges.
struct SubwordParts {
  SubwordOptions options;
  std::vector<std::string> tokens;  ///< [size] as written in the file (Ġ, ▁, <0x0A>), by id
  std::vector<PieceRole> roles;     ///< [size], or empty: all Normal
  std::vector<float> scores;        ///< [size] sentencepiece (GGUF "llama"): the higher first
  std::vector<std::string> merges;  ///< "left right", best first (GGUF "gpt2")
  std::vector<std::array<TokenId, 2>> merge_ids;  ///< left and right, best first
};

/// Sets kind, pre-tokeniser, normaliser and ignore_merges from the GGUF fields tokenizer.ggml.model
/// ("gpt2", "llama") and tokenizer.ggml.pre ("smollm", "llama-bpe", "qwen2", "gpt-2"; "" and
/// "default" only for "llama"). Unsupported names the value and what is known. prefix_space, bos,
/// eos and add_bos are the caller's (GGUF: add_space_prefix is true for "llama" where absent).
Status set_gguf_tokenizer(std::string_view model, std::string_view pre, SubwordOptions& options);

}  // namespace laya::text
