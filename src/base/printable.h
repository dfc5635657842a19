// Shows text that nobody vouches for.
#pragma once

#include <string>
#include <string_view>

namespace laya::base {

/// Whether a character is seen as nothing, or changes how others are seen, wherever it stands:
/// control characters, marks of direction, zero-width characters, line separators, tag characters,
/// fillers, noncharacters (Unicode 15: Cc, Cf, Zl, Zp and Default_Ignorable_Code_Point), but for
/// the joiners and variation selectors that Persian, Indic scripts and emoji are written with.
bool is_deceptive(char32_t code_point);

/// Makes text safe for a terminal: ill-formed bytes and deceptive characters become U+FFFD, so that
/// nothing in a text can move the cursor, change colours or turn the direction of its neighbours.
/// Joiners and variation selectors stay behind a character that is not ASCII, tag characters in the
/// flag of a region (U+1F3F4 …), where they belong.
class PrintableFilter {
 public:
  enum class Lines : bool {
    Shown,  ///< a newline becomes ⏎, a tab a space: for text inside a line
    Kept,   ///< both stay: for whole output
  };
  explicit PrintableFilter(Lines lines) : lines_(lines) {}

  /// Appends what is safe of `bytes` to `out`; half a character at the end is held back.
  void feed(std::string_view bytes, std::string& out);
  /// Nothing more comes.
  void finish(std::string& out);

 private:
  void take(char32_t code_point, std::string& out);

  Lines lines_;
  std::string half_;
  char32_t before_ = 0;
  bool flag_ = false;
};

/// A whole text, for inside a line.
std::string printable(std::string_view text);

/// `json` with each deceptive character as its \u escapes: the same document.
std::string printable_json(std::string_view json);

}  // namespace laya::base
