// What a ranker learns from: decisions, each with its candidates' features and the one that was
// right. Text, so that anybody can write it and look at it:
//
//   #laya-ranking 1
//   #features<TAB>log_prob<TAB>is_emoji          names: printable, no blanks, each once
//   1<TAB>-2.31<TAB>0                            one candidate a line: 1 = the right one, 0 = not,
//   0<TAB>-4.7<TAB>1                             then its numbers; in the order before ranking
//                                                an empty line ends a decision
//   0<TAB>-3.5<TAB>0                             no 1 in a decision: none of them was right
//
// Further lines that begin with # before the first decision are comments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/result.h"

namespace laya::train {

inline constexpr std::size_t kMaxRankingCandidates = 256;                ///< of one decision
inline constexpr std::size_t kMaxRankingNumbers = std::size_t{1} << 30;  ///< of a file
inline constexpr std::int32_t kNoneRight = -1;

/// Decisions in memory. Candidate c of decision g has its features at
/// values[(first_row[g] + c) * features.size()].
struct RankingGroups {
  std::vector<std::string> features;
  std::vector<float> values;             ///< [rows, F]
  std::vector<std::uint32_t> first_row;  ///< groups + 1 of them, ascending; every group has a row
  std::vector<std::int32_t> right;       ///< by decision: its right candidate, or kNoneRight

  std::size_t size() const { return right.size(); }
  std::size_t rows(std::size_t group) const { return first_row[group + 1] - first_row[group]; }
  std::span<const float> rows_of(std::size_t group) const {
    return std::span(values).subspan(first_row[group] * features.size(),
                                     rows(group) * features.size());
  }
  /// Decisions [first, last) alone.
  RankingGroups part(std::size_t first, std::size_t last) const;
};

/// Corrupt names `source`, the line and what is wrong there; TooLarge a limit. A file without
/// decisions is Corrupt.
Result<RankingGroups> parse_ranking(std::string_view text, std::string_view source);

/// Writes the format, a decision at a time. One thread.
class RankingWriter {
 public:
  /// BadArgument: no names, too many, or one that the format does not allow.
  static Result<RankingWriter> create(const std::string& path,
                                      std::span<const std::string> features);

  /// `values` is [rows, F], rows >= 1; `right` is one of the rows or kNoneRight. BadArgument:
  /// sizes, a number that is NaN or infinite; Io.
  Status add(std::span<const float> values, std::int32_t right);
  /// Flushes and moves the file into place; without it nothing is left behind.
  Status finish();

 private:
  RankingWriter(base::AtomicFile file, std::size_t width) : file_(std::move(file)), width_(width) {}
  base::AtomicFile file_;
  std::size_t width_;
  std::string text_;  // of one decision, reused
};

}  // namespace laya::train
