// PassedOver: words that the list has offered for the word being typed, and that were not taken.
//
// Whoever types on although the word stood there did not mean it, nineteen times in twenty (and
// overlooked it else). So it counts little from then on, and leaves its place to words not yet
// offered; where nothing else is likely it stays. Measured on dev, keystrokes saved with 3 / 1
// slots: + 0.7 / + 2.3 points. Holds hashes of words, of the open word only; taking back a letter
// forgives all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "predict/source/typed_text.h"

namespace laya::predict {

class PassedOver {
 public:
  /// ln of the share of words that are meant though they were passed over.
  static constexpr float kLogOverlooked = -2.9957323F;  // 0.05

  PassedOver() { open_.reserve(2 * kLongest); }

  void clear();
  /// The text has changed, or may have.
  void follow(const TypedText& text);
  /// `key` (lower case) was shown for the present text.
  void shown(std::string_view key);
  bool holds(std::string_view key) const;

 private:
  static constexpr std::size_t kCapacity = 128;
  static constexpr std::size_t kLongest = 64;  // bytes; of longer words nothing is remembered

  std::string open_;         // the open word when last seen
  std::uint64_t begin_ = 0;  // its place in the field
  std::array<std::uint64_t, kCapacity> words_{};
  std::size_t passed_ = 0;  // of them: passed over; the others were shown for the present text
  std::size_t size_ = 0;
};

}  // namespace laya::predict
