// Keeps dev and test text out of training: figures measured on text that was trained on mean
// nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace laya::train {

/// Lines of held-out text, by hash. Only lines longer than kMinCharacters count: "ok thanks" stands
/// everywhere by chance.
class HeldOut {
 public:
  static constexpr std::size_t kMinCharacters = 12;

  /// Reads `files` (.txt or .txt.zst). Errors: as read_text.
  static Result<HeldOut> load(const std::vector<std::filesystem::path>& files);

  /// Adds the lines of one text, named `file` in errors.
  void add(std::string_view text, const std::filesystem::path& file);

  /// BadArgument when a line of the training text `text` is held out: names `source`, the first
  /// such line's number in it, the held-out file and line, how many there are, and what to do.
  /// Never the line itself.
  Status check(std::string_view text, const std::filesystem::path& source) const;

  /// Whether `line` is held out: what a source with drop_held_out leaves out.
  bool contains(std::string_view line) const;

  /// Changes with the set of lines; a cache of a text without them is named by it.
  std::uint64_t fingerprint() const { return fingerprint_; }

  std::size_t size() const { return lines_.size(); }

 private:
  struct Place {
    std::uint32_t file;
    std::uint32_t line;
  };
  std::vector<std::filesystem::path> files_;
  std::unordered_map<std::uint64_t, Place>
      lines_;                      ///< XXH3-64 of the trimmed line ▶ where it stands
  std::uint64_t fingerprint_ = 0;  ///< sum of the hashes: independent of their order
};

}  // namespace laya::train
