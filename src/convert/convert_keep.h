// Which rows of a large vocabulary a user of some languages needs: `laya convert --keep zh,en`.
//
// A multilingual model spends two thirds of its bytes on rows that Chinese and English never meet.
// Which those are is not visible from the tokens (French is Latin too), so it is counted on text:
// once, here, for the tokenizers that `laya model` knows (models/deep/kept, compiled in, so that a
// user needs no corpus), or on the user's own text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"
#include "format/checkpoint.h"
#include "text/subword_tokenizer.h"

namespace laya::convert {

/// What was counted for one tokenizer: for each language the ids that its text needs.
struct KeptTable {
  struct Language {
    std::string name;          ///< "zh", "en"
    std::vector<TokenId> ids;  ///< ascending
  };
  std::uint64_t vocabulary_hash = 0;  ///< over the bytes of all these tokens: vocabulary_hash()
  std::vector<Language> languages;
};

/// Identifies a tokenizer by the tokens that a table names, whatever file it came from: FNV-1a of
/// each one's id, length and bytes. 0 where one is not there.
std::uint64_t vocabulary_hash(const text::SubwordTokenizer& tokenizer,
                              std::span<const KeptTable::Language> languages);

/// A file of models/deep/kept: "LAYAKEPT", u32 version 1, u32 languages, u64 vocabulary_hash; for
/// each language u8 name length, name, u32 bits, u32 bytes, and so many bytes of a zstd frame that
/// holds a bit an id, lowest first. Errors Corrupt, Version, TooLarge name the field.
Result<KeptTable> parse_kept_table(std::span<const std::byte> bytes);
std::vector<std::byte> serialize(const KeptTable& table);

/// The ids that `languages` ("zh,en"; any order) need, from the tables that are compiled in.
/// Ascending; close them with required_by(). BadArgument: a language that no table has;
/// Unsupported: a tokenizer that was never counted. Both with the remedy (--keep-text FILE).
Result<std::vector<TokenId>> kept_tokens(const text::SubwordTokenizer& tokenizer,
                                         std::string_view languages);
/// The same for a checkpoint that is not open yet otherwise; reads its tokenizer.
Result<std::vector<TokenId>> kept_tokens(const format::Checkpoint& checkpoint,
                                         std::string_view languages);

/// Adds to counts [tokenizer.size()] how often each token occurs in `text`, line by line.
void count_tokens(const text::SubwordTokenizer& tokenizer, std::string_view text,
                  std::span<std::uint64_t> counts);

/// The tables that this build knows: contents of models/deep/kept, which CMake writes into a
/// source file.
std::span<const std::span<const std::byte>> built_in_kept_tables();

}  // namespace laya::convert
