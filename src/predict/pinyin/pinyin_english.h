// PinyinEnglish: which English words the letters of a pinyin sentence may spell. "woxiangmaiiphone"
// is 我想买iPhone: nobody changes the input method for one word.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/token_id.h"
#include "model/ngram/ngram.h"
#include "predict/engine/engine.h"
#include "text/tokenizer.h"

namespace laya::predict {

/// One thread. Allocates nothing once its longest words were seen.
class PinyinEnglish {
 public:
  static constexpr std::size_t kMinLetters = 2;
  static constexpr std::size_t kMinBegun = 3;  ///< letters of a word that is not finished
  static constexpr std::size_t kMaxLetters = 16;
  static constexpr std::size_t kMaxPieces = 6;

  struct Word {
    model::WordId word = model::kUnknownWord;
    std::uint16_t start = 0;        ///< letters before it
    std::uint16_t first_piece = 0;  ///< pieces() reads them
    std::uint16_t piece_count = 0;
  };

  /// `engine` must outlive this. Without a table there are no words.
  explicit PinyinEnglish(const Engine& engine);

  /// Words that end behind the last of `letters`, by start. Capitals count as the letters they are.
  /// Valid until the next call.
  std::span<const Word> ending(std::string_view letters);
  /// The network's pieces of a word of ending(), as it is usually written; none without a network.
  std::span<const TokenId> pieces(const Word& word) const {
    return std::span(pieces_.ids).subspan(word.first_piece, word.piece_count);
  }

  /// ln p that what follows `state` is a word that begins with `letters` (kMinBegun to kMaxLetters
  /// of them) and goes on; −∞ where there is none.
  float log_prob_of_begun(const model::NgramContext& state, std::string_view letters) const;

  /// Appends the word as it is shown for `typed`: as it is usually written, unless capitals were
  /// typed.
  void append(model::WordId word, std::string_view typed, std::string* out) const;

 private:
  const Engine* engine_;
  std::vector<Word> words_;
  text::Tokens pieces_;
};

}  // namespace laya::predict
