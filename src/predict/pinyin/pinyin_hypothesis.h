// A beginning of a sentence, as the search over pinyin letters holds it, and what such beginnings are
// weighed by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/ngram/ngram.h"
#include "pinyin/paths.h"
#include "pinyin/word_model.h"
#include "predict/pinyin/pinyin_network.h"

namespace laya::predict {

/// Chosen on dev (`laya eval pinyin`); natural logarithms.
struct PinyinWeights {
  float words = 0.44F;       ///< of the input method's word model
  float characters = 0.57F;  ///< of table and network, mixed evenly at each character
  float shortened = -5;      ///< each syllable written by its initial
  float open = -1;           ///< the last syllable, if unfinished or written by its initial
  float literal = -12;       ///< each letter that stays a letter
  float english = 2;         ///< each English word: rarer in text than among what is typed so
};

/// A beginning of a sentence, up to some place between letters.
struct PinyinHypothesis {
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  std::uint32_t previous = kNone;  ///< the hypothesis before its last word
  pinyin::WordIndex word = kNone;  ///< kNone: an English word or the letters themselves
  model::WordId english = model::kUnknownWord;  ///< of the table; kUnknownWord: none
  std::uint16_t begin = 0;                      ///< the letters of its last word
  std::uint16_t end = 0;
  pinyin::LastSyllable last = pinyin::LastSyllable::Whole;
  PinyinNetwork::Node node = PinyinNetwork::kRoot;
  std::uint64_t text_hash = 0;
  std::uint16_t english_words = 0;
  // Natural logarithms of the whole.
  float words = 0;
  float characters = 0;
  float penalty = 0;  ///< < 0: not spelt in full
  float total = 0;    ///< by PinyinWeights
  pinyin::WordState word_state;
  model::NgramContext table_state;
};

/// Likelier first; by text where that is equal, so that the same letters give the same order.
bool likelier(const PinyinHypothesis& a, const PinyinHypothesis& b);

/// Leaves the likeliest of each text, likeliest first, at most `keep`.
void sort_and_unite(std::vector<PinyinHypothesis>* list, std::size_t keep);

/// What a text's hash is made of: characters of the lexicon, letters that stay letters, words of the
/// table. Each kind in a range of its own (characters have 16 bits).
constexpr std::uint64_t kHashOfLetter = 0x10000;
constexpr std::uint64_t kHashOfEnglish = 0x20000;

/// The hash of a text and one thing more.
constexpr std::uint64_t hash_of(std::uint64_t text, std::uint64_t added) {
  return (text ^ (added + 1)) * 0x100000001B3ULL;  // FNV-1a's prime
}

}  // namespace laya::predict
