#include "predict/list/rank_features.h"

#include <algorithm>
#include <cmath>

#include "base/fnv1a.h"
#include "base/utf8.h"
#include "text/units.h"

namespace laya::predict {
namespace {

std::uint64_t hash_of(std::string_view key) {
  return base::fnv1a_64(std::as_bytes(std::span(key)));
}

float flag(bool value) { return value ? 1.0F : 0.0F; }

float bounded(float log_prob) {
  return std::isnan(log_prob) ? kLeastLogProb : std::clamp(log_prob, kLeastLogProb, 0.0F);
}

float tenth(std::size_t count) { return static_cast<float>(std::min<std::size_t>(count, 40)) / 10; }

}  // namespace

void RankMoment::begin(const TypedText& text, const WordQuery& query, std::size_t units,
                       float pool_mass, const model::NgramModel* ngrams,
                       const TypingMemory* memory) {
  ngrams_ = ngrams;
  memory_ = memory;
  typed_letters_ = base::count_code_points(query.typed);
  units_ = units;
  log_mass_ = bounded(std::log(std::max(pool_mass, 1e-9F)));
  has_deep_ = query.deep_share > 0;
  sentence_ = text.at_sentence_start();
  no_capitals_ = text.writes_without_capitals();
  text_after_ = !text.after().empty();
  // The words before the open one, from left to right; kept in a ring, read from its end.
  std::string_view before = text.before();
  before.remove_suffix(query.typed.size());
  std::size_t offset = before.size() > kLookBackBytes ? before.size() - kLookBackBytes : 0;
  while (offset > 0 && offset < before.size() && before[offset] != ' ') {
    ++offset;
  }
  std::array<std::uint64_t, kWords> ring{};
  std::size_t count = 0;
  text::Unit unit;
  std::array<char, text::kMaxUnitBytes * 2> lower;
  for (; text::next_unit(before, offset, &unit); offset = unit.end) {
    if (unit.kind == text::UnitKind::Word) {
      const std::size_t length = text::copy_lower(before.substr(unit.begin, unit.end - unit.begin),
                                                  lower.data(), lower.size());
      ring[count++ % kWords] = hash_of({lower.data(), length});
    }
  }
  word_count_ = std::min(count, kWords);
  for (std::size_t i = 0; i < word_count_; ++i) {
    words_[i] = ring[(count - 1 - i) % kWords];
  }
}

void RankMoment::write(std::span<const Ranked> ranked, std::span<const std::string_view> keys,
                       std::span<float> out) const {
  float best = kImpossible;
  float mass = 0;
  for (const Ranked& entry : ranked) {
    best = std::max(best, entry.score);
  }
  for (const Ranked& entry : ranked) {
    mass += std::exp(bounded(entry.score - best));
  }
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    std::size_t place = 0;  // by score: what was passed over stands further down
    for (std::size_t k = 0; k < ranked.size(); ++k) {
      place += ranked[k].score > ranked[i].score ? 1 : 0;
    }
    write_one(ranked[i], keys[i], place, best, mass > 0 ? 1 / mass : 0,
              out.subspan(i * kRankFeatures).first<kRankFeatures>());
  }
}

void RankMoment::write_one(const Ranked& entry, std::string_view key, std::size_t place, float best,
                           float certainty, std::span<float, kRankFeatures> out) const {
  std::size_t next = 0;
  const auto put = [&](float value) { out[next++] = value; };
  const PoolWord* word = entry.word;
  const Origin origin = entry.offer != nullptr ? entry.offer->origin : Origin::Both;
  const std::uint64_t hash = hash_of(key);
  std::size_t ago = word_count_;
  std::size_t times = 0;
  for (std::size_t i = 0; i < word_count_; ++i) {
    if (words_[i] == hash) {
      ago = std::min(ago, i);
      ++times;
    }
  }
  const std::size_t length = base::count_code_points(key);
  const std::size_t erased = entry.offer != nullptr ? entry.offer->erase_bytes : 0;
  const std::size_t left = length - (erased == 0 ? std::min(length, typed_letters_) : 0);

  put(bounded(entry.score));
  put(bounded(entry.score - best));
  put(1 / static_cast<float>(1 + place));
  put(word != nullptr ? bounded(word->log_p_network) : kLeastLogProb);
  put(word != nullptr && ngrams_ != nullptr && word->word != model::kUnknownWord
          ? bounded(ngrams_->log_prob(ngrams_->none(), word->word))
          : kLeastLogProb);
  put(word != nullptr ? bounded(word->log_p_ngram) : kLeastLogProb);
  put(word != nullptr && has_deep_ ? bounded(word->log_p_deep) : kLeastLogProb);
  put(flag(has_deep_));
  put(bounded(entry.order));
  put(entry.offer != nullptr ? bounded(entry.offer->log_noise) : 0);
  put(word != nullptr ? bounded(word->log_case_fit) : 0);
  put(flag(word != nullptr && word->from_network));
  put(flag(word != nullptr && word->from_ngram));
  put(flag(word != nullptr && word->from_deep));
  put(flag(origin == Origin::Lexicon));
  put(flag(origin == Origin::Emoji));
  put(flag(origin == Origin::Correction));
  put(flag(origin == Origin::Pinyin));
  put(flag(origin == Origin::Remote));
  put(flag(entry.han != nullptr));
  put(tenth(length));
  put(tenth(left));
  put(flag(left == 1));
  put(tenth(typed_letters_));
  put(flag(typed_letters_ == 0));
  put(tenth(erased));
  put(flag(entry.passed));
  put(times > 0 ? std::exp(-static_cast<float>(ago) / 32) : 0);
  put(static_cast<float>(std::min<std::size_t>(times, 4)) / 4);
  put(flag(times > 0 && ago == 0));
  put(memory_ != nullptr
          ? static_cast<float>(std::min<std::size_t>(memory_->times_accepted(key), 4)) / 4
          : 0);
  put(log_mass_);
  put(certainty);
  put(static_cast<float>(std::min<std::size_t>(units_, 8)) / 8);
  put(flag(sentence_));
  put(flag(no_capitals_));
  put(flag(text_after_));
  put(memory_ != nullptr ? memory_->interval_change() : 0);
  put(memory_ != nullptr ? memory_->deletions() : 0);
  put(memory_ != nullptr ? memory_->jumps() : 0);
  put(memory_ != nullptr ? memory_->accept_rate() : 0);
}

}  // namespace laya::predict
