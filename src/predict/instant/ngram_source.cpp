#include "predict/instant/ngram_source.h"

#include <algorithm>
#include <array>

#include "predict/source/table_unit.h"
#include "text/units.h"

namespace laya::predict {
namespace {

constexpr std::size_t kProposed = 40;
// Recent words count in full only when there are many: a line's first few say little about its
// next.
constexpr float kRecentHalf = 40;
// Enough for any context: six units of 64 bytes at most, and more than enough for six Han
// characters.
constexpr std::size_t kContextBytes = 400;

// Where reading of units may begin: behind a line end or a blank, at most about kContextBytes
// before `end`.
std::size_t safe_begin(std::string_view text, std::size_t end) {
  if (end <= kContextBytes) {
    return 0;
  }
  std::size_t begin = end - kContextBytes;
  for (std::size_t i = begin; i < end && i < begin + kContextBytes / 2; ++i) {
    if (text[i] == ' ' || text[i] == '\n') {
      return i;
    }
  }
  while (begin < end && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) {
    ++begin;
  }
  return begin;
}

}  // namespace

NgramSource::NgramSource(const model::NgramModel& ngrams, const PieceIndex& index)
    : ngrams_(&ngrams), index_(&index), context_(ngrams.none()) {}

void NgramSource::clear() {
  recent_.clear();
  recorded_bytes_ = 0;
  units_in_line_ = 0;
  context_ = ngrams_->none();
  stale_ = true;
}

void NgramSource::follow(const TypedText& text, const TypedText::Delta& delta) {
  const std::size_t before_drop = text.before().size() + delta.dropped - delta.inserted;
  if (before_drop < recorded_bytes_) {  // text that was recorded is gone: record anew
    recent_.clear();
    recorded_bytes_ = 0;
  }
  recorded_bytes_ -= std::min(recorded_bytes_, delta.dropped);
  stale_ = true;
}

model::WordId NgramSource::id_of(std::string_view unit_text, text::UnitKind kind) const {
  return table_unit(*ngrams_, unit_text, kind);
}

void NgramSource::refresh(const TypedText& text) {
  if (!stale_) {
    return;
  }
  stale_ = false;
  const std::string_view all = text.before();
  const std::string_view closed = all.substr(0, all.size() - text.open_word().size());
  const std::size_t newline = closed.rfind('\n');
  const std::size_t line = newline == std::string_view::npos ? 0 : newline + 1;
  const bool line_is_known = newline != std::string_view::npos || text.starts_field();

  const std::size_t begin = std::max(line, safe_begin(closed, closed.size()));
  const bool from_line_start = begin == line && line_is_known;
  context_ = from_line_start ? ngrams_->start() : ngrams_->none();
  units_in_line_ = from_line_start ? 0 : 4;
  text::Unit unit;
  std::size_t offset = begin;
  while (text::next_unit(closed, offset, &unit)) {
    ngrams_->push(&context_, id_of(closed.substr(unit.begin, unit.end - unit.begin), unit.kind));
    ++units_in_line_;
    offset = unit.end;
  }

  // Recent words: everything closed that is not recorded yet. `previous` of the first is read from
  // just before.
  offset = recorded_bytes_ == 0 ? 0 : safe_begin(closed, std::min(recorded_bytes_, closed.size()));
  model::WordId previous = model::kLineStart;
  while (text::next_unit(closed, offset, &unit)) {
    const model::WordId word = id_of(closed.substr(unit.begin, unit.end - unit.begin), unit.kind);
    if (unit.begin >= recorded_bytes_) {
      recent_.push(previous, word);
    }
    previous = word == model::kLineEnd ? model::kLineStart : word;
    offset = unit.end;
  }
  recorded_bytes_ = std::max(recorded_bytes_, closed.size());
  const auto known = static_cast<float>(recent_.size());
  const float trust = known / (known + kRecentHalf);
  const model::RecentMix full;
  recent_mix_.weight = full.weight * trust;
  recent_mix_.pair_weight = full.pair_weight * trust;
}

const model::NgramContext& NgramSource::context(const TypedText& text) {
  refresh(text);
  return context_;
}

std::size_t NgramSource::units_in_line(const TypedText& text) {
  refresh(text);
  return units_in_line_;
}

void NgramSource::propose(const TypedText& text, const WordQuery& query, WordPool* pool) {
  refresh(text);
  std::array<model::Scored, kProposed> best;
  const std::size_t count = ngrams_->top_words(context_, query.prefix, recent_, recent_mix_, best);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view key = ngrams_->text(best[i].word);
    PoolWord* word = pool->add(key, best[i].word, index_->group_of(best[i].word));
    if (word != nullptr) {
      word->from_ngram = true;
      word->log_p_ngram = best[i].log_prob;
    }
  }
}

void NgramSource::score(const TypedText& text, const WordQuery&, WordPool* pool) {
  refresh(text);
  for (PoolWord& word : pool->words()) {
    if (word.from_ngram) {
      continue;  // propose() gave it
    }
    if (word.word == model::kUnknownWord) {
      // One of the many words outside the table: the unknown unit's probability is shared among
      // them (Zipf; a guess is enough, it only keeps the word in the list behind known ones).
      constexpr float kUnknownWords = 10.0F;  // ln 22,000
      word.log_p_ngram = ngrams_->log_prob(context_, model::kUnknownWord) - kUnknownWords;
    } else {
      word.log_p_ngram = ngrams_->log_prob(context_, word.word, recent_, recent_mix_);
    }
  }
}

}  // namespace laya::predict
