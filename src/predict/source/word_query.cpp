#include "predict/source/word_query.h"

namespace laya::predict {
namespace {

constexpr float kOtherCase = 0.1F;  // see WordQuery::other_case

}  // namespace

WordQuery word_query(const TypedText& text, PrefixBytes* bytes) {
  WordQuery query;
  query.typed = text.open_word();
  const std::size_t length = text::copy_lower(query.typed, bytes->data(), bytes->size());
  query.prefix = {bytes->data(), length};
  const bool capital =
      !query.typed.empty() && query.typed.front() >= 'A' && query.typed.front() <= 'Z';
  query.other_case = text.writes_without_capitals() && !capital ? 1 : kOtherCase;
  return query;
}

}  // namespace laya::predict
