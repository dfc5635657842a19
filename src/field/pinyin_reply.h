// What is answered to pinyin letters: sentences, words for the first letters, the letters themselves.
//
// Shared by front ends, the wire and the engine. Nothing here allocates; a reply and its views belong
// to whoever gave it and live until that one's next call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace laya::field {

/// Most letters that may wait to be chosen. A sentence has some 60, and nobody reads what 512 may
/// mean; each one costs memory and is looked at again at each choice.
inline constexpr std::size_t kMaxPinyinLetters = 512;

enum class PinyinKind : std::uint8_t {
  Sentence,  ///< a reading of all the letters
  Word,      ///< a word for the first of them
  Letters,   ///< the letters as typed
};

/// "sentence", "word", "letters".
constexpr const char* pinyin_kind_name(PinyinKind kind) {
  switch (kind) {
    case PinyinKind::Sentence:
      return "sentence";
    case PinyinKind::Word:
      return "word";
    case PinyinKind::Letters:
      return "letters";
  }
  return "sentence";
}

struct PinyinCandidate {
  std::string_view text;
  /// Letters that it stands for, from the first; the rest stays typed when it is chosen.
  std::uint16_t consumed = 0;
  PinyinKind kind = PinyinKind::Sentence;
  /// Of sentences: natural logarithm, not normalised; of words: ln p without context.
  float score = 0;
};

/// Why not all letters were taken.
enum class PinyinRefusal : std::uint8_t {
  None,
  TooManyLetters,  ///< kMaxPinyinLetters wait, or their readings are too many: commit some first
  FieldBlocked,    ///< password, PIN, private or terminal field: no letter is kept or looked at
  Failed,          ///< cancelled, or an error of the engine's
};

/// Short lower-case name of `refusal` ("none", "too-many-letters", …), for JSON and tests.
constexpr const char* pinyin_refusal_name(PinyinRefusal refusal) {
  switch (refusal) {
    case PinyinRefusal::None:
      return "none";
    case PinyinRefusal::TooManyLetters:
      return "too-many-letters";
    case PinyinRefusal::FieldBlocked:
      return "field-blocked";
    case PinyinRefusal::Failed:
      return "failed";
  }
  return "none";
}

struct PinyinReply {
  std::string_view letters = {};  ///< that it answers: all that were taken
  /// Sentences, likeliest first, then words for the first letters (longest first), then the letters.
  std::span<const PinyinCandidate> candidates = {};
  PinyinRefusal refusal = PinyinRefusal::None;
};

}  // namespace laya::field
