// Emoji by name, in Chinese and English: what models/emoji/emoji.tsv holds. The file is mapped and
// searched as it is: keys are sorted by their bytes.
//
//   # laya emoji 1
//   pizza<TAB>2<TAB>🍕            2: the plain word offers it
//   smile<TAB>1<TAB>😼 😃 …       1: only ":smile" does; best first
// Immutable, thread-safe; nothing allocates after open().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"

namespace laya::predict {

class EmojiTable {
 public:
  static constexpr std::size_t kMaxKeyBytes = 64;
  static constexpr std::size_t kMaxEmojiBytes = 64;  ///< the longest sequence (a family) has 25

  struct Entry {
    std::string_view key;
    bool plain = false;      ///< the word alone offers it
    std::string_view emoji;  ///< one or more, separated by single spaces; best first
  };

  /// Errors: those of the file; Version (another kind of file); Corrupt names the line.
  static Result<EmojiTable> open(const std::string& path);
  /// The same from bytes in memory, which must outlive the table; `name` is for errors.
  static Result<EmojiTable> parse(std::string_view text, std::string_view name);

  std::size_t size() const { return entries_.size(); }
  /// The entry of exactly this key; nullptr without one. O(log size).
  const Entry* find(std::string_view key) const;
  /// The first entry whose key is not less than `key`, or size().
  std::size_t lower_bound(std::string_view key) const;
  const Entry& at(std::size_t index) const { return entries_[index]; }

 private:
  base::MappedFile file_;
  std::vector<Entry> entries_;  // views into the file
};

}  // namespace laya::predict
