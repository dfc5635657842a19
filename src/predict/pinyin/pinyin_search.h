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
//
// Bounded by numbers, whatever is typed: kMaxLetters letters, kBeam hypotheses a place, kByNetwork
// words a letter for the network, PinyinNetwork::kMaxNodes texts in its tree. When the tree is full,
// what no hypothesis needs is given back; nothing is computed again for that.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel_flag.h"
#include "base/result.h"
#include "model/ngram/ngram.h"
#include "pinyin/paths.h"
#include "predict/pinyin/pinyin_english.h"
#include "predict/pinyin/pinyin_hypothesis.h"
#include "predict/pinyin/pinyin_model.h"
#include "predict/pinyin/pinyin_network.h"

namespace laya::predict {

/// One thread. Allocates nothing after its first long inputs. `model` must outlive it.
class PinyinSearch {
 public:
  static constexpr std::size_t kBeam = 20;           ///< hypotheses kept at a place
  static constexpr std::size_t kWordsOfStart = 128;  ///< looked at, of those of one place's paths
  static constexpr std::size_t kByTable = 192;       ///< of them, judged by the table
  static constexpr std::size_t kByNetwork = 80;      ///< of those, by the network

  /// Longest input. Somebody who writes without ever choosing commits after a sentence or two, some
  /// 200 letters at most; each letter costs memory and is looked at again at each choice.
  static constexpr std::size_t kMaxLetters = pinyin::Paths::kMaxLetters;

  explicit PinyinSearch(const PinyinModel& model, const PinyinWeights& weights = {});

  /// The text before the letters; takes all letters back. Cancelled: no letters, and no context.
  Status set_context(std::string_view before, const base::CancelFlag* cancel = nullptr);
  /// One letter more. TooLarge: kMaxLetters are there, or their readings fill the network's tree;
  /// Cancelled. On an error the letter is not taken and all is as before. A few ms at most, for the
  /// worst letters (`ssss`) some 30.
  Status push(char letter, const base::CancelFlag* cancel = nullptr);
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
  Status draft(const base::CancelFlag* cancel);
  void judge_by_table();
  void add_english();
  void add_begun_english();
  std::span<const TokenId> tokens_read(const PinyinHypothesis& candidate);
  Result<float> log_prob_of_english(PinyinHypothesis* candidate);
  Result<float> log_prob_of_word(PinyinHypothesis* candidate);
  bool is_wanted(PinyinNetwork::Node node) const;
  void want(PinyinNetwork::Node node);
  Status judge_by_network(const base::CancelFlag* cancel);
  Status make_room();
  Status find_candidates(char letter, const base::CancelFlag* cancel);
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
  std::vector<PinyinNetwork::Node> wanted_;  // states that this letter asks about
  std::size_t missing_ = 0;                  // of them, not there yet
  std::vector<PinyinNetwork::Node> kept_;    // of hypotheses_, while the tree makes room
  std::vector<TokenId> read_;
  std::vector<PinyinHypothesis> best_;
};

}  // namespace laya::predict
