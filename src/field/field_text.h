// The text field as a front end tells of it: what it is for, the text around the caret, one change.
//
// Shared by front ends, the wire and the engine; whoever holds such a value holds views of the
// caller's text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace laya::field {

/// What the text field is for, as the input-method framework says.
enum class FieldKind : std::uint8_t { Text, Password, Pin, Private, Terminal };

/// True where Laya must not read: everything but Text.
constexpr bool field_is_blocked(FieldKind kind) { return kind != FieldKind::Text; }

/// Whether `before` begins where the field begins, or somewhere inside (text cut off by the front
/// end, caret jumped into the unknown). Unknown: the first word is not taken for a sentence start
/// (complaint 10).
enum class LeftEdge : std::uint8_t { FieldStart, Unknown };

/// The space that accepting a word owes (GhostState): shown, not yet in the text. Owed: predict as
/// if it were typed.
enum class PendingSpace : std::uint8_t { None, Owed };

inline constexpr std::size_t kKeptBytes = 4096;      ///< of the text left of the caret
inline constexpr std::size_t kKeptAfterBytes = 256;  ///< of the text right of the caret

/// The whole text around the caret. Any bytes; views are read during the call only.
struct FieldText {
  std::uint64_t revision = 0;
  std::string_view before = {};  ///< left of the caret; only its last kKeptBytes are kept
  std::string_view after = {};   ///< right of the caret; only its first kKeptAfterBytes are kept
  LeftEdge left_edge = LeftEdge::FieldStart;
  FieldKind kind = FieldKind::Text;
  PendingSpace pending_space = PendingSpace::None;
};

/// One change at the caret. Afterwards the caret stands behind `insert`.
struct Edit {
  std::uint64_t revision = 0;
  std::size_t erase_before =
      0;  ///< bytes left of the caret taken away first; may be inside a character
  std::size_t erase_after = 0;   ///< bytes right of the caret taken away
  std::string_view insert = {};  ///< then put in; any bytes
  PendingSpace pending_space = PendingSpace::None;
  std::uint64_t at_ms = 0;  ///< when, by any clock that goes forward only; 0: not told
};

}  // namespace laya::field
