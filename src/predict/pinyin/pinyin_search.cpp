#include "predict/pinyin/pinyin_search.h"

#include <algorithm>
#include <string>

#include "predict/pinyin/word_state.h"
#include "predict/source/table_context.h"
#include "text/tokenizer.h"

namespace laya::predict {
namespace {

constexpr std::uint32_t kNone = PinyinHypothesis::kNone;

// Room for a sentence of so many letters from the start; a longer one grows it once.
constexpr std::size_t kUsualLetters = 128;
constexpr std::size_t kUsualStarts = 8;  // places where the words that end here begin

}  // namespace

PinyinSearch::PinyinSearch(const PinyinModel& model, const PinyinWeights& weights)
    : model_(&model), weights_(weights), paths_(model.lexicon()), english_(model.engine()) {
  if (model.engine().network() != nullptr) {
    network_ = std::make_unique<PinyinNetwork>(model.engine());
  }
  hypotheses_.reserve(kUsualLetters * kBeam);
  begin_.reserve(pinyin::Paths::kMaxLetters + 2);
  edges_.reserve(kUsualStarts * kWordsOfStart);
  of_start_.reserve(kWordsOfStart + 1);
  drafts_.reserve(kByTable + 1);
  candidates_.reserve(kByTable + kBeam);
  wanted_.reserve(PinyinNetwork::kStates);
  read_.reserve(pinyin::LexiconBuilder::kMaxSyllables);
  best_.reserve(kByTable + kBeam);
}

Status PinyinSearch::set_context(std::string_view before, const base::CancelFlag* cancel) {
  start_ = {};
  if (model_->words() != nullptr) {
    start_.word_state = word_state_behind(*model_->words(), before);
  }
  start_.table_state = table_context(model_->engine().ngrams(), before);
  Status done;
  if (network_ != nullptr) {
    done = network_->set_context(before, cancel);
  }
  begin_again();
  return done;
}

void PinyinSearch::begin_again() {
  paths_.clear();
  hypotheses_.assign(1, start_);
  begin_.assign({0, 1});
  best_.clear();
}

std::span<const PinyinHypothesis> PinyinSearch::column(std::size_t place) const {
  return std::span(hypotheses_).subspan(begin_[place], begin_[place + 1] - begin_[place]);
}

float PinyinSearch::total_of(const PinyinHypothesis& h) const {
  return weights_.words * h.words + weights_.characters * h.characters + h.penalty +
         weights_.english * static_cast<float>(h.english_words);
}

void PinyinSearch::append_text(const PinyinHypothesis& hypothesis, std::string* out) const {
  if (hypothesis.previous == kNone && hypothesis.end == 0) {
    return;
  }
  const bool english = hypothesis.english != model::kUnknownWord;
  if (hypothesis.previous != kNone) {
    append_text(hypotheses_[hypothesis.previous], out);
    if (english && hypotheses_[hypothesis.previous].english != model::kUnknownWord) {
      out->push_back(' ');
    }
  }
  const std::string_view typed =
      paths_.letters().substr(hypothesis.begin, hypothesis.end - hypothesis.begin);
  if (english) {
    english_.append(hypothesis.english, typed.substr(0, typed.find('\'')), out);
  } else if (hypothesis.word != kNone) {
    out->append(model_->lexicon().text(model_->lexicon().word(hypothesis.word)));
  } else {
    out->append(typed);
  }
}

void PinyinSearch::add_letter_itself() {
  const std::size_t end = letters().size();
  const char letter = letters().back();
  const model::NgramModel* table = model_->engine().ngrams();
  for (std::uint32_t p = begin_[end - 1]; p < begin_[end]; ++p) {
    PinyinHypothesis next = hypotheses_[p];
    next.previous = p;
    next.word = kNone;
    next.english = model::kUnknownWord;
    next.begin = static_cast<std::uint16_t>(end - 1);
    next.end = static_cast<std::uint16_t>(end);
    next.last = pinyin::LastSyllable::Whole;
    next.penalty += weights_.literal;
    next.text_hash = hash_of(next.text_hash, kHashOfLetter + static_cast<unsigned char>(letter));
    if (model_->words() != nullptr) {
      next.word_state = model_->words()->start();
    }
    if (table != nullptr) {
      table->push(&next.table_state, model::kUnknownWord);
    }
    if (network_ != nullptr) {
      next.node = network_->child(next.node, model_->engine().tokenizer()->vocabulary().byte_id(
                                                 static_cast<std::uint8_t>(letter)));
    }
    next.total = total_of(next);
    candidates_.push_back(next);
  }
}

Status PinyinSearch::push(char letter, const base::CancelFlag* cancel) {
  if (letters().size() == kMaxLetters) {
    return Error{ErrorCode::TooLarge, "pinyin: more than " + std::to_string(kMaxLetters) +
                                          " letters; commit some first"};
  }
  if (network_ != nullptr) {
    if (auto done = make_room(); !done) return done;
  }
  paths_.push(letter);
  if (auto done = find_candidates(letter, cancel); !done) {
    paths_.pop();
    return done;
  }
  std::size_t kept = 0;
  for (const PinyinHypothesis& candidate : candidates_) {
    if (candidate.last != pinyin::LastSyllable::Open && kept < kBeam) {
      hypotheses_.push_back(candidate);
      ++kept;
    }
  }
  begin_.push_back(static_cast<std::uint32_t>(hypotheses_.size()));
  order_best();
  return {};
}

// The readings that end behind the last letter.
Status PinyinSearch::find_candidates(char letter, const base::CancelFlag* cancel) {
  const std::size_t end = letters().size();
  edges_.clear();
  candidates_.clear();
  if (letter == '\'') {
    for (std::uint32_t p = begin_[end - 1]; p < begin_[end]; ++p) {
      candidates_.push_back(hypotheses_[p]);
      candidates_.back().end = static_cast<std::uint16_t>(end);
    }
    return {};
  }
  const bool literal = paths_.is_literal(end - 1);
  if (!literal) {
    collect_edges(paths_.here());
    collect_edges(paths_.open());
    if (auto done = draft(cancel); !done) return done;
    judge_by_table();
  }
  add_english();
  if (network_ != nullptr) {
    if (auto done = judge_by_network(cancel); !done) return done;
  }
  for (PinyinHypothesis& candidate : candidates_) {
    candidate.total = total_of(candidate);
  }
  add_begun_english();
  sort_and_unite(&candidates_, kByNetwork);
  if (literal || candidates_.empty()) {
    add_letter_itself();
  }
  return {};
}

// An unfinished syllable is no sign of writing in short: more letters may follow.
void PinyinSearch::order_best() {
  best_ = candidates_;
  for (PinyinHypothesis& candidate : best_) {
    if (candidate.last == pinyin::LastSyllable::Short) {
      candidate.penalty += weights_.open - weights_.shortened;
      candidate.total += weights_.open - weights_.shortened;
    }
  }
  std::sort(best_.begin(), best_.end(), likelier);
}

void PinyinSearch::pop() {
  if (letters().empty()) {
    return;
  }
  paths_.pop();
  begin_.pop_back();
  hypotheses_.resize(begin_.back());
  // What was open at the place is not kept; readings that end there are.
  const auto here = column(letters().size());
  candidates_.assign(here.begin(), here.end());
  if (letters().empty()) {
    candidates_.clear();
  }
  order_best();
}

}  // namespace laya::predict
