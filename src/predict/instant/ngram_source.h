// The n-gram table as a source: word and character counts of the training text, and the session's
// own recent words.
#pragma once

#include <cstddef>

#include "model/ngram/ngram.h"
#include "predict/source/source.h"
#include "text/units.h"

namespace laya::predict {

class NgramSource : public Source {
 public:
  /// Both must outlive the source.
  NgramSource(const model::NgramModel& ngrams, const PieceIndex& index);

  void follow(const TypedText& text, const TypedText::Delta& delta) override;
  void clear() override;
  void propose(const TypedText& text, const WordQuery& query, WordPool* pool) override;
  void score(const TypedText& text, const WordQuery& query, WordPool* pool) override;

  /// The context before the open word; units of it in this line (for Mixing::context_bucket).
  const model::NgramContext& context(const TypedText& text);
  std::size_t units_in_line(const TypedText& text);
  const model::NgramModel& model() const { return *ngrams_; }
  const model::RecentWords& recent() const { return recent_; }
  const model::RecentMix& recent_mix() const { return recent_mix_; }

  /// The table's id of a unit as it stands in text.
  model::WordId id_of(std::string_view unit_text, text::UnitKind kind) const;

 private:
  void refresh(const TypedText& text);

  const model::NgramModel* ngrams_;
  const PieceIndex* index_;
  model::NgramContext context_;
  model::RecentWords recent_;
  model::RecentMix recent_mix_;
  std::size_t units_in_line_ = 0;
  std::size_t recorded_bytes_ = 0;  // of the text, whose units recent_ holds
  bool stale_ = true;
};

}  // namespace laya::predict
