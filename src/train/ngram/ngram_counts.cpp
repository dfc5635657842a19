#include "train/ngram/ngram_counts.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace laya::train {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// (parent, word) ▶ node: open addressing, linear probing, keys kept in the slots so that a miss
// costs one cache line.
class NodeIndex {
 public:
  explicit NodeIndex(std::size_t expected) { resize(expected * 2); }

  void prefetch(std::uint64_t key) const { __builtin_prefetch(&slots_[slot_of(key)]); }

  /// The node of `key`; a new one (numbered in order of arrival) if there is none.
  std::uint32_t find_or_add(std::uint64_t key, bool* added) {
    if (size_ * 10 >= slots_.size() * 7) {
      resize(slots_.size() * 2);
    }
    std::size_t at = slot_of(key);
    while (slots_[at].node != kNone) {
      if (slots_[at].key_low == static_cast<std::uint32_t>(key) &&
          slots_[at].key_high == static_cast<std::uint32_t>(key >> 32)) {
        *added = false;
        return slots_[at].node;
      }
      at = (at + 1) & mask_;
    }
    *added = true;
    slots_[at] = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32),
                  static_cast<std::uint32_t>(size_)};
    return static_cast<std::uint32_t>(size_++);
  }

 private:
  struct Slot {
    std::uint32_t key_low;
    std::uint32_t key_high;
    std::uint32_t node;
  };

  std::size_t slot_of(std::uint64_t key) const {
    key *= 0x9E3779B97F4A7C15ull;
    key ^= key >> 29;
    key *= 0xBF58476D1CE4E5B9ull;
    return static_cast<std::size_t>(key >> 24) & mask_;
  }

  void resize(std::size_t wanted) {
    std::size_t capacity = 1024;
    while (capacity < wanted) {
      capacity *= 2;
    }
    std::vector<Slot> old(capacity, Slot{0, 0, kNone});
    old.swap(slots_);
    mask_ = capacity - 1;
    for (const Slot& slot : old) {
      if (slot.node != kNone) {
        std::size_t at = slot_of(slot.key_low | static_cast<std::uint64_t>(slot.key_high) << 32);
        while (slots_[at].node != kNone) {
          at = (at + 1) & mask_;
        }
        slots_[at] = slot;
      }
    }
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
};

template <typename T>
void permute(const std::vector<std::uint32_t>& order, std::vector<T>* values) {
  std::vector<T> moved(values->size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    moved[i] = (*values)[order[i]];
  }
  values->swap(moved);
}

// Sorts the level by (parent, word) and renumbers `nodes_at`.
void sort_level(std::size_t parents, NgramLevel* level, NgramLevel* above,
                std::vector<std::uint32_t>* nodes_at) {
  const std::size_t n = level->size();
  above->begin.assign(parents + 1, 0);
  for (const std::uint32_t parent : level->parent) {
    ++above->begin[parent + 1];
  }
  std::partial_sum(above->begin.begin(), above->begin.end(), above->begin.begin());
  std::vector<std::uint32_t> order(n);
  {
    std::vector<std::uint32_t> next(above->begin.begin(), above->begin.end() - 1);
    for (std::uint32_t i = 0; i < n; ++i) {
      order[next[level->parent[i]]++] = i;
    }
  }
  for (std::size_t p = 0; p < parents; ++p) {
    std::sort(order.begin() + above->begin[p], order.begin() + above->begin[p + 1],
              [&](std::uint32_t a, std::uint32_t b) { return level->word[a] < level->word[b]; });
  }
  permute(order, &level->word);
  permute(order, &level->parent);
  permute(order, &level->suffix);
  permute(order, &level->count);
  permute(order, &level->raw);
  std::vector<std::uint32_t> rank(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    rank[order[i]] = i;
  }
  for (std::uint32_t& node : *nodes_at) {
    node = node == kNone ? kNone : rank[node];
  }
}

}  // namespace

std::vector<NgramLevel> count_ngrams(const NgramText& text, const NgramCountOptions& options,
                                     const std::function<void(double)>& progress) {
  std::vector<NgramLevel> levels(options.order);
  NgramLevel& first = levels[0];
  first.word.resize(text.common_count);
  std::iota(first.word.begin(), first.word.end(), 0u);
  first.count.assign(text.common_count, 0.0f);
  first.raw.assign(text.common_count, 0.0f);
  {
    std::vector<double> count(text.common_count, 0.0);
    for (const NgramStretch& stretch : text.stretches) {
      for (std::size_t i = stretch.begin; i < stretch.end; ++i) {
        count[text.ids[i]] += stretch.weight;
        first.raw[text.ids[i]] += 1.0f;
      }
    }
    std::transform(count.begin(), count.end(), first.count.begin(),
                   [](double c) { return static_cast<float>(c); });
  }
  // The continuation counts of an n-gram seen in several sources take the highest weight: heavy
  // sources go first.
  std::vector<NgramStretch> stretches = text.stretches;
  std::stable_sort(
      stretches.begin(), stretches.end(),
      [](const NgramStretch& a, const NgramStretch& b) { return a.weight > b.weight; });

  std::vector<std::uint32_t> above_at = text.ids;  // node of level k - 1 that ends at each place
  std::vector<std::uint32_t> here_at;
  const double total = static_cast<double>(text.ids.size()) * (options.order - 1);
  double done = 0.0;
  for (std::uint32_t k = 2; k <= options.order; ++k) {
    NgramLevel& above = levels[k - 2];
    NgramLevel& level = levels[k - 1];
    above.left.assign(above.size(), 0.0f);
    above.left_raw.assign(above.size(), 0.0f);
    here_at.assign(text.ids.size(), kNone);
    NodeIndex index(std::max<std::size_t>(above.size(), 1024));
    const auto key_at = [&](std::size_t i) -> std::uint64_t {
      return static_cast<std::uint64_t>(above_at[i - 1]) << 32 | text.ids[i];
    };
    for (const NgramStretch& stretch : stretches) {
      const auto weight = static_cast<float>(stretch.weight);
      for (std::size_t i = stretch.begin + 1; i < stretch.end; ++i) {
        constexpr std::size_t kAhead = 12;
        if (i + kAhead < stretch.end && above_at[i + kAhead - 1] != kNone) {
          index.prefetch(key_at(i + kAhead));
        }
        const std::uint32_t parent = above_at[i - 1];
        const std::uint32_t suffix = above_at[i];
        if (text.ids[i] == model::kLineStart || parent == kNone || suffix == kNone) {
          continue;
        }
        if (k >= 4 && above.raw[parent] < options.min_context) {
          if (above.raw[parent] == 1.0f) {  // then this is the n-gram's only occurrence: its suffix
                                            // has one more left neighbour
            above.left[suffix] += weight;
            above.left_raw[suffix] += 1.0f;
          }
          continue;
        }
        bool added = false;
        const std::uint32_t node = index.find_or_add(key_at(i), &added);
        if (added) {
          level.word.push_back(text.ids[i]);
          level.parent.push_back(parent);
          level.suffix.push_back(suffix);
          level.count.push_back(0.0f);
          level.raw.push_back(0.0f);
          above.left[suffix] += weight;
          above.left_raw[suffix] += 1.0f;
        }
        level.count[node] += weight;
        level.raw[node] += 1.0f;
        here_at[i] = node;
        if ((i & 0xFFFFF) == 0) {
          progress((done + static_cast<double>(i)) / total);
        }
      }
    }
    sort_level(above.size(), &level, &above, &here_at);
    above_at.swap(here_at);
    done += static_cast<double>(text.ids.size());
  }
  progress(1.0);
  return levels;
}

}  // namespace laya::train
