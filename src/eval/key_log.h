// The key log: what somebody did in a text field, key by key. KEYLOG.md is the description of the
// format; this reads and writes it. Made by the simulator (simulator.h), or recorded by a person
// who wants to; read by the ranker's training, the gate and the benchmarks.
//
// A log holds typed text. Nobody writes one unless asked to, and errors never quote it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace laya::eval {

inline constexpr std::uint64_t kKeyLogVersion = 1;
inline constexpr std::size_t kMaxKeyLogLine = 1u << 20;      ///< bytes of one line
inline constexpr std::size_t kMaxKeyText = 1u << 16;         ///< bytes of one string of an event
inline constexpr std::size_t kMaxOffers = 16;                ///< of one pick
inline constexpr std::uint64_t kMaxKeyLogTime = 86'400'000;  ///< ms of one session: a day

enum class KeyEventKind : std::uint8_t { Key, Erase, Caret, Pick };

/// What a pick took: an entry of the list, the whole ghost, or the ghost's next word.
enum class PickFrom : std::uint8_t { List, Ghost, GhostWord };

/// What went wrong at a key. Only a simulated typist knows.
enum class SlipKind : std::uint8_t {
  None,
  Neighbour,   ///< the key beside the right one
  Extra,       ///< a neighbour as well as the right one
  Omitted,     ///< a character left out
  Swapped,     ///< two characters in the wrong order
  Doubled,     ///< one character twice
  Undoubled,   ///< one of two equal characters left out
  Shift,       ///< a capital typed small
  Space,       ///< the space between two words left out
  EarlySpace,  ///< the space one letter too early: "th ecat"
  Apostrophe,  ///< an apostrophe left out
  Reworded,    ///< no slip: another word, taken back again
};

/// "neighbour", "early-space", …: as the log writes it.
const char* slip_name(SlipKind kind);
const char* pick_name(PickFrom from);

/// One thing that happened. Offsets and lengths are bytes of UTF-8, on character boundaries.
struct KeyEvent {
  KeyEventKind kind = KeyEventKind::Key;
  std::uint64_t t_ms = 0;          ///< since the session began; never less than the event before
  std::string text = {};           ///< Key, Pick: what came in at the caret
  std::uint32_t erase_before = 0;  ///< Erase, Pick: bytes taken away left of the caret first
  std::uint32_t erase_after = 0;   ///< Erase: bytes taken away right of it
  std::uint64_t caret = 0;         ///< Caret: where it stands now, from the field's beginning
  PickFrom from = PickFrom::List;  ///< Pick
  std::uint32_t rank = 0;          ///< Pick from the list: its place, from 0
  std::vector<std::string> offers = {};    ///< Pick: the list that was shown; may be empty
  std::optional<std::uint64_t> done = {};  ///< bytes of `meant` that the typist has behind them
  SlipKind slip = SlipKind::None;          ///< Key

  bool operator==(const KeyEvent&) const = default;
};

enum class TypistKind : std::uint8_t { Simulated, Person };

/// One text field from the first key to the last.
struct KeySession {
  TypistKind typist = TypistKind::Person;
  std::uint64_t seed = 0;   ///< Simulated: what it was drawn from
  std::string before = {};  ///< text left of the caret when the session begins
  std::string after = {};   ///< and right of it
  std::string meant = {};   ///< Simulated: what the typist wanted to stand between them
  std::vector<KeyEvent> events = {};
  std::uint64_t end_ms = 0;  ///< when the field was left; at least the last event's time

  bool operator==(const KeySession&) const = default;
};

/// The text of a field and its caret while a log is played. Owns its text.
class PlayedField {
 public:
  explicit PlayedField(const KeySession& session)
      : text_(session.before + session.after), caret_(session.before.size()) {}

  /// BadArgument when the event does not fit the text: a caret or an erasure beyond it, or inside a
  /// character. The field is then as before.
  Status apply(const KeyEvent& event);

  std::string_view text() const { return text_; }
  std::string_view before() const { return std::string_view(text_).substr(0, caret_); }
  std::string_view after() const { return std::string_view(text_).substr(caret_); }
  std::size_t caret() const { return caret_; }

 private:
  std::string text_;
  std::size_t caret_;
};

/// `session` as lines of the log, appended to `out`.
void append_key_log(const KeySession& session, std::string* out);

/// All sessions of a log. Checks every field and plays every event, so what comes back fits its
/// text. Errors name the line and the field: Corrupt, Version (of a later format), TooLarge.
/// A last session without its end is kept as far as it goes (the recorder was killed).
Result<std::vector<KeySession>> parse_key_log(std::string_view log);

}  // namespace laya::eval
