// Unicode normal form C (Unicode Standard Annex 15), so that "é" typed as one or two code points is
// one token sequence.
#pragma once

#include <string>
#include <string_view>

namespace laya::text {

/// `text` in NFC. Ill-formed bytes stay as they are, in place (what lies between them is
/// normalised). Pure ASCII is copied.
std::string normalize_nfc(std::string_view text);

/// Whether normalize_nfc(text) == text; a cheap yes for ASCII and Han. Allocates only for text that
/// needs a closer look.
bool is_nfc(std::string_view text);

}  // namespace laya::text
