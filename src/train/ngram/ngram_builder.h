// Builds an n-gram table from a mixture: what `laya train ngram` does. Text ▶ counts ▶
// probabilities ▶ pruned, quantised table.
//
// Deterministic: the same texts and recipe give the same bytes. One thread; about 35 bytes of
// memory an n-gram counted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "train/ngram/ngram_recipe.h"
#include "train/ngram/ngram_writer.h"
#include "train/text/mixture.h"

namespace laya::train {

/// One source, as it went in.
struct NgramSourceReport {
  std::string name;
  std::string licence;
  double weight = 0.0;
  std::uint64_t units = 0;
};

struct NgramBuild {
  NgramTable table;
  std::vector<NgramSourceReport> sources;
  std::uint64_t units = 0;             ///< of all sources together
  std::vector<std::uint64_t> counted;  ///< different n-grams of each length, before pruning
};

/// Called now and then: what is being done ("reading", "counting", "estimating") and how far it is,
/// 0…1.
using NgramProgress = std::function<void(std::string_view stage, double done)>;

/// Errors: those of the files; BadArgument when the recipe names a source that the mixture lacks,
/// or when a text overlaps held-out text (and its source does not say drop_held_out).
Result<NgramBuild> build_ngrams(const Mixture& mixture, const NgramRecipe& recipe,
                                const NgramProgress& progress);

/// Writes the table as a `.laya` file with its sources, licences and recipe as metadata.
Status write_ngrams(const NgramBuild& build, const NgramRecipe& recipe,
                    const std::filesystem::path& file);

}  // namespace laya::train
