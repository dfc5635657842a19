// The one way to make a SubwordTokenizer, behind from_parts(), from_tokenizer_json(), parse() and
// pruned(): checked tokens and merges by id in, indexes built here. Internal to the room.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "text/subword_tokenizer.h"

namespace laya::text {

struct SubwordAssembly {
  /// Errors name the field: "merges[7] …", "tokens[7] …", "bos …".
  static Result<SubwordTokenizer> make(const SubwordOptions& options,
                                       std::span<const SubwordVocabulary::Token> tokens,
                                       std::size_t rows, std::vector<Merge> merges);
};

/// Code points in well-formed `text`, as Python counts them.
std::size_t length_in_characters(std::string_view text);

}  // namespace laya::text
