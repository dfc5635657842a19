// NFC with the way back: where in the given text each byte of the normalised one comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace laya::text {

/// Sets `out` to normalize_nfc(text) and source_at[i] (i = 0…out.size()) to the place in `text`
/// that byte i of `out` starts at. Inside characters that were changed, all places but the first
/// point behind what was changed. `text` < 4 GiB.
void normalize_nfc_mapped(std::string_view text, std::string& out,
                          std::vector<std::uint32_t>& source_at);

/// Length of the front of `text` whose NFC stays the same whatever is appended: less the last
/// character that can begin a composition, and what hangs on it.
std::size_t nfc_closed_bytes(std::string_view text);

}  // namespace laya::text
