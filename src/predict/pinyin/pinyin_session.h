// PinyinSession: pinyin letters in, sentences out, at every key.
//
// What an input method's engine calls. It decides nothing about windows or keys: it is told the
// text before the caret, letters typed and taken back, and which candidate was chosen. Letters
// typed are never changed; the raw letters are always among the candidates. A field that is not
// plain text gives its bytes to nobody: they are neither kept nor looked at.
//
//   PinyinModel model(*engine, *pinyin::load_libime({}));     // once
//   PinyinSession session(model);                             // one per text field
//   session.set_context("我想用");
//   session.type("zhifubao");
//   session.candidates()[0].text                              // 支付宝
//   session.commit(0);                                        // the context grows by it
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel_flag.h"
#include "base/result.h"
#include "field/field_text.h"
#include "field/pinyin_reply.h"
#include "predict/deep/sentence_scorer.h"
#include "predict/pinyin/pinyin_search.h"

namespace laya::predict {

using field::FieldKind;
using field::pinyin_kind_name;
using field::PinyinCandidate;
using field::PinyinKind;
using field::PinyinRefusal;
using field::PinyinReply;

struct PinyinOptions {
  std::size_t sentences = 10;  ///< most of them in the list
  std::size_t words = 50;      ///< most words for the first letters
  PinyinWeights weights = {};
  /// Of ln p by the decoder, added to the instant score in reorder(); chosen on dev.
  float deep = 0.6F;
  /// Readings that reorder() looks at.
  std::size_t reordered = 16;
};

/// One thread at a time; `model` must outlive it.
class PinyinSession {
 public:
  explicit PinyinSession(const PinyinModel& model, const PinyinOptions& options = {});

  /// The text left of the caret (any bytes; its end counts), and what the field is for. Takes all
  /// letters back; a blocked field's text is not looked at, and all that was kept is forgotten.
  /// Cancelled: the context is read again at the next letter.
  Status set_context(std::string_view before, FieldKind kind = FieldKind::Text,
                     const base::CancelFlag* cancel = nullptr);
  /// Letters typed. a-z spell; an apostrophe or a space ends a syllable; everything else stays as
  /// it is. In a blocked field nothing happens. TooLarge beyond PinyinSearch::kMaxLetters;
  /// Cancelled. On an error what fits was taken: letters().
  Status type(std::string_view letters, const base::CancelFlag* cancel = nullptr);
  /// Takes the last letter back.
  void erase();
  /// Makes `letters` what is typed: takes back what differs, types the rest. Errors: type()'s.
  Status set_letters(std::string_view letters, const base::CancelFlag* cancel = nullptr);
  std::string_view letters() const { return search_.letters(); }

  /// Sentences, likeliest first, then words for the first letters (longest first), then the letters
  /// themselves. Every text once. Valid until the next call that is not const.
  std::span<const PinyinCandidate> candidates();

  /// letters(), candidates() and what became of the last letters typed, as front ends and the wire
  /// speak of it. Valid until the next call that is not const.
  PinyinReply reply();

  /// Puts the sentences in the order of both tiers. Needs Engine::deep(): BadArgument without;
  /// Cancelled. Passes over the decoder's weights: some 10 ms each. The next letter begins again
  /// with the instant order.
  Status reorder(const base::CancelFlag* cancel = nullptr);

  /// Candidate `index` was chosen: returns its text, adds it to the context, and keeps the letters
  /// that it does not stand for. BadArgument where there is none.
  Result<std::string> commit(std::size_t index);

  const PinyinSearch& search() const { return search_; }

  /// Bytes of text and letters that were looked at since the session was made. Stays 0 in a blocked
  /// field: tested.
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct Place {
    std::size_t begin;
    std::size_t length;
  };
  void add(PinyinKind kind, std::size_t consumed, float score, std::size_t begin);
  enum class Blocked : std::uint8_t { No, Yes };
  bool blocks(std::size_t begin) const;
  void add_sentences(Blocked which);
  void add_words();

  void forget();
  void changed();
  Status take(std::string_view letters, const base::CancelFlag* cancel);

  const PinyinModel* model_;
  PinyinOptions options_;
  PinyinSearch search_;
  std::unique_ptr<SentenceScorer> scorer_;
  std::string before_;
  std::string typed_rest_;
  std::string texts_;  // of the candidates
  std::vector<Place> places_;
  std::vector<PinyinCandidate> candidates_;
  std::vector<float> deep_scores_;  // of best(), where reorder() ran
  std::uint64_t bytes_read_ = 0;
  FieldKind kind_ = FieldKind::Text;
  PinyinRefusal refusal_ = PinyinRefusal::None;
  bool listed_ = false;
  bool context_read_ = false;  // search_ stands behind before_
};

}  // namespace laya::predict
