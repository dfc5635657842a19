// TypingMemory: how the typing goes — the rhythm of keys, what was taken back, where the caret
// went, which words were taken from the list. Features of the ranker and the gate.
//
// Holds hashes of accepted words and a few decaying sums; forgets all with the session's text. No
// allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace laya::predict {

class TypingMemory {
 public:
  void clear() { *this = {}; }

  /// A key: `at_ms` of any clock that only goes forward; 0: unknown.
  void key(std::uint64_t at_ms, std::size_t erased, std::size_t inserted);
  /// The text changed elsewhere than at the caret's left: caret set anew, or another text.
  void jump();
  /// `key` (lower case) was taken from the list; whether or not, a decision was made at a list.
  void accepted(std::string_view key);
  void typed_on();

  /// ln(seconds since the key before), clamped to [−4, 2]; 0 where unknown.
  float interval() const { return interval_; }
  /// The same, less its running mean.
  float interval_change() const { return interval_ - mean_interval_; }
  /// Shares of recent keys (each key weighs 7/8 of the next) that took text back, or jumped; of
  /// recent lists that were accepted from.
  float deletions() const { return deletions_; }
  float jumps() const { return jumps_; }
  float accept_rate() const { return accepts_; }
  /// How often `key` is among the words accepted lately (at most kKept of them).
  std::size_t times_accepted(std::string_view key) const;

 private:
  static constexpr std::size_t kKept = 32;

  std::uint64_t last_ms_ = 0;
  float interval_ = 0;
  float mean_interval_ = 0;
  float deletions_ = 0;
  float jumps_ = 0;
  float accepts_ = 0;
  std::array<std::uint64_t, kKept> words_{};
  std::size_t next_ = 0;
};

}  // namespace laya::predict
