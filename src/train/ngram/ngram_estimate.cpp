#include "train/ngram/ngram_estimate.h"

#include <algorithm>
#include <cmath>

namespace laya::train {
namespace {

struct Count {
  double c;    ///< effective, weighted
  double raw;  ///< effective, as seen
};

struct IsHan {
  std::uint32_t begin;
  std::uint32_t end;
  bool operator()(std::uint32_t word) const { return word >= begin && word < end; }
};

// An n-gram that begins a line is preceded by nothing: its continuation count is 0 and its plain
// count stands.
Count effective(const NgramLevel& level, std::size_t node, bool last, double continuation) {
  const double count = level.count[node];
  const double raw = level.raw[node];
  if (last || level.left[node] == 0.0f || continuation == 0.0) {
    return {count, raw};
  }
  const double a = continuation;
  return {a * level.left[node] + (1 - a) * count, a * level.left_raw[node] + (1 - a) * raw};
}

double discount(const NgramSmoothing& smoothing, const Count& count) {
  const int bucket = std::clamp(static_cast<int>(std::lround(count.raw)), 1, 3);
  const double d = smoothing.discount[static_cast<std::size_t>(bucket - 1)] *
                   std::pow(count.c / count.raw, smoothing.scale);
  return std::min(d, count.c);
}

void estimate_unigrams(const NgramLevel& level, bool last, const NgramSmoothing& smoothing,
                       std::vector<float>* p) {
  double n = 0.0;
  double freed = 0.0;
  std::vector<Count> counts(level.size());
  for (std::size_t w = 0; w < level.size(); ++w) {
    if (w == model::kLineStart || level.raw[w] == 0.0f) {
      continue;
    }
    counts[w] = effective(level, w, last, smoothing.continuation);
    n += counts[w].c;
    freed += discount(smoothing, counts[w]);
  }
  const double s = smoothing.strength + smoothing.spread * static_cast<double>(level.size());
  const double uniform = (freed + s) / (n + s) / static_cast<double>(level.size() - 1);
  p->assign(level.size(), 0.0f);
  for (std::size_t w = 0; w < level.size(); ++w) {
    if (w != model::kLineStart) {
      const double own = counts[w].raw > 0 ? counts[w].c - discount(smoothing, counts[w]) : 0.0;
      (*p)[w] = static_cast<float>(own / (n + s) + uniform);
    }
  }
}

void estimate_level(const NgramLevel& above, const NgramLevel& level, bool last,
                    const std::vector<float>& lower, const IsHan& is_han,
                    const NgramSmoothing& smoothing_words, const NgramSmoothing& smoothing_han,
                    std::vector<float>* p) {
  p->assign(level.size(), 0.0f);
  std::vector<Count> counts;
  for (std::size_t h = 0; h < above.size(); ++h) {
    const std::size_t begin = above.begin[h];
    const std::size_t end = above.begin[h + 1];
    if (begin == end) {
      continue;
    }
    const NgramSmoothing& smoothing = is_han(above.word[h]) ? smoothing_han : smoothing_words;
    counts.clear();
    double n = 0.0;
    double freed = 0.0;
    double scaled_children = 0.0;
    for (std::size_t node = begin; node < end; ++node) {
      const Count count = effective(level, node, last, smoothing.continuation);
      counts.push_back(count);
      n += count.c;
      freed += discount(smoothing, count);
      scaled_children += std::pow(count.c / count.raw, smoothing.scale);
    }
    const double s = smoothing.strength + smoothing.spread * scaled_children;
    const double rest = (freed + s) / (n + s);
    for (std::size_t node = begin; node < end; ++node) {
      const Count& count = counts[node - begin];
      (*p)[node] = static_cast<float>((count.c - discount(smoothing, count)) / (n + s) +
                                      rest * lower[level.suffix[node]]);
    }
  }
}

/// Marks, for each level, the n-grams that end in an avoided sequence; those that are one are
/// marked 2.
class Avoided {
 public:
  Avoided(const std::vector<NgramLevel>& levels,
          const std::vector<std::vector<std::uint32_t>>& sequences)
      : levels_(levels), marks_(levels.size()) {
    if (sequences.empty()) {
      return;
    }
    for (std::size_t k = 0; k < levels.size(); ++k) {
      marks_[k].assign(levels[k].size(), 0);
    }
    for (const std::vector<std::uint32_t>& sequence : sequences) {
      mark(sequence);
    }
    for (std::size_t k = 1; k < levels.size(); ++k) {
      for (std::size_t node = 0; node < levels[k].size(); ++node) {
        if (marks_[k][node] == 0 && marks_[k - 1][levels[k].suffix[node]] != 0) {
          marks_[k][node] = 1;
        }
      }
    }
  }

  void lower(std::size_t k, std::vector<float>* p) const {
    for (std::size_t node = 0; node < marks_[k].size(); ++node) {
      if (marks_[k][node] != 0) {
        (*p)[node] = std::min((*p)[node], static_cast<float>(kAvoidedProbability));
      }
    }
  }

  /// An avoided n-gram must stay in the table: backing off would give its unit more.
  bool must_stay(std::size_t k, std::size_t node) const {
    return !marks_[k].empty() && marks_[k][node] == 2;
  }

 private:
  void mark(const std::vector<std::uint32_t>& sequence) {
    if (sequence.size() > levels_.size()) {
      return;
    }
    std::size_t node = sequence[0];
    for (std::size_t k = 1; k < sequence.size(); ++k) {
      const auto begin = levels_[k].word.begin() + levels_[k - 1].begin[node];
      const auto end = levels_[k].word.begin() + levels_[k - 1].begin[node + 1];
      const auto found = std::lower_bound(begin, end, sequence[k]);
      if (found == end || *found != sequence[k]) {
        return;  // never seen, so never likely
      }
      node = static_cast<std::size_t>(found - levels_[k].word.begin());
    }
    marks_[sequence.size() - 1][node] = 2;
  }

  const std::vector<NgramLevel>& levels_;
  std::vector<std::vector<std::uint8_t>> marks_;
};

// Stolcke 1998, "Entropy-based pruning of backoff language models", equations 4 to 7.
void prune_level(const NgramLevel& above, const NgramLevel& level, const std::vector<float>& lower,
                 const NgramProbabilities* below, double total, const IsHan& is_han,
                 const Avoided& avoided, const NgramEstimateOptions& options, std::size_t length,
                 NgramProbabilities* out) {
  const double prune_words = options.prune_words * (length >= 4 ? options.prune_long_words : 1.0);
  out->keep.assign(level.size(), 1);
  for (std::size_t h = 0; h < above.size(); ++h) {
    const std::size_t begin = above.begin[h];
    const std::size_t end = above.begin[h + 1];
    if (begin == end) {
      continue;
    }
    double here = 1.0;
    double there = 1.0;
    for (std::size_t node = begin; node < end; ++node) {
      here -= out->p[node];
      there -= lower[level.suffix[node]];
    }
    here = std::max(here, 1e-9);
    there = std::max(there, 1e-9);
    const double ph = above.count[h] / total;
    const double old_backoff = std::log(here / there);
    for (std::size_t node = begin; node < end; ++node) {
      if (avoided.must_stay(length - 1, node)) {
        continue;
      }
      if (below != nullptr) {
        bool needed = false;
        for (std::size_t c = level.begin[node]; c < level.begin[node + 1] && !needed; ++c) {
          needed = below->keep[c] != 0;
        }
        if (needed) {
          continue;
        }
      }
      const double p = out->p[node];
      const double q = lower[level.suffix[node]];
      const double backoff = std::log((here + p) / (there + q));
      const double delta =
          -ph * (p * (std::log(q) + backoff - std::log(p)) + here * (backoff - old_backoff));
      if (delta < (is_han(level.word[node]) ? options.prune_han : prune_words)) {
        out->keep[node] = 0;
      }
    }
  }
}

}  // namespace

std::vector<NgramProbabilities> estimate_ngrams(const std::vector<NgramLevel>& levels,
                                                std::uint32_t han_begin, std::uint32_t word_begin,
                                                const NgramEstimateOptions& options) {
  const std::size_t order = levels.size();
  const IsHan is_han{han_begin, word_begin};
  std::vector<NgramProbabilities> out(order);
  estimate_unigrams(levels[0], order == 1, options.smoothing[0], &out[0].p);
  const Avoided avoided(levels, options.avoid);
  avoided.lower(0, &out[0].p);
  out[0].keep.assign(levels[0].size(), 1);
  for (std::size_t k = 1; k < order; ++k) {
    estimate_level(levels[k - 1], levels[k], k + 1 == order, out[k - 1].p, is_han,
                   options.smoothing[k], options.smoothing_han[k], &out[k].p);
    avoided.lower(k, &out[k].p);
  }
  double total = 0.0;
  for (const float count : levels[0].count) {
    total += count;
  }
  for (std::size_t k = order - 1; k >= 1; --k) {
    prune_level(levels[k - 1], levels[k], out[k - 1].p, k + 1 < order ? &out[k + 1] : nullptr,
                total, is_han, avoided, options, k + 1, &out[k]);
  }
  // Back-off weights of the pruned model, lowest order first: `final_p` is what the table will
  // answer for each n-gram counted.
  std::vector<float> lower = out[0].p;
  for (std::size_t k = 1; k < order; ++k) {
    const NgramLevel& above = levels[k - 1];
    const NgramLevel& level = levels[k];
    std::vector<float> final_p(level.size());
    out[k - 1].backoff.assign(above.size(), 0.0f);
    for (std::size_t h = 0; h < above.size(); ++h) {
      const std::size_t begin = above.begin[h];
      const std::size_t end = above.begin[h + 1];
      double here = 1.0;
      double there = 1.0;
      bool any = false;
      for (std::size_t node = begin; node < end; ++node) {
        if (out[k].keep[node] != 0) {
          here -= out[k].p[node];
          there -= lower[level.suffix[node]];
          any = true;
        }
      }
      const double ratio = any ? std::max(here, 1e-7) / std::max(there, 1e-7) : 1.0;
      out[k - 1].backoff[h] = static_cast<float>(std::log(ratio));
      for (std::size_t node = begin; node < end; ++node) {
        final_p[node] = out[k].keep[node] != 0
                            ? out[k].p[node]
                            : static_cast<float>(ratio) * lower[level.suffix[node]];
      }
    }
    lower.swap(final_p);
  }
  return out;
}

}  // namespace laya::train
