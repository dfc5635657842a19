#include "predict/source/table_context.h"

#include "predict/source/table_unit.h"
#include "text/units.h"

namespace laya::predict {
namespace {

constexpr std::size_t kLookBack = 160;  // bytes: more than five units of any text that matters

}  // namespace

model::NgramContext table_context(const model::NgramModel* ngrams, std::string_view before) {
  if (ngrams == nullptr) {
    return {};
  }
  const std::size_t newline = before.rfind('\n');
  std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const bool whole_line = before.size() - begin <= kLookBack;
  if (!whole_line) {
    begin = before.size() - kLookBack;
    const std::size_t space = before.find(' ', begin);
    if (space != std::string_view::npos) {
      begin = space;
    }
    while (begin < before.size() && (static_cast<unsigned char>(before[begin]) & 0xC0) == 0x80) {
      ++begin;
    }
  }
  model::NgramContext context = whole_line ? ngrams->start() : ngrams->none();
  text::Unit unit;
  for (std::size_t offset = begin; text::next_unit(before, offset, &unit); offset = unit.end) {
    ngrams->push(&context,
                 table_unit(*ngrams, before.substr(unit.begin, unit.end - unit.begin), unit.kind));
  }
  return context;
}

}  // namespace laya::predict
