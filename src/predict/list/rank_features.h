// What the ranker sees of a candidate: numbers from the sources, the text and the typing. The names
// are the format: a ranker's file lists the ones that it was trained on (ranker.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "predict/list/list_entry.h"
#include "predict/source/source.h"
#include "predict/source/typed_text.h"
#include "predict/source/typing_memory.h"

namespace laya::predict {

/// In the order of the numbers. Log-probabilities are natural, at least kLeastLogProb (also where a
/// source says nothing); flags are 0 or 1; all numbers are finite.
inline constexpr std::array<std::string_view, 41> kRankFeatureNames = {
    // the sources
    "score",       // as mixed, noise of a correction included
    "gap",         // score less the best score of the decision
    "place",       // 1 / (1 + place by score)
    "network",     // ln p by the network
    "unigram",     // ln p by the table, whatever stands before
    "ngram",       // ln p by the table
    "deep",        // ln p by the decoder
    "has_deep",    // the decoder had its say
    "order",       // score less what was passed over
    "noise",       // ln p(typed | meant) of a correction
    "case_fit",    // ln of the share of its written forms that begin as typed
    "by_network",  // who proposed it
    "by_ngram",    //
    "by_deep",     //
    "is_lexicon",  //
    "is_emoji",    //
    "is_correction",
    "is_pinyin",  //
    "is_remote",  //
    "is_han",     //
    // the candidate
    "length",        // characters / 10
    "left",          // characters that it adds / 10
    "one_left",      // it adds one character only
    "typed",         // letters typed of the word / 10
    "at_start",      // none typed
    "erases",        // characters that it takes away / 10
    "passed",        // it was offered for this word and not taken
    "recent",        // e^(−words ago / 32) since it last stood in the text
    "recent_count",  // how often it stands in the last words, at most 4, / 4
    "repeats",       // it is the word just before
    "accepted",      // how often it was taken from the list lately, at most 4, / 4
    // the place
    "mass",         // ln of the pool's probability: how likely what is typed is
    "certainty",    // probability of the best, within the pool
    "units",        // min(units in the line, 8) / 8
    "sentence",     // a sentence begins
    "no_capitals",  // its writer uses none
    "text_after",   // text stands right of the caret
    // the typing
    "interval",     // TypingMemory
    "deletions",    //
    "jumps",        //
    "accept_rate",  //
};
inline constexpr std::size_t kRankFeatures = kRankFeatureNames.size();
inline constexpr float kLeastLogProb = -20;

/// What all candidates of a decision share, computed once.
class RankMoment {
 public:
  /// `units` as SearchSources count them; `ngrams` and `memory` may be nullptr. Reads the last
  /// kLookBackBytes of the text.
  void begin(const TypedText& text, const WordQuery& query, std::size_t units, float pool_mass,
             const model::NgramModel* ngrams, const TypingMemory* memory);
  /// Numbers of `ranked` (by score, best first), [n, kRankFeatures], into `out`. `key` of entry i:
  /// what it says, lower case.
  void write(std::span<const Ranked> ranked, std::span<const std::string_view> keys,
             std::span<float> out) const;

 private:
  static constexpr std::size_t kLookBackBytes = 512;
  static constexpr std::size_t kWords = 96;

  void write_one(const Ranked& entry, std::string_view key, std::size_t place, float best,
                 float certainty, std::span<float, kRankFeatures> out) const;

  std::array<std::uint64_t, kWords> words_{};  // of the text: hashes, the last one first
  std::size_t word_count_ = 0;
  std::size_t typed_letters_ = 0;
  std::size_t units_ = 0;
  float log_mass_ = 0;
  bool has_deep_ = false;
  bool sentence_ = false;
  bool no_capitals_ = false;
  bool text_after_ = false;
  const model::NgramModel* ngrams_ = nullptr;
  const TypingMemory* memory_ = nullptr;
};

}  // namespace laya::predict
