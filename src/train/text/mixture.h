// What a model is trained on: a TOML file that lists the sources, how much of each, and the files
// they must not overlap.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace laya::train {

/// One training text. Files hold one utterance a line; a blank line is a document boundary; `.txt`
/// or `.txt.zst`.
struct MixtureSource {
  std::string name;            ///< unique, [a-z0-9_]; names the source in logs
  std::filesystem::path path;  ///< training text, resolved against the data root
  std::filesystem::path dev;   ///< dev text, or empty: then the source is not evaluated
  std::string language;        ///< a key of [languages]
  double weight = 1.0;  ///< how often its text is seen, relative to the others of its language; > 0
  double max_share = 1.0;  ///< at most this part of all tokens, (0, 1]
  double split_lines =
      0.5;  ///< probability that a document is cut into single lines, each starting anew
  /// Whether lines that also stand in a held-out file are left out. False: the source is refused
  /// when it has any.
  bool drop_held_out = false;
  std::string licence;  ///< as the model card names it
};

/// Share of all tokens that one language gets.
struct MixtureLanguage {
  std::string name;
  double share = 0.0;  ///< normalised: they sum to 1
};

struct Mixture {
  std::vector<MixtureLanguage> languages;
  std::vector<MixtureSource> sources;
  std::vector<std::filesystem::path>
      held_out;      ///< dev and test texts that no training line may stand in
  std::string text;  ///< the file itself, kept for the training record
};

/// Reads `file`; paths in it are relative to `data_root`. Unknown keys are refused, so that a
/// misspelt option is not silently ignored. Errors: Io (cannot be read), Corrupt (not TOML),
/// BadArgument (names the source, the key and its limit).
Result<Mixture> load_mixture(const std::filesystem::path& file,
                             const std::filesystem::path& data_root);

/// The same from text; `where` names it in errors.
Result<Mixture> parse_mixture(std::string_view text, std::string_view where,
                              const std::filesystem::path& data_root);

/// Share of all tokens for each source: language share × weight·tokens within the language, then
/// every source above its max_share is capped and what it loses goes to the others of its language
/// in proportion (to all, where none is left). `tokens[i]` is the size of sources[i]; a source of
/// no tokens gets 0. The result sums to 1 unless all are capped.
std::vector<double> source_shares(const Mixture& mixture, const std::vector<std::size_t>& tokens);

}  // namespace laya::train
