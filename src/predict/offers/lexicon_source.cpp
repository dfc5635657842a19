#include "predict/offers/lexicon_source.h"

#include <algorithm>

#include "predict/source/casing.h"
#include "predict/source/table_context.h"

namespace laya::predict {
namespace {

constexpr std::size_t kMinPrefix = 2;  // letters; before that the pool knows enough

bool is_ascii_word(std::string_view lower) {
  return std::all_of(lower.begin(), lower.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '\''; });
}

}  // namespace

LexiconSource::LexiconSource(std::shared_ptr<const Lexicon> lexicon,
                             const model::NgramModel* ngrams)
    : lexicon_(std::move(lexicon)), ngrams_(ngrams) {}

void LexiconSource::offer(const TypedText& text, const WordQuery& query, const WordPool& pool,
                          OfferList* out) {
  if (query.prefix.size() < kMinPrefix || !is_ascii_word(query.prefix)) {
    return;
  }
  std::array<Completion, 2 * kOffered> best;
  const std::size_t count = lexicon_->complete(query.prefix, best);
  float unknown_here = 0;
  if (count > 0 && ngrams_ != nullptr) {
    const std::string_view before = text.before();
    const model::NgramContext context =
        table_context(ngrams_, before.substr(0, before.size() - query.typed.size()));
    unknown_here = ngrams_->log_prob(context, model::kUnknownWord) -
                   ngrams_->log_prob(ngrams_->none(), model::kUnknownWord);
  }
  std::size_t offered = 0;
  for (std::size_t i = 0; i < count && offered < kOffered; ++i) {
    const Completion& word = best[i];
    const bool pooled = std::any_of(pool.words().begin(), pool.words().end(),
                                    [&](const PoolWord& have) { return have.key == word.key(); }) ||
                        (ngrams_ != nullptr && ngrams_->find(word.key()) != model::kUnknownWord);
    if (pooled) {
      continue;  // weighed already, by those who know more of it
    }
    std::array<char, kLexiconMaxWordBytes> form;
    const std::size_t form_length = lexicon_->write_form(word.word, word.key(), form);
    std::array<char, kTextBytes>& bytes = texts_[offered];
    if (form_length == 0 || query.typed.size() + form_length > bytes.size()) {
      continue;
    }
    std::copy(query.typed.begin(), query.typed.end(), bytes.begin());
    const std::size_t length =
        query.typed.size() + write_rest(query.typed, {form.data(), form_length}, SentenceStart::No,
                                        std::span(bytes).subspan(query.typed.size()));
    Offer offer;
    offer.text = {bytes.data(), length};
    offer.log_prob = std::min(0.0F, word.log_prob + unknown_here);
    offer.origin = Origin::Lexicon;
    out->add(offer);
    ++offered;
  }
}

}  // namespace laya::predict
