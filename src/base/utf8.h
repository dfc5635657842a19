// UTF-8, checked: one code point at a time, never a byte beyond the view (Unicode 15, section 3.9,
// table 3-7). Overlong forms, surrogates and values above U+10FFFF are ill-formed, as the table
// says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace laya::base {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

/// What stands at the front of some bytes.
enum class Utf8Status {
  Valid,       ///< one code point of `length` bytes
  Incomplete,  ///< the bytes end inside a sequence that more bytes could complete; `length` = what
               ///< is there of it
  Invalid,     ///< no code point can start like this; `length` = bytes to replace by one U+FFFD (at
               ///< least 1)
};

struct Decoded {
  Utf8Status status;
  char32_t code_point;  ///< U+FFFD unless Valid
  std::uint8_t length;  ///< bytes, 1…4; 0 only for empty input (then status is Incomplete)
};

/// Decodes the code point at the front of `text`. `length` of an Invalid result is the "maximal
/// subpart" of the standard's U+FFFD recommendation (section 3.9), so replacing agrees with web
/// browsers.
Decoded decode_utf8(std::string_view text);

/// Whether all of `text` is well-formed. Half a sequence at the end is not.
bool is_valid_utf8(std::string_view text);

/// Bytes at the front of `text` that are certain: all of it, less an incomplete sequence at the end
/// (0…3 bytes), which a caller who receives text in pieces must hold back until the rest arrives.
/// Ill-formed bytes in the middle do not stop it.
std::size_t complete_utf8_length(std::string_view text);

/// Writes `code_point` as UTF-8 to the front of `out`; a surrogate or a value above U+10FFFF
/// becomes U+FFFD. Returns the bytes written, 1…4.
std::size_t encode_utf8(char32_t code_point, std::span<char, 4> out);

/// Appends `code_point` as UTF-8; a surrogate or a value above U+10FFFF becomes U+FFFD.
void append_utf8(char32_t code_point, std::string& out);

/// `text` with each ill-formed part (half a sequence at the end included) replaced by one U+FFFD.
std::string replace_invalid_utf8(std::string_view text);

/// Number of code points; each ill-formed part counts as one.
std::size_t count_code_points(std::string_view text);

/// Byte offset of the start of the code point that ends at byte `offset` (offset > 0, on a boundary
/// of well-formed text); steps back at most 4 bytes. In ill-formed text it steps back one byte
/// where no sequence ends.
std::size_t previous_code_point(std::string_view text, std::size_t offset);

/// for (const Decoded& d : CodePoints(text)): every code point with its byte length, ill-formed
/// parts as U+FFFD with their status. The view must outlive the loop.
class CodePoints {
 public:
  explicit CodePoints(std::string_view text) : text_(text) {}

  struct End {};
  class Iterator {
   public:
    explicit Iterator(std::string_view rest) : rest_(rest), current_(decode_utf8(rest)) {}
    const Decoded& operator*() const { return current_; }
    Iterator& operator++() {
      rest_.remove_prefix(current_.length);
      current_ = decode_utf8(rest_);
      return *this;
    }
    bool operator!=(End) const { return !rest_.empty(); }

   private:
    std::string_view rest_;
    Decoded current_;
  };
  Iterator begin() const { return Iterator(text_); }
  End end() const { return {}; }

 private:
  std::string_view text_;
};

}  // namespace laya::base
