#include "model/ngram/ngram.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "model/ngram/ngram_table.h"

namespace laya::model {

using ngram_detail::Best;
using ngram_detail::kBlock;
using ngram_detail::kNone;
using ngram_detail::Range;

// Whether an n-gram longer than k + 1 units gives `word` its probability.
bool NgramModel::Table::seen_deeper(const NgramContext& context, std::uint32_t k,
                                    WordId word) const {
  for (std::uint32_t deeper = k + 1; deeper <= context.depth; ++deeper) {
    const std::uint32_t node = context.nodes[deeper - 1];
    if (node != kNone && find_child(deeper + 1, children(deeper, node), word) != kNone) {
      return true;
    }
  }
  return false;
}

void NgramModel::Table::top_children(const NgramContext& context, std::uint32_t k, Range range,
                                     float weight, Best* best) const {
  const Level& level = levels[k];
  const auto& table = header.prob_table[k];
  Range places = children(k, context.nodes[k - 1]);
  places = {lower_bound(k + 1, places, range.begin), places.end};
  places.end = lower_bound(k + 1, places, range.end);
  // Codes ascend with probability, so one byte tells whether an entry can still matter. The margin
  // makes rounding harmless.
  const auto least_code = [&] {
    const float least = best->threshold() - weight - 1e-4f;
    return static_cast<int>(std::lower_bound(table.begin(), table.end(), least) - table.begin());
  };
  int least = least_code();
  for (std::uint32_t place = places.begin; place < places.end; ++place) {
    const std::uint8_t code = level.probs[place];
    if (code < least) {
      continue;
    }
    const Scored candidate{level.words[place], weight + table[code]};
    // In a hostile table a list may not be sorted, so that its range holds any id (fuzz_ngram found
    // it).
    const bool wanted = candidate.word >= range.begin && candidate.word < range.end;
    if (wanted && candidate.log_prob >= best->threshold() &&
        !seen_deeper(context, k, candidate.word)) {
      best->insert(candidate);
      least = least_code();
    }
  }
}

void NgramModel::Table::top_unigrams(const NgramContext& context, Range range, float weight,
                                     Best* best) const {
  for (std::uint32_t word = range.begin; word < range.end;) {
    const std::uint32_t block_end = std::min<std::uint32_t>(
        range.end, static_cast<std::uint32_t>((word / kBlock + 1) * kBlock));
    if (weight + block_best[word / kBlock] >= best->threshold()) {
      for (; word < block_end; ++word) {
        const Scored candidate{word, weight + unigram[word]};
        if (candidate.log_prob >= best->threshold() &&
            (word >= header.common_count || !seen_deeper(context, 0, word))) {
          best->insert(candidate);
        }
      }
    }
    word = block_end;
  }
}

void NgramModel::Table::top(const NgramContext& context, Range range, Range rare,
                            Best* best) const {
  float weight = 0.0f;
  for (std::uint32_t k = context.depth; k > 0; --k) {
    if (context.nodes[k - 1] != kNone) {
      top_children(context, k, range, weight, best);
      weight += backoff(k, context.nodes[k - 1]);
    }
  }
  top_unigrams(context, range, weight, best);
  if (rare.begin < rare.end) {
    top_unigrams(context, rare, log_prob_common(context, kUnknownWord), best);
  }
}

NgramModel::NgramModel(std::unique_ptr<Table> table) : table_(std::move(table)) {}
NgramModel::NgramModel(NgramModel&&) noexcept = default;
NgramModel& NgramModel::operator=(NgramModel&&) noexcept = default;
NgramModel::~NgramModel() = default;

std::size_t NgramModel::size() const { return table_->header.unit_count; }
int NgramModel::order() const { return static_cast<int>(table_->header.order); }
std::size_t NgramModel::size_bytes() const { return table_->size_bytes; }

WordId NgramModel::find(std::string_view lower) const {
  if (lower.empty()) {
    return kUnknownWord;
  }
  for (const Range range :
       {table_->common_words(), table_->han(), table_->symbols(), table_->rare_words()}) {
    if (const WordId word = table_->find_in(range, lower); word != kUnknownWord) {
      return word;
    }
  }
  return kUnknownWord;
}

std::string_view NgramModel::text(WordId word) const { return table_->key(word); }

std::string_view NgramModel::display(WordId word) const {
  const auto& ids = table_->display_ids;
  const auto at = std::lower_bound(ids.begin(), ids.end(), word);
  if (at != ids.end() && *at == word) {
    return Table::slice(table_->display_offsets, static_cast<std::size_t>(at - ids.begin()),
                        table_->display_text);
  }
  return table_->key(word);
}

bool NgramModel::is_word(WordId word) const {
  return word >= table_->header.word_begin && word < table_->header.unit_count;
}

bool NgramModel::is_han(WordId word) const {
  return word >= table_->header.han_begin && word < table_->header.word_begin;
}

NgramContext NgramModel::none() const {
  NgramContext context;
  context.nodes.fill(kNone);
  context.last = kUnknownWord;
  return context;
}

NgramContext NgramModel::start() const {
  NgramContext context = none();
  push(&context, kLineStart);
  return context;
}

void NgramModel::push(NgramContext* context, WordId word) const {
  const Table& table = *table_;
  const WordId common = table.common(word);
  const std::size_t longest = std::min<std::size_t>(
      {static_cast<std::size_t>(table.header.order) - 1, NgramContext::kMaxUnits,
       static_cast<std::size_t>(context->depth) + 1});
  std::uint8_t depth = 0;
  // From the longest down, so that nodes[k - 1] is still the old one when nodes[k] is made from it.
  for (std::size_t k = longest; k > 1; --k) {
    std::uint32_t node = kNone;
    const auto parent_level = static_cast<std::uint32_t>(k - 1);
    if (const std::uint32_t parent = context->nodes[k - 2]; parent != kNone) {
      const auto level = static_cast<std::uint32_t>(k);
      const std::uint32_t place =
          table.find_child(level, table.children(parent_level, parent), common);
      node = place == kNone ? kNone : table.context_of(level, place);
    }
    context->nodes[k - 1] = node;
    if (node != kNone && depth == 0) {
      depth = static_cast<std::uint8_t>(k);
    }
  }
  if (longest > 0) {
    context->nodes[0] = common < table.header.common_count ? common : kNone;
    depth = std::max<std::uint8_t>(depth, 1);
  }
  context->depth = depth;
  context->last = word;
}

float NgramModel::log_prob(const NgramContext& context, WordId word) const {
  return table_->log_prob(context, word);
}

std::size_t NgramModel::top_words(const NgramContext& context, std::string_view prefix,
                                  std::span<Scored> out) const {
  Best best(out.first(std::min(out.size(), kMaxTop)));
  table_->top(context, table_->with_prefix(table_->common_words(), prefix),
              table_->with_prefix(table_->rare_words(), prefix), &best);
  return best.size();
}

std::size_t NgramModel::top_han(const NgramContext& context, std::span<Scored> out) const {
  Best best(out.first(std::min(out.size(), kMaxTop)));
  table_->top(context, table_->han(), {}, &best);
  return best.size();
}

std::size_t NgramModel::top_characters(const NgramContext& context, std::span<Scored> out) const {
  Best best(out.first(std::min(out.size(), kMaxTop)));
  table_->top(context, {kFirstLexiconWord, table_->header.word_begin}, {}, &best);
  return best.size();
}

std::size_t NgramModel::top_any(const NgramContext& context, std::span<Scored> out) const {
  Best best(out.first(std::min(out.size(), kMaxTop)));
  table_->top(context, {kLineEnd, table_->header.common_count}, table_->rare_words(), &best);
  return best.size();
}

}  // namespace laya::model
