// How an n-gram table is made from a mixture: weights of its own, smoothing, pruning. A TOML file
// (models/instant/ngram.toml).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "train/ngram/ngram_counts.h"
#include "train/ngram/ngram_estimate.h"
#include "train/ngram/ngram_text.h"

namespace laya::train {

/// What the table takes of one source of the mixture.
struct NgramSourceRecipe {
  double weight = 1.0;  ///< what one occurrence counts; > 0
  double cased = 1.0;  ///< how far its capitals are trusted for the written form of words: 0 (chat)
                       ///< … 1 (edited text)
  double part = 1.0;  ///< the first part of its text, (0, 1]: of a large source a part says as much
};

struct NgramRecipe {
  NgramLexiconOptions lexicon;
  NgramCountOptions count;
  NgramEstimateOptions estimate;
  std::map<std::string, NgramSourceRecipe, std::less<>>
      sources;                     ///< by the mixture's names; others are left out
  std::vector<std::string> avoid;  ///< sequences never to be offered, like "kill myself"
  std::string text;                ///< the file itself, kept for the training record
};

/// Reads `file`. Unknown keys are refused. Errors: Io, Corrupt (not TOML), BadArgument (names the
/// key and its limit).
Result<NgramRecipe> load_ngram_recipe(const std::filesystem::path& file);

/// The same from text; `where` names it in errors.
Result<NgramRecipe> parse_ngram_recipe(std::string_view text, std::string_view where);

}  // namespace laya::train
