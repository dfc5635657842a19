// sentencepiece's .model ▶ our Vocabulary. The only place that needs sentencepiece; the product
// reads the blob this makes.
#pragma once

#include <string>

#include "base/result.h"
#include "text/vocabulary.h"

namespace laya::train {

/// Reads a unigram model with byte fallback, whitespace as suffix, identity normalisation. `</s>`
/// becomes the Newline piece, `<s>` Begin, user-defined symbols Symbols; U+2581 in a piece becomes
/// a space. Io or Corrupt naming the file when it cannot be read, Unsupported when it lacks byte
/// pieces, `<s>` or `</s>`.
Result<text::Vocabulary> import_sentencepiece(const std::string& path);

}  // namespace laya::train
