// English words among the syllables, whole and begun.
#include <algorithm>
#include <cmath>

#include "predict/pinyin/pinyin_search.h"

namespace laya::predict {

// English words that end here, behind every hypothesis that ends where they begin.
void PinyinSearch::add_english() {
  const model::NgramModel* table = model_->engine().ngrams();
  const pinyin::WordModel* words = model_->words();
  english_words_ = english_.ending(letters());
  for (const PinyinEnglish::Word& word : english_words_) {
    for (std::uint32_t p = begin_[word.start]; p < begin_[word.start + 1U]; ++p) {
      const PinyinHypothesis& previous = hypotheses_[p];
      PinyinHypothesis next = previous;
      next.previous = p;
      next.word = PinyinHypothesis::kNone;
      next.english = word.word;
      next.begin = word.start;
      next.end = static_cast<std::uint16_t>(letters().size());
      next.last = pinyin::LastSyllable::Whole;
      ++next.english_words;
      next.text_hash = hash_of(next.text_hash, kHashOfEnglish + word.word);
      if (words != nullptr) {
        next.words += words->log_prob(previous.word_state, words->unknown(), &next.word_state);
      }
      const float by_table = table->log_prob(previous.table_state, word.word);
      table->push(&next.table_state, word.word);
      next.total = previous.total + weights_.words * (next.words - previous.words) +
                   weights_.characters * by_table + weights_.english;
      if (network_ == nullptr) {
        next.characters += by_table;
      }
      candidates_.push_back(next);
    }
  }
  if (!english_words_.empty()) {
    sort_and_unite(&candidates_, kByNetwork);
  }
}

// A word that is not finished: the letters as they are, for as long as it is.
void PinyinSearch::add_begun_english() {
  const std::string_view typed = letters();
  for (std::size_t length = PinyinEnglish::kMinBegun;
       length <= std::min(typed.size(), PinyinEnglish::kMaxLetters); ++length) {
    const std::size_t start = typed.size() - length;
    if (paths_.letters()[start] == '\'') {
      break;
    }
    if (begin_[start] == begin_[start + 1]) {
      continue;
    }
    const std::uint32_t p = begin_[start];  // the likeliest that ends there
    const float log_p = english_.log_prob_of_begun(hypotheses_[p].table_state, typed.substr(start));
    if (!std::isfinite(log_p)) {
      continue;
    }
    PinyinHypothesis next = hypotheses_[p];
    next.previous = p;
    next.word = PinyinHypothesis::kNone;
    next.english = model::kUnknownWord;
    next.begin = static_cast<std::uint16_t>(start);
    next.end = static_cast<std::uint16_t>(typed.size());
    next.last = pinyin::LastSyllable::Open;
    next.penalty += weights_.open;
    ++next.english_words;
    next.characters += log_p;
    if (model_->words() != nullptr) {
      const pinyin::WordModel& words = *model_->words();
      next.words += words.log_prob(next.word_state, words.unknown(), &next.word_state);
    }
    for (const char letter : typed.substr(start)) {
      next.text_hash = hash_of(next.text_hash, kHashOfLetter + static_cast<unsigned char>(letter));
    }
    next.total = total_of(next);
    candidates_.push_back(next);
  }
}

}  // namespace laya::predict
