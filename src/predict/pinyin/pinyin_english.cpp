#include "predict/pinyin/pinyin_english.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "text/units.h"

namespace laya::predict {
namespace {

constexpr std::size_t kBegunWords = 4;  // looked at, of those that begin so

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || is_capital(c); }

// Whether capitals stand as somebody would type them: none, the first, all, or as `usual` has them.
bool has_usual_capitals(std::string_view typed, std::string_view usual) {
  const auto capitals = std::ranges::count_if(typed, is_capital);
  return capitals == 0 || (capitals == 1 && is_capital(typed.front())) ||
         static_cast<std::size_t>(capitals) == typed.size() || typed == usual;
}

}  // namespace

PinyinEnglish::PinyinEnglish(const Engine& engine) : engine_(&engine) {
  words_.reserve(kMaxLetters);
  pieces_.ids.reserve(kMaxLetters * kMaxLetters);
  pieces_.ends.reserve(kMaxLetters * kMaxLetters);
}

std::span<const PinyinEnglish::Word> PinyinEnglish::ending(std::string_view letters) {
  words_.clear();
  pieces_.clear();
  const model::NgramModel* table = engine_->ngrams();
  if (table == nullptr) {
    return {};
  }
  std::size_t longest = 0;
  while (longest < std::min(letters.size(), kMaxLetters) &&
         is_letter(letters[letters.size() - 1 - longest])) {
    ++longest;
  }
  for (std::size_t length = longest; length >= kMinLetters; --length) {
    const std::size_t start = letters.size() - length;
    const std::string_view typed = letters.substr(start);
    if (start > 0 && is_capital(typed.front()) && is_capital(letters[start - 1])) {
      continue;  // the end of a word in capitals
    }
    std::array<char, kMaxLetters> key;
    Word word;
    word.word = table->find({key.data(), text::copy_lower(typed, key.data(), key.size())});
    if (word.word == model::kUnknownWord || !table->is_word(word.word) ||
        !has_usual_capitals(typed, table->display(word.word))) {
      continue;
    }
    word.start = static_cast<std::uint16_t>(start);
    word.first_piece = static_cast<std::uint16_t>(pieces_.ids.size());
    if (engine_->network() != nullptr) {
      engine_->tokenizer()->encode_chunk(table->display(word.word), pieces_, 0);
      if (pieces_.ids.size() - word.first_piece > kMaxPieces) {
        pieces_.ids.resize(word.first_piece);
        pieces_.ends.resize(word.first_piece);
        continue;
      }
    }
    word.piece_count = static_cast<std::uint16_t>(pieces_.ids.size() - word.first_piece);
    words_.push_back(word);
  }
  return words_;
}

float PinyinEnglish::log_prob_of_begun(const model::NgramContext& state,
                                       std::string_view letters) const {
  const model::NgramModel* table = engine_->ngrams();
  std::array<model::Scored, kBegunWords> best;
  std::array<char, kMaxLetters> key;
  if (table == nullptr || letters.size() < kMinBegun || letters.size() > kMaxLetters) {
    return -std::numeric_limits<float>::infinity();
  }
  const std::string_view prefix(key.data(), text::copy_lower(letters, key.data(), key.size()));
  const std::size_t count = table->top_words(state, prefix, best);
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (table->text(best[i].word).size() > prefix.size()) {
      sum += std::exp(best[i].log_prob);
    }
  }
  return std::log(sum);
}

void PinyinEnglish::append(model::WordId word, std::string_view typed, std::string* out) const {
  if (std::ranges::any_of(typed, is_capital)) {
    out->append(typed);
  } else {
    out->append(engine_->ngrams()->display(word));
  }
}

}  // namespace laya::predict
