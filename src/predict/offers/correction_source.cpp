#include "predict/offers/correction_source.h"

#include <cmath>

namespace laya::predict {
namespace {

// A word that was finished by a space is looked at once more, with more certainty asked for.
constexpr float kClosedCertainty = 0.8F;

bool is_word_end(std::string_view before) {
  return before.size() >= 2 && before.back() == ' ' &&
         ((before[before.size() - 2] >= 'a' && before[before.size() - 2] <= 'z') ||
          (before[before.size() - 2] >= 'A' && before[before.size() - 2] <= 'Z'));
}

}  // namespace

CorrectionSource::CorrectionSource(std::shared_ptr<const Lexicon> lexicon,
                                   const model::NgramModel* ngrams)
    : lexicon_(std::move(lexicon)), corrector_(*lexicon_, ngrams) {}

void CorrectionSource::offer(const TypedText& text, const WordQuery&, const WordPool& pool,
                             OfferList* out) {
  const std::string_view before = text.before();
  std::string_view typed = text.open_word();
  Typing typing = Typing::Open;
  std::size_t spaces = 0;
  std::optional<float> log_prefix;
  if (typed.empty()) {
    if (!is_word_end(before)) {
      return;
    }
    spaces = 1;
    typing = Typing::Finished;
    const std::string_view closed = before.substr(0, before.size() - 1);
    std::size_t begin = closed.size();
    while (begin > 0 && closed.size() - begin <= Corrector::kMaxLetters &&
           (static_cast<unsigned char>(closed[begin - 1]) >= 0x80 || closed[begin - 1] == '\'' ||
            (closed[begin - 1] >= 'a' && closed[begin - 1] <= 'z') ||
            (closed[begin - 1] >= 'A' && closed[begin - 1] <= 'Z'))) {
      --begin;
    }
    typed = closed.substr(begin);
  } else {
    // The pool holds the words that begin as typed; their mass is what a correction has to beat.
    float mass = 0;
    for (const PoolWord& word : pool.words()) {
      mass += std::exp(word.score);
    }
    log_prefix = std::log(mass);
  }
  const std::string_view context = before.substr(0, before.size() - spaces - typed.size());
  for (const Correction& correction : corrector_.correct(context, typed, typing, log_prefix)) {
    if (spaces > 0 && corrector_.probability_as_typed() > 1 - kClosedCertainty) {
      return;
    }
    Offer offer;
    offer.text = correction.text;
    offer.erase_bytes = static_cast<std::uint16_t>(typed.size() + spaces + correction.erase_more);
    offer.log_prob = correction.log_prob;
    offer.log_noise = correction.log_noise;
    offer.origin = Origin::Correction;
    out->add(offer);
  }
}

}  // namespace laya::predict
