// Levenshtein's distance: insertions, deletions, replacements (Levenshtein 1966; one row of Wagner
// and Fischer's table at a time).
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace laya::eval {

/// In code points. O(|a| · |b|).
inline std::size_t edit_distance(std::u32string_view a, std::u32string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace laya::eval
