// The input method's own language model of words, behind an interface: p(word | words before).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace laya::pinyin {

/// What the model remembers of the words so far: a value, copied to fork. Only meaningful to the
/// model that wrote it.
struct WordState {
  alignas(8) std::array<std::byte, 32> bytes{};
};

/// Immutable; any number of threads.
class WordModel {
 public:
  virtual ~WordModel() = default;

  virtual WordState start() const = 0;  ///< at a sentence's start
  /// The model's number of a word; kUnknown without.
  virtual std::uint32_t find(std::string_view word) const = 0;
  /// ln p(word | before); `*after` becomes the state behind it (may be &before's copy, not
  /// &before).
  virtual float log_prob(const WordState& before, std::uint32_t word, WordState* after) const = 0;
  virtual std::uint32_t unknown() const = 0;
};

}  // namespace laya::pinyin
