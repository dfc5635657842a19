// Bytes from a terminal ▶ keys. Understands UTF-8 (half a character is held back), the usual escape
// sequences (xterm, rxvt, Linux console, tmux), Alt as an ESC prefix, and bracketed paste. Pure: no
// terminal, no clock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace laya::apps {

enum class KeyKind : std::uint8_t {
  Text,   ///< one character typed; Key::text
  Paste,  ///< a whole paste; Key::text, control characters other than \n and \t taken out
  Pick,   ///< Alt+1…9 or F1…F9: candidate number Key::number
  Enter,
  Tab,
  Escape,
  Backspace,
  EraseWord,  ///< Ctrl-W, Alt-Backspace
  EraseLine,  ///< Ctrl-U
  Delete,
  Left,
  Right,
  WordLeft,   ///< Ctrl-Left, Alt-b
  WordRight,  ///< Ctrl-Right, Alt-f
  Up,
  Down,
  Home,
  End,
  Pinyin,  ///< Ctrl-Space
  Redraw,  ///< Ctrl-L
  Quit,    ///< Ctrl-C, Ctrl-D
};

struct Key {
  KeyKind kind;
  std::string text;
  int number = 0;

  bool operator==(const Key&) const = default;
};

class KeyReader {
 public:
  /// Pastes longer than this are cut; the rest is dropped.
  static constexpr std::size_t kMaxPasteBytes = 16u << 20;
  /// A paste whose end mark has not come this long after its last byte has none.
  static constexpr int kPasteWaitMs = 2000;

  /// Takes in what the terminal sent and appends the keys that are complete.
  void feed(std::string_view bytes, std::vector<Key>& keys);

  /// Whether an ESC (or half a sequence) waits for more bytes. A terminal sends a sequence at once,
  /// so after some 30 ms without a byte the caller calls flush().
  bool waits() const { return !pending_.empty() && !pasting_; }
  /// Whether the end of a paste is waited for: without a byte for kPasteWaitMs the caller calls
  /// flush(), or every key from there on would be text of the paste, Ctrl-C too.
  bool pastes() const { return pasting_; }
  /// Nothing more came: a lone ESC is the Escape key, half a sequence is dropped, a paste ends here.
  void flush(std::vector<Key>& keys);

 private:
  /// Bytes of pending_ that made a key or were dropped; 0: more are needed.
  std::size_t read_one(std::string_view bytes, std::vector<Key>& keys);
  std::size_t read_escape(std::string_view bytes, std::vector<Key>& keys);
  std::size_t read_paste(std::string_view bytes, std::vector<Key>& keys);
  void end_paste(std::vector<Key>& keys);

  std::string pending_;
  std::string paste_;
  bool pasting_ = false;
};

}  // namespace laya::apps
