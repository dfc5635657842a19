// How good are corrections? Pairs of what was typed and what was meant, and clean text, in which
// nothing should be corrected. Ours and other programs' are measured by the same rules: the right
// word among the first three offers, case ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eval/interval.h"
#include "eval/lines.h"

namespace laya::eval {

struct CorrectPair {
  std::string typed;
  std::string expected;  ///< may hold a space (alot: a lot)
  std::string before;    ///< the text left of the word; may be empty
};

/// Lines typed<TAB>expected[<TAB>before]; blank lines and lines that begin with # are skipped.
/// Corrupt names the line. At most 10 million pairs (TooLarge).
Result<std::vector<CorrectPair>> parse_correct_pairs(std::string_view text);

/// A program that corrects: the words to offer for `typed` behind `before`, best first; empty where
/// it sees nothing to correct. The views live until the next call.
using Correcting = std::function<Result<std::span<const std::string>>(std::string_view before,
                                                                      std::string_view typed)>;

struct CorrectResult {
  std::uint64_t pairs = 0;
  std::uint64_t top1 = 0;
  std::uint64_t top3 = 0;
  std::uint64_t silent = 0;         ///< nothing was offered
  std::vector<float> us;            ///< time of each, sorted
  std::vector<std::size_t> missed;  ///< indices of pairs that are not among the first three

  double share(std::uint64_t hits) const {
    return pairs == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(pairs);
  }
  float percentile(double share) const {
    return us.empty() ? 0
                      : us[static_cast<std::size_t>(share * static_cast<double>(us.size() - 1))];
  }
};

struct CleanResult {
  std::uint64_t words = 0;
  std::uint64_t flagged = 0;       ///< a correction was offered for a word that is right
  std::vector<std::string> flags;  ///< the words (evaluation text, not anybody's typing)
};

Result<CorrectResult> evaluate_correct(std::span<const CorrectPair> pairs,
                                       const Correcting& correcting, const Progress& progress);

/// Every word of `lines` (Latin letters with inner apostrophes) behind the text before it in its
/// line, as its writer would be shown it.
Result<CleanResult> evaluate_clean(std::span<const std::string> lines, const Correcting& correcting,
                                   const Progress& progress);

/// {"pairs","top1","top3","silent", …_interval, "us":{"p50","p99"}}, fractions.
std::string to_json(const CorrectResult& result);
/// {"words","flagged","flagged_interval"}, fractions.
std::string to_json(const CleanResult& result);

}  // namespace laya::eval
