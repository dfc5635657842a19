// SourceTrust: how right the decoder has been about the words just typed, against network and table
// together, and what share it gets for that.
//
// A table knows a form letter by heart, a pretrained network knows the world: which of them suits
// this text shows in its last words. Bayes' rule over "this text is the decoder's kind", with
// forgetting: logit of its share += kGain · Σ kKept^age · (ln p_decoder(word) − ln
// p_instant(word)), each difference within ± kMost. Measured on dev with SmolLM2, keystrokes saved
// with 3 / 1 slots: task chat + 0.25 / + 0.77 points, web text 0.0 / 0.0 (gains of 1.0 cost it 0.4
// / 0.5). The same between network and table gained nothing. Han characters have a sum of their
// own, with Gemma: next character among three, dialogue + 0.6 points, commonvoice + 0.5, chat +
// 0.1. Holds two sums of logarithms, no text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "predict/list/han_search.h"
#include "predict/source/mixing.h"
#include "predict/source/piece_index.h"
#include "predict/source/source.h"
#include "predict/source/typed_text.h"

namespace laya::predict {

class SourceTrust {
 public:
  void clear() { *this = {}; }
  /// A text as a whole, not a key: nothing is known of how it came to be, so that the same text
  /// gives the same answers whatever stood in the field before.
  void start(const TypedText& text);
  /// The text has changed. Where the word that was open has been closed, learns from `pool`, the
  /// words that the last list weighed (of an older text, or empty: then it learns nothing).
  /// O(pool), once a word.
  void follow(const TypedText& text, const Mixing& mixing, std::span<const PoolWord> pool);
  /// Characters were inserted at the end of the text, `inserted_bytes` of them. Where the first is
  /// a Han character, learns from `weighed`, the likeliest characters at the caret before, indices
  /// into `han`.
  void follow_han(const TypedText& text, std::size_t inserted_bytes, const Mixing& mixing,
                  std::span<const HanWord> weighed, std::span<const HanPiece> han);
  /// `shares`, as far as the decoder has been right.
  Shares adjusted(const Shares& shares) const;

 private:
  void learn(const PoolWord& word, const Mixing& mixing);

  std::uint64_t begin_ = 0;  // place in the field of the word that was open
  float deep_ = 0;           // ln of decoder over the others, older words less
  float han_deep_ = 0;       // the same over Han characters
};

}  // namespace laya::predict
