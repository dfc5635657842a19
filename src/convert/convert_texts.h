// The texts that `laya convert` uses where the user gives none. Two of them, so that what chose a
// precision does not also judge it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace laya::convert {

/// To quantise for: models/deep/calibration.txt, 178 lines of a few sentences, some 9,000 tokens,
/// compiled in. Its card is models/deep/README.md.
std::string_view calibration_text();
/// To measure on: sentences that we wrote, English and Chinese in turns.
std::span<const std::string_view> parity_texts();
/// The lines of `text` that are not empty.
std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace laya::convert
