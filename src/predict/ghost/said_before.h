// SaidBefore: what a decoder said lately behind one, two and three tokens, to guess by what it says
// next. Tokens of phrases and of guesses, hashed and counted; nothing of what was typed but what
// the decoder repeats of it. A decoder repeats itself far more than people do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/token_id.h"

namespace laya::predict {

class SaidBefore {
 public:
  static constexpr std::size_t kTokensBehind = 3;  ///< looked at, at most
  static constexpr std::size_t kGuesses = 8;       ///< given, at most

  struct Guess {
    TokenId token = kNoToken;
    float prob = 0;
  };
  struct Guesses {
    std::array<Guess, kGuesses> each;
    std::size_t count = 0;
    float unknown = 1;  ///< probability left to what was not said before
    std::span<const Guess> all() const { return std::span(each).first(count); }
  };

  SaidBefore() : entries_(kEntries) {}

  /// It said `next` behind the last tokens of `behind`.
  void learn(std::span<const TokenId> behind, TokenId next);

  /// Likely next ones; longer contexts count more, and leave to shorter ones by how many different
  /// tokens they have seen (Witten and Bell 1991, method C).
  Guesses guess(std::span<const TokenId> behind) const;

  /// Wipes all of it: phrases repeat what people typed.
  void clear();
  /// Nothing was said since the last clear().
  bool empty() const { return empty_; }

 private:
  static constexpr std::size_t kEntries = std::size_t{1} << 15U;
  static constexpr std::size_t kNexts = 4;
  struct Entry {
    std::uint32_t check = 0;
    std::array<float, kNexts> counts = {};  // what is older counts less; 0: none
    std::array<TokenId, kNexts> nexts = {};
  };
  struct Place {
    std::size_t slot;
    std::uint32_t check;
  };
  static Place place(std::span<const TokenId> context);

  std::vector<Entry> entries_;  // 1.2 MB
  bool empty_ = true;
};

}  // namespace laya::predict
