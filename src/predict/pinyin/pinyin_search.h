// The likeliest sentences for letters typed so far: a beam over the places between letters.
//
// The hypotheses that end at a place depend on the letters before it only. So a letter adds one
// column of hypotheses, taking it back drops one, and nothing is computed twice. A column is made
// in three steps, each dearer and for fewer: every word that ends here behind every hypothesis that
// ends where the word begins, by the input method's word model (some thousand, 0.2 µs each); the
// likeliest of these by the table (1 µs a character); the likeliest of those by the network, whose
// states are shared by all that begin alike (pinyin_network.h).
//
// English words among the syllables are words like others (pinyin_english.h).
//
// Score: ln p by the word model, ln p by table and network (mixed evenly at each character, so that
// one of the two may be at a loss), weighted, and penalties (PinyinWeights). Each judges the whole
// sentence, so a further judge (the decoder) can be added afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/ngram/ngram.h"
#include "pinyin/paths.h"
#include "predict/pinyin/pinyin_english.h"
#include "predict/pinyin/pinyin_model.h"
#include "predict/pinyin/pinyin_network.h"

namespace laya::predict {

/// Chosen on dev (pinyin_search.cpp tells how); natural logarithms.
struct PinyinWeights {
  float words = 0.44F;       ///< of the input method's word model
  float characters = 0.57F;  ///< of table and network, mixed evenly at each character
  float shortened = -5;      ///< each syllable written by its initial
  float open = -1;           ///< the last syllable, if unfinished or written by its initial
  float literal = -12;       ///< each letter that stays a letter
  float english = 2;         ///< each English word: rarer in text than among what is typed so
};

/// A beginning of a sentence, up to some place between letters.
struct PinyinHypothesis {
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  std::uint32_t previous = kNone;  ///< the hypothesis before its last word
  pinyin::WordIndex word = kNone;  ///< kNone: an English word or the letters themselves
  model::WordId english = model::kUnknownWord;  ///< of the table; kUnknownWord: none
  std::uint16_t begin = 0;                      ///< the letters of its last word
  std::uint16_t end = 0;
  pinyin::LastSyllable last = pinyin::LastSyllable::Whole;
  PinyinNetwork::Node node = PinyinNetwork::kRoot;
  std::uint64_t text_hash = 0;
  std::uint16_t english_words = 0;
  // Natural logarithms of the whole.
  float words = 0;
  float characters = 0;
  float penalty = 0;  ///< < 0: not spelt in full
  float total = 0;    ///< by PinyinWeights
  pinyin::WordState word_state;
  model::NgramContext table_state;
};

/// One thread. Allocates nothing after its first long inputs. `model` must outlive it.
class PinyinSearch {
 public:
  /// Hypotheses kept at a place.
  static constexpr std::size_t kBeam = 20;

  explicit PinyinSearch(const PinyinModel& model, const PinyinWeights& weights = {});

  /// The text before the letters; takes all letters back.
  Status set_context(std::string_view before);
  Status push(char letter);
  void pop();
  std::string_view letters() const { return paths_.letters(); }
  const pinyin::Paths& paths() const { return paths_; }

  /// Readings of all the letters, likeliest first; every text once. Valid until the next call.
  std::span<const PinyinHypothesis> best() const { return best_; }
  /// Appends the text of `hypothesis`.
  void append_text(const PinyinHypothesis& hypothesis, std::string* out) const;
  const PinyinHypothesis& at(std::uint32_t index) const { return hypotheses_[index]; }

  const PinyinWeights& weights() const { return weights_; }
  /// nullptr without a network.
  const PinyinNetwork* network() const { return network_.get(); }

 private:
  struct Edge {
    pinyin::WordIndex word = 0;
    std::uint16_t start = 0;
    pinyin::LastSyllable last = pinyin::LastSyllable::Whole;
    float penalty = 0;
    float bound = 0;  // ln p(word) without context, and the penalty
  };
  struct Draft {
    float total = 0;
    std::uint32_t previous = 0;
    std::uint32_t edge = 0;
    float words = 0;
  };
  std::span<const PinyinHypothesis> column(std::size_t place) const;
  void begin_again();
  void collect_edges(std::span<const pinyin::Path> paths);
  void draft();
  void judge_by_table();
  void add_english();
  void add_begun_english();
  std::span<const TokenId> tokens_read(const PinyinHypothesis& candidate);
  Result<float> log_prob_of_english(PinyinHypothesis* candidate);
  Result<float> log_prob_of_word(PinyinHypothesis* candidate);
  Status judge_by_network();
  void add_letter_itself();
  float total_of(const PinyinHypothesis& hypothesis) const;
  void order_best();

  const PinyinModel* model_;
  PinyinWeights weights_;
  pinyin::Paths paths_;
  std::unique_ptr<PinyinNetwork> network_;
  PinyinEnglish english_;
  std::span<const PinyinEnglish::Word> english_words_;  // that end at the last letter
  PinyinHypothesis start_;
  std::vector<PinyinHypothesis> hypotheses_;  // columns, one behind the other
  std::vector<std::uint32_t> begin_;          // [letters + 2]
  std::vector<Edge> edges_;
  std::vector<Edge> of_start_;
  std::vector<Draft> drafts_;
  std::vector<PinyinHypothesis> candidates_;
  std::vector<PinyinNetwork::Node> wanted_;
  std::vector<TokenId> read_;
  std::vector<PinyinHypothesis> best_;
};

/// The word model's state behind `before`: its last words, cut as is likeliest.
pinyin::WordState word_state_behind(const pinyin::WordModel& words, std::string_view before);

}  // namespace laya::predict
