// Source: whatever proposes words and says how likely they are. Network and n-gram table today;
// later a decoder, a lexicon, the user's own words, corrections. All write into one pool; ranking
// looks at the pool only (ranker.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "model/ngram/ngram.h"
#include "predict/source/field_names.h"
#include "predict/source/mixing.h"
#include "predict/source/piece_index.h"
#include "predict/source/typed_text.h"

namespace laya::predict {

inline constexpr float kImpossible = -std::numeric_limits<float>::infinity();

/// One word that might be meant.
struct PoolWord {
  std::string_view key;  ///< lower case; lives as long as the engine
  model::WordId word = model::kUnknownWord;
  std::uint32_t group = kNoGroup;
  float log_p_network = kImpossible;  ///< ln p(word | context), all case variants summed
  float log_p_ngram = kImpossible;
  float log_p_deep = kImpossible;
  float log_case_fit =
      0;  ///< ln of the share of its written forms that begin as typed ("M": my, Monday)
  float score = kImpossible;  ///< mixed
  bool from_network = false;  ///< who proposed it
  bool from_ngram = false;
  bool from_deep = false;
};

/// The candidates of one decision. Fixed capacity, no duplicates, no allocation after construction.
class WordPool {
 public:
  static constexpr std::size_t kCapacity = 128;

  WordPool() { words_.reserve(kCapacity); }
  void clear() { words_.clear(); }
  /// The pool's entry for this word, new or old; nullptr when the pool is full. `word` or `group`
  /// identify it; where it has neither, its key.
  PoolWord* add(std::string_view key, model::WordId word, std::uint32_t group);
  std::span<PoolWord> words() { return words_; }
  std::span<const PoolWord> words() const { return words_; }

 private:
  std::vector<PoolWord> words_;
};

struct WordQuery {
  std::string_view prefix;  ///< lower-case key of what is typed of the word; may be empty
  float other_case = 0.1F;  ///< what a written form counts whose case is not the typed one
  std::string_view typed;   ///< the same as typed, with its case
  float rival = 0;  ///< probability of the least of the list's entries that are no words (Chinese)
  std::size_t wanted = 5;  ///< list length
  MixingKind kind = MixingKind::Linear;
  float network_share = 0;  ///< λ for this context and prefix
  float deep_share = 0;     ///< δ: of the decoder, before λ divides the rest
};

class Source {
 public:
  virtual ~Source() = default;

  /// The text changed by `delta`. Cheap: computing waits until something is asked.
  virtual void follow(const TypedText& text, const TypedText::Delta& delta) = 0;
  /// Forgets everything.
  virtual void clear() = 0;
  /// Adds its likeliest words that begin with query.prefix.
  virtual void propose(const TypedText& text, const WordQuery& query, WordPool* pool) = 0;
  /// Fills in its log probability of every word in the pool. Sources are asked in order; a later
  /// one may use the earlier ones' numbers to decide where to spend its time.
  virtual void score(const TypedText& text, const WordQuery& query, WordPool* pool) = 0;
};

}  // namespace laya::predict
