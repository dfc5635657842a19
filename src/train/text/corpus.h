// A training text as token ids: read (.txt or .txt.zst), tokenised once, kept in a cache file.
//
// The cache lies outside the repository and holds the text's tokens, so it is as private as the
// text. It is found by a checksum of source, vocabulary and the version of this code: a changed
// text or vocabulary is tokenised again, never mixed up.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "base/token_id.h"

namespace laya::train {

inline constexpr TokenId kBeginId = 1;    ///< <s>: an empty field, the state starts from zero
inline constexpr TokenId kNewlineId = 2;  ///< </s>: the end of a line

/// How a line becomes ids: appends them to `out`. The newline is not part of the line.
struct LineEncoder {
  std::function<void(std::string_view line, std::vector<TokenId>& out)> encode;
  std::uint64_t vocabulary_checksum = 0;  ///< changes whenever the ids of any text may change
  std::function<bool(std::string_view line)> skip;  ///< lines to leave out, or empty
  std::uint64_t skip_checksum = 0;                  ///< changes with `skip`
};

/// The whole text of `path`, decompressed if its name ends in .zst. Errors: Io, Corrupt (not zstd),
/// TooLarge (> 4 GiB).
Result<std::string> read_text(const std::filesystem::path& path);

/// Calls `line(text, number)` for each line of `text`, numbered from 1, without its newline or
/// carriage return.
void for_each_line(std::string_view text,
                   const std::function<void(std::string_view, std::size_t)>& line);

/// The tokens of one text. A unit is what is shuffled: a document, or a piece of at most
/// kMaxUnitTokens of a long one (cut at a line's end). Movable; spans live as long as the object.
/// Reading from several threads is fine.
class Corpus {
 public:
  static constexpr std::size_t kMaxUnitTokens = 1024;

  /// Opens the cache of `source` in `cache_dir`, tokenising first if there is none. `name` is for
  /// the file name and errors. Errors: as read_text; Io (cache cannot be written); BadArgument (no
  /// text in it; a vocabulary above 65,536 pieces).
  static Result<Corpus> open(const std::filesystem::path& source, std::string_view name,
                             const LineEncoder& encoder, const std::filesystem::path& cache_dir);

  /// The same from text in memory, without a cache: tests and small evaluations.
  static Result<Corpus> from_text(std::string_view text, std::string_view name,
                                  const LineEncoder& encoder);

  /// Lines of ids, each ended by kNewlineId.
  std::span<const std::uint16_t> tokens() const { return tokens_; }

  std::size_t unit_count() const { return unit_begin_.size() - 1; }
  /// Tokens of unit `index` (< unit_count()); starts a line and ends with kNewlineId.
  std::span<const std::uint16_t> unit(std::size_t index) const {
    return tokens_.subspan(unit_begin_[index], unit_begin_[index + 1] - unit_begin_[index]);
  }

  /// Unicode code points of the text, newlines of its non-blank lines included: the denominator of
  /// bits per character.
  std::uint64_t characters() const { return characters_; }
  /// XXH3-64 of source, vocabulary and cache version.
  std::uint64_t checksum() const { return checksum_; }
  /// Whether open() found a cache.
  bool from_cache() const { return from_cache_; }

 private:
  Corpus() = default;
  static Result<Corpus> from_cache_file(const std::filesystem::path& path, std::uint64_t checksum);

  base::MappedFile file_;             ///< the cache, or empty
  std::vector<std::uint16_t> owned_;  ///< tokens where there is no cache file
  std::span<const std::uint16_t> tokens_;
  std::vector<std::uint32_t> unit_begin_;  ///< unit_count() + 1 offsets into tokens_
  std::uint64_t characters_ = 0;
  std::uint64_t checksum_ = 0;
  bool from_cache_ = false;
};

}  // namespace laya::train
