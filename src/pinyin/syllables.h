// The syllables of Mandarin as they are typed: toneless, ü as v.
//
// A syllable's number is its place in the alphabetical order of spellings, so that what begins with
// the same letters is one range: "zho" is three syllables in a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace laya::pinyin {

using SyllableId = std::uint16_t;
inline constexpr SyllableId kNoSyllable = 0xFFFF;
inline constexpr std::size_t kMaxSyllableLetters = 6;  ///< zhuang

/// The numbers [first, last).
struct SyllableRange {
  SyllableId first = 0;
  SyllableId last = 0;
  bool empty() const { return first == last; }
};

std::size_t syllable_count();
/// "zhuang"; `id` < syllable_count().
std::string_view spelling(SyllableId id);
/// The syllable spelled exactly so, kNoSyllable without. Other common spellings are known: lue for
/// lve, nue for nve. Lower case only.
SyllableId find_syllable(std::string_view letters);
/// All that begin with `letters` (not empty), itself included.
SyllableRange syllables_with(std::string_view letters);
/// Whether `letters` is what people write for a syllable in short: its initial (zh, b), or the
/// vowel it begins with (a, e, o).
bool is_initial(std::string_view letters);

}  // namespace laya::pinyin
