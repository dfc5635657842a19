// Makes the vocabulary: which pieces text is cut into. Run once per model family; the network, the
// tables and the token caches all depend on its ids. sentencepiece's unigram trainer does the work
// (Kudo 2018, https://arxiv.org/abs/1804.10959).
#pragma once

#include <cstdint>

#include "base/result.h"
#include "text/vocabulary.h"
#include "train/text/mixture.h"

namespace laya::train {

struct VocabularyOptions {
  std::uint32_t size = 16384;        ///< pieces in all
  std::uint32_t sentences = 500000;  ///< lines drawn for training, at most
  std::uint32_t min_han_count =
      10;  ///< a Han character this frequent gets its piece; rarer ones are written in bytes
  std::uint32_t min_symbol_count =
      60;  ///< the same for punctuation, accents and the like outside ASCII
  std::uint32_t max_symbols = 400;  ///< of those, the most frequent
  std::uint64_t seed = 7;           ///< of the choice of lines
};

/// Trains on the mixture's texts, a line as often as its source's weight says. Every Han character
/// is a piece of its own, and only that: Han runs are taken out of the text, so that no piece of
/// two characters is learnt and the probability of the next character is that of the next piece.
/// What Chinese text leaves, its Latin words and marks, is learnt from. Spaces belong to the word
/// before them. Errors: those of read_text; Unsupported (built without sentencepiece); BadArgument
/// (sentencepiece's own reason, for example a size below the number of required characters).
Result<text::Vocabulary> train_vocabulary(const Mixture& mixture, const VocabularyOptions& options);

}  // namespace laya::train
