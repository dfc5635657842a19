#include "model/ngram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "format/model_file.h"
#include "model/ngram_layout.h"

namespace laya::model {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr float kNever = -std::numeric_limits<float>::infinity();
// Units whose best probability is kept together, so that the unigram level is not scanned one by one.
constexpr std::size_t kBlock = 64;

/// Ids [begin, end).
struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

struct Level {
  std::span<const std::uint16_t> words;
  std::span<const std::uint8_t> probs;
  std::span<const std::uint64_t> parents;
  std::span<const std::uint32_t> ranks;
  std::span<const std::uint32_t> begin;
  std::span<const std::uint8_t> backoff;
};

bool better(const Scored& a, const Scored& b) {
  return a.log_prob > b.log_prob || (a.log_prob == b.log_prob && a.word < b.word);
}

/// The best so far, best first, in the caller's span.
class Best {
 public:
  explicit Best(std::span<Scored> out) : out_(out) {}

  /// What a candidate must reach; nothing reaches an empty list.
  float threshold() const {
    if (out_.empty()) {
      return -kNever;
    }
    return size_ < out_.size() ? kNever : out_[size_ - 1].log_prob;
  }
  std::size_t size() const { return size_; }

  void insert(const Scored& candidate) {
    if (size_ == out_.size()) {
      if (!better(candidate, out_[size_ - 1])) {
        return;
      }
      --size_;
    }
    std::size_t at = size_++;
    for (; at > 0 && better(candidate, out_[at - 1]); --at) {
      out_[at] = out_[at - 1];
    }
    out_[at] = candidate;
  }

 private:
  std::span<Scored> out_;
  std::size_t size_ = 0;
};

}  // namespace

void RecentWords::push(WordId previous, WordId word) {
  if (word < kFirstLexiconWord) {
    return;
  }
  ring_[next_] = {previous, word};
  next_ = (next_ + 1) % kCapacity;
  size_ = std::min(size_ + 1, kCapacity);
}

struct NgramModel::Table {
  NgramHeader header{};
  std::span<const std::uint32_t> lexicon_offsets;
  std::string_view lexicon_text;
  std::span<const std::uint32_t> display_ids;
  std::span<const std::uint32_t> display_offsets;
  std::string_view display_text;
  std::span<const float> unigram;
  std::array<Level, kNgramMaxOrder> levels;  // [k - 1]; of [0] only begin and backoff
  std::vector<float> block_best;             // of each kBlock ids, the largest unigram
  std::size_t size_bytes = 0;

  std::string_view key(WordId word) const {
    if (word < kFirstLexiconWord || word >= header.unit_count) {
      return {};
    }
    return slice(lexicon_offsets, word - kFirstLexiconWord, lexicon_text);
  }

  static std::string_view slice(std::span<const std::uint32_t> offsets, std::size_t index,
                                std::string_view text) {
    const std::size_t end = std::min<std::size_t>(offsets[index + 1], text.size());
    const std::size_t begin = std::min<std::size_t>(offsets[index], end);
    return text.substr(begin, end - begin);
  }

  WordId find_in(Range range, std::string_view lower) const {
    const WordId at = first_not_less(range, lower);
    return at < range.end && key(at) == lower ? at : kUnknownWord;
  }

  WordId first_not_less(Range range, std::string_view lower) const {
    while (range.begin < range.end) {
      const std::uint32_t middle = range.begin + (range.end - range.begin) / 2;
      if (key(middle) < lower) {
        range.begin = middle + 1;
      } else {
        range.end = middle;
      }
    }
    return range.begin;
  }

  /// The part of the sorted `range` whose keys begin with `prefix`.
  Range with_prefix(Range range, std::string_view prefix) const {
    if (prefix.empty()) {
      return range;
    }
    const WordId begin = first_not_less(range, prefix);
    Range rest{begin, range.end};
    while (rest.begin < rest.end) {
      const std::uint32_t middle = rest.begin + (rest.end - rest.begin) / 2;
      if (key(middle).starts_with(prefix)) {
        rest.begin = middle + 1;
      } else {
        rest.end = middle;
      }
    }
    return {begin, rest.begin};
  }

  Range symbols() const { return {kFirstLexiconWord, header.han_begin}; }
  Range han() const { return {header.han_begin, header.word_begin}; }
  Range common_words() const { return {header.word_begin, header.common_count}; }
  Range rare_words() const { return {header.common_count, header.unit_count}; }

  /// The unit by which `word` stands in n-grams.
  WordId common(WordId word) const { return word < header.common_count ? word : kUnknownWord; }

  /// The children of `node` of level `k`, as places in level k + 1. Clamped: the file is not trusted.
  Range children(std::uint32_t k, std::uint32_t node) const {
    const Level& level = levels[k - 1];
    if (node >= level.backoff.size() || k >= header.order) {
      return {};
    }
    const auto entries = static_cast<std::uint32_t>(levels[k].words.size());
    const std::uint32_t end = std::min(level.begin[node + 1], entries);
    return {std::min(level.begin[node], end), end};
  }

  float backoff(std::uint32_t k, std::uint32_t node) const {
    const Level& level = levels[k - 1];
    return node < level.backoff.size() ? header.backoff_table[k - 1][level.backoff[node]] : 0.0f;
  }

  /// First place in `places` of level k whose unit is not less than `word`.
  std::uint32_t lower_bound(std::uint32_t k, Range places, std::uint32_t word) const {
    const std::uint16_t* words = levels[k - 1].words.data();
    const std::uint16_t* found = std::lower_bound(
        words + places.begin, words + places.end, word,
        [](std::uint16_t a, std::uint32_t b) { return static_cast<std::uint32_t>(a) < b; });
    return static_cast<std::uint32_t>(found - words);
  }

  /// The place of `word` among `places` of level k, or kNone.
  std::uint32_t find_child(std::uint32_t k, Range places, WordId word) const {
    const std::uint32_t at = lower_bound(k, places, word);
    return at < places.end && levels[k - 1].words[at] == word ? at : kNone;
  }

  /// The context number of entry `place` of level k, or kNone if it has no children.
  std::uint32_t context_of(std::uint32_t k, std::uint32_t place) const {
    const Level& level = levels[k - 1];
    if (k >= header.order || place / 64 >= level.parents.size()) {
      return kNone;
    }
    const std::uint64_t bits = level.parents[place / 64];
    if ((bits >> (place % 64) & 1) == 0) {
      return kNone;
    }
    const std::uint64_t below = bits & ((1ull << (place % 64)) - 1);
    const std::uint32_t node =
        level.ranks[place / 64] + static_cast<std::uint32_t>(std::popcount(below));
    return node < level.backoff.size() ? node : kNone;
  }

  float log_prob_common(const NgramContext& context, WordId word) const {
    float weight = 0.0f;
    for (std::uint32_t k = context.depth; k > 0; --k) {
      const std::uint32_t node = context.nodes[k - 1];
      if (node == kNone) {
        continue;
      }
      const std::uint32_t place = find_child(k + 1, children(k, node), word);
      if (place != kNone) {
        return weight + header.prob_table[k][levels[k].probs[place]];
      }
      weight += backoff(k, node);
    }
    return weight + unigram[word];
  }

  float log_prob(const NgramContext& context, WordId word) const {
    if (word >= header.common_count) {
      const float unknown = log_prob_common(context, kUnknownWord);
      return word < header.unit_count ? unknown + unigram[word] : unknown;
    }
    return log_prob_common(context, word);
  }

  void top(const NgramContext& context, Range range, Range rare, Best* best) const;
  void top_children(const NgramContext& context, std::uint32_t k, Range range, float weight,
                    Best* best) const;
  void top_unigrams(const NgramContext& context, Range range, float weight, Best* best) const;
  bool seen_deeper(const NgramContext& context, std::uint32_t k, WordId word) const;
  std::size_t top_recent(const NgramContext& context, Range range, Range rare,
                         const RecentWords& recent, const RecentMix& mix,
                         std::span<Scored> out) const;

  Status read(const NgramBlobs& blobs, std::string_view name);
};

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
  // Codes ascend with probability, so one byte tells whether an entry can still matter. The margin makes rounding harmless.
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
    // In a hostile table a list may not be sorted, so that its range holds any id (fuzz_ngram found it).
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
    const std::uint32_t block_end =
        std::min<std::uint32_t>(range.end, static_cast<std::uint32_t>((word / kBlock + 1) * kBlock));
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

namespace {

/// The session's recent units, relative to one position: each unit's decayed shares, and their sums.
struct RecentPart {
  float own = 0.0f;
  float pair = 0.0f;  ///< of those after the same unit as here
};

struct RecentTotals {
  float own = 0.0f;
  float pair = 0.0f;
};

/// p = (1 - weight - pair_weight) p_table + …; a component without entries leaves its share to the table.
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
  for (std::size_t age = 0; age < recent.size(); ++age, share *= mix.decay) {
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
  const RecentTotals totals = for_each_recent(
      recent, mix, context.last, [&](WordId word, float share, bool pair) {
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
  // A recent unit that is not in the table's list has at most the probability of its last: most need not be looked up.
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

namespace {

template <typename T>
bool view(const NgramBlobs& blobs, const std::string& name, std::uint64_t count,
          std::span<const T>* out, std::size_t* total) {
  const std::span<const std::byte> bytes = blobs(name);
  if (bytes.size() != count * sizeof(T) ||
      reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) != 0) {
    return false;
  }
  *out = {reinterpret_cast<const T*>(bytes.data()), static_cast<std::size_t>(count)};
  *total += bytes.size();
  return true;
}

Error corrupt(std::string_view name, const std::string& what) {
  return Error{ErrorCode::Corrupt, std::string(name) + ": " + what};
}

// Empty, or the field that cannot be.
const char* header_fault(const NgramHeader& h) {
  if (h.order < 1 || h.order > kNgramMaxOrder) return "order";
  if (h.unit_count > kNgramMaxUnits) return "unit_count";
  if (h.common_count > kNgramMaxCommon || h.common_count > h.unit_count) return "common_count";
  if (h.han_begin < kFirstLexiconWord || h.han_begin > h.word_begin) return "han_begin";
  if (h.word_begin > h.common_count) return "word_begin";
  if (h.display_count > h.unit_count) return "display_count";
  if (h.entries[0] != h.common_count || h.contexts[0] != h.common_count) return "level 1";
  for (std::uint32_t k = 2; k <= kNgramMaxOrder; ++k) {
    if (k > h.order ? h.entries[k - 1] != 0 : h.entries[k - 1] > (1u << 30)) return "entries";
    if (h.contexts[k - 1] > (k < h.order ? h.entries[k - 1] : 0)) return "contexts";
  }
  for (std::uint32_t k = 1; k <= kNgramMaxOrder; ++k) {
    for (std::size_t i = 0; i < 256; ++i) {
      const float p = h.prob_table[k - 1][i];
      if (!std::isfinite(p) || p > 0.0f || (i > 0 && p < h.prob_table[k - 1][i - 1])) {
        return "prob_table";
      }
      if (!std::isfinite(h.backoff_table[k - 1][i])) return "backoff_table";
    }
  }
  return nullptr;
}

}  // namespace

Status NgramModel::Table::read(const NgramBlobs& blobs, std::string_view name) {
  const std::span<const std::byte> bytes = blobs("ngram.header");
  if (bytes.size() < 12 || std::memcmp(bytes.data(), kNgramMagic.data(), 8) != 0) {
    return corrupt(name, "no n-gram table: blob ngram.header is missing or foreign");
  }
  std::uint32_t version = 0;
  std::memcpy(&version, bytes.data() + 8, sizeof(version));
  if (version != kNgramVersion) {
    return Error{ErrorCode::Version, std::string(name) + ": n-gram table of layout version " +
                                         std::to_string(version) + ", this build reads " +
                                         std::to_string(kNgramVersion)};
  }
  if (bytes.size() != sizeof(NgramHeader)) {
    return corrupt(name, "ngram.header has " + std::to_string(bytes.size()) + " bytes, not " +
                             std::to_string(sizeof(NgramHeader)));
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (const char* fault = header_fault(header)) {
    return corrupt(name, std::string("ngram.header: ") + fault + " is out of range");
  }
  size_bytes = bytes.size();
  std::string wrong;
  const auto load = [&]<typename T>(const std::string& blob, std::uint64_t count,
                                    std::span<const T>* out) {
    if (wrong.empty() && !view(blobs, blob, count, out, &size_bytes)) {
      wrong = blob;
    }
  };
  load("ngram.lexicon_offsets", header.unit_count - kFirstLexiconWord + 1ull, &lexicon_offsets);
  load("ngram.display_ids", header.display_count, &display_ids);
  load("ngram.display_offsets", header.display_count + 1ull, &display_offsets);
  load("ngram.unigram", header.unit_count, &unigram);
  for (std::uint32_t k = 1; k <= header.order && wrong.empty(); ++k) {
    Level& level = levels[k - 1];
    const std::string at = "ngram." + std::to_string(k) + ".";
    const std::uint64_t entries = header.entries[k - 1];
    if (k > 1) {
      load(at + "words", entries, &level.words);
      load(at + "probs", entries, &level.probs);
    }
    if (k < header.order) {
      load(at + "begin", header.contexts[k - 1] + 1ull, &level.begin);
      load(at + "backoff", header.contexts[k - 1], &level.backoff);
      if (k > 1) {
        load(at + "parents", (entries + 63) / 64, &level.parents);
        load(at + "ranks", (entries + 63) / 64, &level.ranks);
      }
    }
  }
  if (!wrong.empty()) {
    return corrupt(name, "blob " + wrong + " is missing or of a wrong size");
  }
  const auto text = [&](const char* blob) {
    const std::span<const std::byte> b = blobs(blob);
    size_bytes += b.size();
    return std::string_view(reinterpret_cast<const char*>(b.data()), b.size());
  };
  lexicon_text = text("ngram.lexicon_text");
  display_text = text("ngram.display_text");
  block_best.assign((header.unit_count + kBlock - 1) / kBlock, kNever);
  for (std::uint32_t word = 0; word < header.unit_count; ++word) {
    if (!(unigram[word] <= 0.0f)) {  // NaN too
      return corrupt(name, "ngram.unigram: no logarithm of a probability at unit " +
                               std::to_string(word));
    }
    block_best[word / kBlock] = std::max(block_best[word / kBlock], unigram[word]);
  }
  return {};
}

NgramModel::NgramModel(std::unique_ptr<Table> table) : table_(std::move(table)) {}
NgramModel::NgramModel(NgramModel&&) noexcept = default;
NgramModel& NgramModel::operator=(NgramModel&&) noexcept = default;
NgramModel::~NgramModel() = default;

Result<NgramModel> NgramModel::from_blobs(const NgramBlobs& blobs, std::string_view name) {
  auto table = std::make_unique<Table>();
  if (Status status = table->read(blobs, name); !status) {
    return status.error();
  }
  return NgramModel(std::move(table));
}

Result<NgramModel> NgramModel::open(const format::ModelFile& file) {
  return from_blobs(
      [&file](std::string_view blob) {
        auto bytes = file.blob(blob);
        return bytes ? *bytes : std::span<const std::byte>();
      },
      file.path());
}

std::size_t NgramModel::size() const { return table_->header.unit_count; }
int NgramModel::order() const { return static_cast<int>(table_->header.order); }
std::size_t NgramModel::size_bytes() const { return table_->size_bytes; }

WordId NgramModel::find(std::string_view lower) const {
  if (lower.empty()) {
    return kUnknownWord;
  }
  for (const Range range : {table_->common_words(), table_->han(), table_->symbols(),
                            table_->rare_words()}) {
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

float NgramModel::log_prob(const NgramContext& context, WordId word, const RecentWords& recent,
                           const RecentMix& mix) const {
  RecentPart part;
  const RecentTotals totals = for_each_recent(
      recent, mix, context.last, [&](WordId entry, float share, bool pair) {
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
  return table_->top_recent(context, {kLineEnd, table_->header.common_count},
                            table_->rare_words(), recent, mix,
                            out.first(std::min(out.size(), kMaxTop)));
}

}  // namespace laya::model
