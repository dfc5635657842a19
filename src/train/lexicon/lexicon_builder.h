// Which words the lexicon knows, and how frequent they are: word lists of people who keep such
// lists (SCOWL), counted in the training texts, and words that only the texts know, where they are
// no slip of a known one.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "predict/offers/lexicon_tables.h"
#include "train/ngram/ngram_recipe.h"
#include "train/text/mixture.h"

namespace laya::train {

struct LexiconBuild {
  std::vector<predict::LexiconEntry> entries;
  double unknown_weight = 0;          ///< of all words of the texts that are none of them
  std::size_t listed = 0;             ///< entries that a word list has
  std::size_t found = 0;              ///< entries that only the texts have
  std::vector<std::string> licences;  ///< "source: licence" of every text
};

using LexiconProgress = std::function<void(std::string_view stage, double done)>;

/// `scowl`: the folder of SCOWL's lists (english-words.10, american-upper.50, …). The texts are the
/// English sources of `mixture` that `recipe` names, with its weights. Errors: Io (no list, no
/// text), as read_text, BadArgument (a text holds held-out lines).
Result<LexiconBuild> build_lexicon(const std::filesystem::path& scowl, const Mixture& mixture,
                                   const NgramRecipe& recipe, const LexiconProgress& progress);

/// Writes a `.laya` file that predict::Lexicon::open reads. Errors: as ModelWriter.
Status write_lexicon(const LexiconBuild& build, const std::string& path);

// The rules, apart, so that they can be tested.

/// How often a word was counted.
struct WordCount {
  double weight = 0;          ///< occurrences times their sources' weights
  std::uint32_t uses = 0;     ///< occurrences
  std::uint32_t sources = 0;  ///< in how many sources
  std::uint32_t parted_uses =
      0;  ///< occurrences of two listed words that it is made of, with space
};

/// Whether a word that no list has is one nevertheless. `weight_of` gives a listed word's weight, 0
/// for others. Not a word: used too little, a slip of a much more frequent listed word
/// ("recieve"), or two listed words without their space ("seeit").
bool is_found_word(std::string_view key, const WordCount& count,
                   const std::function<double(std::string_view)>& weight_of);

}  // namespace laya::train
