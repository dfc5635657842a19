// The session's recent units, mixed into what the table says.
#include <algorithm>
#include <array>
#include <cmath>

#include "model/ngram/ngram_table.h"

namespace laya::model {

void RecentWords::push(WordId previous, WordId word) {
  if (word < kFirstLexiconWord) {
    return;
  }
  ring_[next_] = {previous, word};
  next_ = (next_ + 1) % kCapacity;
  size_ = std::min(size_ + 1, kCapacity);
}

namespace {

/// The session's recent units, relative to one position: each unit's decayed shares, and their
/// sums.
struct RecentPart {
  float own = 0.0f;
  float pair = 0.0f;  ///< of those after the same unit as here
};

struct RecentTotals {
  float own = 0.0f;
  float pair = 0.0f;
};

/// p = (1 - weight - pair_weight) p_table + …; a component without entries leaves its share to the
/// table.
class Mixer {
 public:
  Mixer(const RecentMix& mix, const RecentTotals& totals)
      : own_(totals.own > 0.0f ? mix.weight / totals.own : 0.0f),
        pair_(totals.pair > 0.0f ? mix.pair_weight / totals.pair : 0.0f),
        table_(1.0f - (totals.own > 0.0f ? mix.weight : 0.0f) -
               (totals.pair > 0.0f ? mix.pair_weight : 0.0f)) {}

  float probability(float table_probability, const RecentPart& part) const {
    return table_ * table_probability + own_ * part.own + pair_ * part.pair;
  }

 private:
  float own_;
  float pair_;
  float table_;
};

/// Calls each(entry, share, is after `last`) from the latest on, and returns the sums.
template <typename F>
RecentTotals for_each_recent(const RecentWords& recent, const RecentMix& mix, WordId last, F each) {
  RecentTotals totals;
  float share = 1.0f;
  for (std::size_t age = mix.skip; age < recent.size(); ++age, share *= mix.decay) {
    const RecentWords::Entry& entry = recent.at(age);
    totals.own += share;
    totals.pair += entry.previous == last ? share : 0.0f;
    each(entry.word, share, entry.previous == last);
  }
  return totals;
}

/// Word ▶ RecentPart without allocation: open addressing at most half full.
class RecentTally {
 public:
  struct Slot {
    WordId word = kUnknownWord;  // never pushed: marks a free slot
    bool done = false;
    RecentPart part;
  };

  Slot& slot_of(WordId word) {
    std::size_t at = word * 2654435761u >> 7 & (slots_.size() - 1);
    while (slots_[at].word != kUnknownWord && slots_[at].word != word) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return slots_[at];
  }
  void add(WordId word, float share, bool pair) {
    Slot& slot = slot_of(word);
    slot.word = word;
    slot.part.own += share;
    slot.part.pair += pair ? share : 0.0f;
  }
  std::span<Slot> slots() { return slots_; }

 private:
  std::array<Slot, 2 * RecentWords::kCapacity> slots_;
  static_assert(std::has_single_bit(RecentWords::kCapacity));
};

}  // namespace

std::size_t NgramModel::Table::top_recent(const NgramContext& context, Range range, Range rare,
                                          const RecentWords& recent, const RecentMix& mix,
                                          std::span<Scored> out) const {
  RecentTally tally;
  const RecentTotals totals =
      for_each_recent(recent, mix, context.last, [&](WordId word, float share, bool pair) {
        if ((word >= range.begin && word < range.end) || (word >= rare.begin && word < rare.end)) {
          tally.add(word, share, pair);
        }
      });
  const Mixer mixer(mix, totals);
  std::array<Scored, kMaxTop> buffer;
  Best table_best(std::span<Scored>(buffer).first(out.size()));
  top(context, range, rare, &table_best);
  Best best(out);
  for (std::size_t i = 0; i < table_best.size(); ++i) {
    RecentTally::Slot& slot = tally.slot_of(buffer[i].word);
    slot.done = true;
    const float p = mixer.probability(std::exp(buffer[i].log_prob), slot.part);
    best.insert({buffer[i].word, std::log(p)});
  }
  if (out.empty() || table_best.size() < out.size()) {
    return best.size();  // the table's list holds every unit there is
  }
  // A recent unit that is not in the table's list has at most the probability of its last: most
  // need not be looked up.
  const float most = std::exp(buffer[out.size() - 1].log_prob);
  for (const RecentTally::Slot& slot : tally.slots()) {
    if (slot.word == kUnknownWord || slot.done ||
        std::log(mixer.probability(most, slot.part)) + 1e-4f < best.threshold()) {
      continue;
    }
    const float p = mixer.probability(std::exp(log_prob(context, slot.word)), slot.part);
    best.insert({slot.word, std::log(p)});
  }
  return best.size();
}

float NgramModel::log_prob(const NgramContext& context, WordId word, const RecentWords& recent,
                           const RecentMix& mix) const {
  RecentPart part;
  const RecentTotals totals =
      for_each_recent(recent, mix, context.last, [&](WordId entry, float share, bool pair) {
        part.own += entry == word ? share : 0.0f;
        part.pair += entry == word && pair ? share : 0.0f;
      });
  const float p = std::exp(table_->log_prob(context, word));
  return std::log(Mixer(mix, totals).probability(p, part));
}

std::size_t NgramModel::top_words(const NgramContext& context, std::string_view prefix,
                                  const RecentWords& recent, const RecentMix& mix,
                                  std::span<Scored> out) const {
  return table_->top_recent(context, table_->with_prefix(table_->common_words(), prefix),
                            table_->with_prefix(table_->rare_words(), prefix), recent, mix,
                            out.first(std::min(out.size(), kMaxTop)));
}

std::size_t NgramModel::top_han(const NgramContext& context, const RecentWords& recent,
                                const RecentMix& mix, std::span<Scored> out) const {
  return table_->top_recent(context, table_->han(), {}, recent, mix,
                            out.first(std::min(out.size(), kMaxTop)));
}

std::size_t NgramModel::top_characters(const NgramContext& context, const RecentWords& recent,
                                       const RecentMix& mix, std::span<Scored> out) const {
  return table_->top_recent(context, {kFirstLexiconWord, table_->header.word_begin}, {}, recent,
                            mix, out.first(std::min(out.size(), kMaxTop)));
}

std::size_t NgramModel::top_any(const NgramContext& context, const RecentWords& recent,
                                const RecentMix& mix, std::span<Scored> out) const {
  return table_->top_recent(context, {kLineEnd, table_->header.common_count}, table_->rare_words(),
                            recent, mix, out.first(std::min(out.size(), kMaxTop)));
}

}  // namespace laya::model
