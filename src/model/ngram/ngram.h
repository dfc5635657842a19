// The n-gram table at run time: one mmapped, immutable table for Chinese and English, shared by all
// sessions and threads.
//
// Units (src/text/units.h) are lower-case words, single Han characters, symbols and classes (<num>,
// <email>, <url>); a line begins with kLineStart and ends with kLineEnd. The builder
// (ngram_builder.h) writes interpolated, smoothed, pruned and quantised probabilities in
// back-off form (Katz 1987; Chen & Goodman 1999, section 2.8):
//   p(w | c) = stored(c w) if stored, else backoff(c) * p(w | c without its first unit)
// Callers: predict's n-gram source, the builder's own evaluation. Nothing here allocates after
// open(), except where said.
//
//   NgramContext context = ngrams.start();                        // at a line's start
//   for (each closed unit) ngrams.push(&context, ngrams.find(lower));
//   std::array<Scored, 5> best;
//   size_t n = ngrams.top_words(context, "he", best);             // he, her, help, …
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"

namespace laya::format {
class ModelFile;
}

namespace laya::model {

/// Finds a blob by name; an empty span where there is none. Blobs start on 4-byte boundaries at
/// least.
using NgramBlobs = std::function<std::span<const std::byte>(std::string_view name)>;

/// Index of a unit in the table's lexicon.
using WordId = std::uint32_t;

// The same in every table, whatever its lexicon.
inline constexpr WordId kUnknownWord = 0;  ///< any unit outside the lexicon
inline constexpr WordId kLineStart = 1;    ///< context only, never predicted
inline constexpr WordId kLineEnd = 2;
inline constexpr WordId kNumber = 3;  ///< a number that has no id of its own
inline constexpr WordId kEmail = 4;
inline constexpr WordId kUrl = 5;
inline constexpr WordId kFirstLexiconWord = 6;
/// Shorter numbers that are frequent ("11", "2004") have ids of their own: find() them, and take
/// kNumber if absent.
inline constexpr std::size_t kMaxNumberBytes = 4;

struct Scored {
  WordId word;
  float log_prob;  ///< natural logarithm of p(word | context), over all units of both languages
};

/// What the table knows of the text left of the caret: a small value, copied to fork. Only
/// meaningful to the table that made it.
struct NgramContext {
  static constexpr std::size_t kMaxUnits = 5;  ///< tables of order ≤ 6
  std::array<std::uint32_t, kMaxUnits>
      nodes{};               ///< nodes[k]: the table's node of the last k+1 units
  std::uint8_t depth = 0;    ///< how many of them exist
  WordId last = kLineStart;  ///< the unit pushed last
};

/// The units that this session has seen lately, so that what was said once is offered sooner the
/// second time. A fixed ring, no allocation; one per session, not shared by threads. Forgetting is
/// `clear()`.
class RecentWords {
 public:
  static constexpr std::size_t kCapacity = 512;

  /// Records `word`, said after `previous`. Ids below kFirstLexiconWord are ignored.
  void push(WordId previous, WordId word);
  void clear() { size_ = next_ = 0; }
  std::size_t size() const { return size_; }

  struct Entry {
    WordId previous;
    WordId word;
  };
  /// The entry pushed `age` pushes ago; age < size().
  const Entry& at(std::size_t age) const {
    return ring_[(next_ + kCapacity - 1 - age) % kCapacity];
  }

 private:
  std::array<Entry, kCapacity> ring_{};
  std::size_t size_ = 0;
  std::size_t next_ = 0;
};

/// How RecentWords is mixed in: p = (1 - weight - pair_weight) p_table + weight p_recent +
/// pair_weight p_recent_after_last. Defaults chosen on dev (models/instant/ngram.toml). A component
/// that has nothing to say gives its share back to the table.
struct RecentMix {
  float weight = 0.1f;
  float pair_weight = 0.1f;
  float decay = 0.995f;  ///< of a unit's share per unit pushed since
  std::size_t skip =
      2;  ///< so many of the latest units count nothing: nobody says a word twice in a row
};

class NgramModel {
 public:
  /// Views the blobs named "ngram.*" of `file`, which must outlive the model. Header and blob sizes
  /// are checked here (Corrupt names the blob; Version: another layout); offsets inside the lists
  /// are clamped at each use, so that opening touches few pages and a hostile table gives wrong
  /// words, never a crash.
  static Result<NgramModel> open(const format::ModelFile& file);
  /// The same from blobs in memory (ngram_layout.h names them), which must outlive the model: the
  /// builder's evaluation, tests, fuzzing.
  static Result<NgramModel> from_blobs(const NgramBlobs& blobs, std::string_view name_for_errors);

  NgramModel(NgramModel&&) noexcept;
  NgramModel& operator=(NgramModel&&) noexcept;
  ~NgramModel();

  // --- lexicon ---
  std::size_t size() const;  ///< number of units; ids are [0, size())
  int order() const;         ///< longest n-gram stored, 1…6
  /// The id of a unit given as text::append_lower writes it ("don't", "我", ","); kUnknownWord if
  /// absent. Class units have ids of their own (kNumber, …): the caller maps a Unit's kind. O(log
  /// size).
  WordId find(std::string_view lower) const;
  /// The unit's key ("london"); empty for the six fixed ids. The view lives as long as the file.
  std::string_view text(WordId word) const;
  /// The unit as it is usually written inside a sentence ("London", "iPhone", "I'm", "the").
  std::string_view display(WordId word) const;
  bool is_word(WordId word) const;  ///< Latin letters
  bool is_han(WordId word) const;

  // --- context ---
  NgramContext start() const;  ///< after kLineStart
  NgramContext none() const;   ///< nothing known on the left (mid-document paste): unigrams only
  void push(NgramContext* context, WordId word) const;

  // --- probabilities ---
  /// ln p(word | context); about 1 µs. Unknown ids give the unknown unit's.
  float log_prob(const NgramContext& context, WordId word) const;

  // Each writes the likeliest units, best first (ties: smaller id), exactly as log_prob ranks them,
  // and returns how many. out.size() ≤ kMaxTop is honoured. kUnknownWord and kLineStart are never
  // among them.
  static constexpr std::size_t kMaxTop = 64;
  /// Words whose key begins with `prefix` (lower-case, may be empty = any word). The key equal to
  /// `prefix` itself is included.
  std::size_t top_words(const NgramContext& context, std::string_view prefix,
                        std::span<Scored> out) const;
  /// Han characters.
  std::size_t top_han(const NgramContext& context, std::span<Scored> out) const;
  /// Han characters and symbols (punctuation, numbers), but no words: what follows where Chinese is
  /// being typed.
  std::size_t top_characters(const NgramContext& context, std::span<Scored> out) const;
  /// Units of every kind, kLineEnd and symbols too.
  std::size_t top_any(const NgramContext& context, std::span<Scored> out) const;

  // The same with the session's recent units mixed in.
  float log_prob(const NgramContext& context, WordId word, const RecentWords& recent,
                 const RecentMix& mix) const;
  std::size_t top_words(const NgramContext& context, std::string_view prefix,
                        const RecentWords& recent, const RecentMix& mix,
                        std::span<Scored> out) const;
  std::size_t top_han(const NgramContext& context, const RecentWords& recent, const RecentMix& mix,
                      std::span<Scored> out) const;
  std::size_t top_characters(const NgramContext& context, const RecentWords& recent,
                             const RecentMix& mix, std::span<Scored> out) const;
  std::size_t top_any(const NgramContext& context, const RecentWords& recent, const RecentMix& mix,
                      std::span<Scored> out) const;

  std::size_t size_bytes() const;  ///< bytes of the table's blobs

 private:
  struct Table;
  explicit NgramModel(std::unique_ptr<Table> table);
  std::unique_ptr<Table> table_;
};

}  // namespace laya::model
