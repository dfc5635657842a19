#include "predict/source/table_unit.h"

#include <array>

namespace laya::predict {

model::WordId table_unit(const model::NgramModel& ngrams, std::string_view unit,
                         text::UnitKind kind) {
  switch (kind) {
    case text::UnitKind::LineEnd:
      return model::kLineEnd;
    case text::UnitKind::Email:
      return model::kEmail;
    case text::UnitKind::Url:
      return model::kUrl;
    case text::UnitKind::Number: {
      const model::WordId own =
          unit.size() <= model::kMaxNumberBytes ? ngrams.find(unit) : model::kUnknownWord;
      return own == model::kUnknownWord ? model::kNumber : own;
    }
    case text::UnitKind::Word: {
      std::array<char, 2 * text::kMaxUnitBytes> lower;
      return ngrams.find({lower.data(), text::copy_lower(unit, lower.data(), lower.size())});
    }
    case text::UnitKind::Han:
    case text::UnitKind::Symbol:
      return ngrams.find(unit);
  }
  return model::kUnknownWord;
}

}  // namespace laya::predict
