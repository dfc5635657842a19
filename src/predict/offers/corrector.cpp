#include "predict/offers/corrector.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "model/ngram/ngram.h"
#include "predict/offers/correction_search.h"
#include "predict/source/casing.h"
#include "predict/source/table_context.h"
#include "text/script.h"
#include "text/units.h"

namespace laya::predict {
namespace {

constexpr float kContextSlack = 7.0F;  // nats that the context may add to a word's frequency
constexpr float kMaxCost = 32.0F;      // nats; nothing likelier than that: nothing found
constexpr float kPrefixShare = 0.7F;   // ln of the words' mass behind a prefix over its best word

constexpr std::size_t kAcronymLetters = 4;
constexpr float kCommonAcronym = -11.5F;   // ln p; more frequent ones are also written small (pm)
constexpr std::size_t kPossessive = 2;     // letters before 's, at least
constexpr float kPossessiveShare = -5.5F;  // ln of a word's uses with 's over those without
constexpr std::size_t kPronoun = 4;        // letters of the longest of I, I'm, I'd, I've, I'll
constexpr std::size_t kCapitalsWithin = 200;  // bytes to look for a writer's capitals in

constexpr std::size_t kTextBytes = 2 * kLexiconMaxWordBytes + 2;
constexpr std::size_t kMaxEntries = CorrectionSearch::kMaxFound + 40;

float log_add(float a, float b) {
  const float high = std::max(a, b);
  return high == kLogZero ? high : high + std::log1p(std::exp(std::min(a, b) - high));
}

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

bool has_capital(std::string_view before) {
  const std::size_t from = before.size() > kCapitalsWithin ? before.size() - kCapitalsWithin : 0;
  return std::any_of(before.begin() + static_cast<std::ptrdiff_t>(from), before.end(), is_upper);
}

// "WErite": Shift was held for too long, or its key caught another.
bool has_two_capitals(std::string_view typed) {
  return typed.size() > 3 && is_upper(typed[0]) && is_upper(typed[1]) &&
         std::none_of(typed.begin() + 2, typed.end(), is_upper);
}

// Latin letters and apostrophes only, capitals at the front or throughout.
bool looks_like_a_word(std::string_view typed) {
  std::size_t letters = 0;
  bool lower_seen = false;
  bool inner_capital = false;
  for (const base::Decoded& code : base::CodePoints(typed)) {
    const char32_t c = code.code_point;
    const bool upper = c >= 'A' && c <= 'Z';
    const bool lower = c >= 'a' && c <= 'z';
    if (!upper && !lower && c != '\'' && c != 0x2019) {
      return false;  // accents: a word of another language, or a name
    }
    inner_capital = inner_capital || (upper && lower_seen);
    lower_seen = lower_seen || lower;
    letters += upper || lower ? 1 : 0;
  }
  const bool capitals_then_small =
      lower_seen && typed.size() > 2 && is_upper(typed[0]) && is_upper(typed[1]);
  return letters >= Corrector::kMinLetters && letters <= Corrector::kMaxLetters && !inner_capital &&
         (!capitals_then_small || has_two_capitals(typed));
}

// What stands before the word lets it be one: a blank, an opening mark, Chinese; not a digit, @, -,
// _ or a full stop, which make it part of something else.
bool stands_alone(std::string_view before) {
  if (before.empty()) {
    return true;
  }
  const char last = before.back();
  if (last == ' ' || last == '\n' || last == '\t' || last == '"' || last == '(' || last == '[' ||
      last == '\'') {
    return true;
  }
  const base::Decoded code =
      base::decode_utf8(before.substr(base::previous_code_point(before, before.size())));
  return text::is_han(code.code_point) || text::is_cjk_punctuation(code.code_point) ||
         code.code_point == 0x2018 || code.code_point == 0x201C;
}

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || is_upper(c) || c == '\'' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// `word` stands in `text` as a word of its own.
bool holds_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_byte(text[at - 1])) &&
        (end == text.size() || !is_word_byte(text[end]))) {
      return true;
    }
  }
  return false;
}

// The word that ends `before`, where one space follows it; empty without.
std::string_view word_before(std::string_view before) {
  if (before.size() < 2 || before.back() != ' ') {
    return {};
  }
  const std::size_t end = before.size() - 1;
  std::size_t begin = end;
  while (begin > 0 && is_word_byte(before[begin - 1]) && end - begin < Corrector::kMaxLetters) {
    --begin;
  }
  return before.substr(begin, end - begin);
}

struct Entry {
  std::array<char, kTextBytes> bytes;  // as written inside a sentence
  std::size_t length = 0;
  std::size_t erase_more = 0;
  float log_prob = 0;
  float log_noise = 0;

  float score() const { return log_prob + log_noise; }
};

}  // namespace

struct Corrector::Impl {
  Impl(const Lexicon& words, const model::NgramModel* table, const NoiseCosts& noise,
       const CorrectionRules& when)
      : lexicon(&words), ngrams(table), costs(noise), rules(when), search(words, noise) {
    entries.reserve(kMaxEntries);
    if (table != nullptr) {
      log_unknown_unit = table->log_prob(table->none(), model::kUnknownWord);
    }
  }

  // Whether `typed` is a word as it stands. A short acronym in small letters ("tc") is not.
  bool is_right(std::string_view lower, std::string_view typed) const {
    const std::uint32_t word = lexicon->find(lower);
    if (word == Lexicon::kNoWord) {
      return lexicon->is_word(lower);
    }
    return lexicon->form(word) != LexiconForm::Upper || lower.size() > kAcronymLetters ||
           is_upper(typed.front()) || lexicon->log_prob(word) > kCommonAcronym;
  }

  // ln p(a word that the table lacks | context) over what it is anywhere.
  float unknown_here(const model::NgramContext& context) const {
    return ngrams == nullptr ? 0
                             : ngrams->log_prob(context, model::kUnknownWord) - log_unknown_unit;
  }

  float word_log_prob(const model::NgramContext& context, std::string_view key,
                      std::uint32_t word) const {
    if (ngrams != nullptr) {
      const model::WordId id = ngrams->find(key);
      if (id != model::kUnknownWord) {
        return ngrams->log_prob(context, id);
      }
    }
    return lexicon->log_prob(word) + unknown_here(context);
  }

  // ln p(`lower` | context), whether a word or not.
  float text_log_prob(const model::NgramContext& context, std::string_view lower) const {
    const std::uint32_t word = lexicon->find(lower);
    return word != Lexicon::kNoWord
               ? word_log_prob(context, lower, word)
               : lexicon->log_unknown() + lexicon->log_spelling(lower) + unknown_here(context);
  }

  void push(model::NgramContext* context, std::string_view key) const {
    if (ngrams != nullptr) {
      ngrams->push(context, ngrams->find(key));
    }
  }

  Entry* add(float log_prob, float log_noise) {
    if (entries.size() == kMaxEntries) {
      return nullptr;
    }
    entries.emplace_back();
    entries.back().log_prob = log_prob;
    entries.back().log_noise = log_noise;
    return &entries.back();
  }

  static void append(Entry* entry, std::string_view text) {
    const std::size_t length = std::min(text.size(), entry->bytes.size() - entry->length);
    std::copy_n(text.begin(), length,
                entry->bytes.begin() + static_cast<std::ptrdiff_t>(entry->length));
    entry->length += length;
  }
  void append_word(Entry* entry, std::uint32_t word, std::string_view key) const {
    entry->length += lexicon->write_form(word, key, std::span(entry->bytes).subspan(entry->length));
  }

  // In nats, that something else was meant: `log_odds`, less what speaks against the best
  // correction.
  float evidence(float log_odds, const Entry& best, bool capital_typed) const {
    const std::string_view text(best.bytes.data(), best.length);
    const bool spaces = best.erase_more > 0 || text.find(' ') != std::string_view::npos;
    const bool renamed = !capital_typed && is_upper(text.front()) && text.size() > kPronoun;
    return log_odds - (spaces ? rules.spaces : 0) - (renamed ? rules.renamed : 0);
  }

  void add_possessive(const model::NgramContext& context, std::string_view lower);
  void add_splits(const model::NgramContext& context, std::string_view lower);
  void add_joins(std::string_view before, std::string_view lower);
  void write(const Entry& entry, std::string_view typed, bool keep_capital,
             std::array<char, kTextBytes>* out, std::string_view* view) const;

  const Lexicon* lexicon;
  const model::NgramModel* ngrams;
  NoiseCosts costs;
  CorrectionRules rules;
  CorrectionSearch search;
  float log_unknown_unit = 0;
  float as_typed = 1;
  std::vector<Entry> entries;
  std::array<Correction, kMaxCorrections> corrections;
  std::array<std::array<char, kTextBytes>, kMaxCorrections> texts;
};

// "thats", "that'x": that's, which is none of the lexicon's words.
void Corrector::Impl::add_possessive(const model::NgramContext& context, std::string_view lower) {
  const bool apostrophe = lower.size() > 2 && lower[lower.size() - 2] == '\'';
  const auto last = static_cast<std::uint8_t>(lower.back());
  if (apostrophe ? !are_neighbours('s', last) : last != 's') {
    return;
  }
  const std::string_view stem = lower.substr(0, lower.size() - (apostrophe ? 2 : 1));
  const std::uint32_t word = lexicon->find(stem);
  std::array<char, kTextBytes> bytes;
  if (stem.size() < kPossessive || word == Lexicon::kNoWord || lexicon->is_silent(word) ||
      stem.size() + 2 > bytes.size()) {
    return;
  }
  const auto end = std::copy(stem.begin(), stem.end(), bytes.begin());
  std::copy_n("'s", 2, end);
  const model::WordId id =
      ngrams == nullptr ? model::kUnknownWord : ngrams->find({bytes.data(), stem.size() + 2});
  const float log_prob = id != model::kUnknownWord
                             ? ngrams->log_prob(context, id)
                             : word_log_prob(context, stem, word) + kPossessiveShare;
  const float noise = apostrophe ? substitution_cost(costs, 's', last) : costs.omit_apostrophe;
  if (Entry* entry = add(log_prob, -noise)) {
    append_word(entry, word, stem);
    append(entry, "'s");
  }
}

void Corrector::Impl::add_splits(const model::NgramContext& context, std::string_view lower) {
  for (std::size_t at = 1; at < lower.size(); ++at) {
    const std::string_view left = lower.substr(0, at);
    const std::string_view right = lower.substr(at);
    const bool one_letter = (left.size() == 1 && left != "a" && left != "i") ||
                            (right.size() == 1 && right != "i" && right != "a");
    const std::uint32_t first = lexicon->find(left);
    const std::uint32_t second = one_letter ? Lexicon::kNoWord : lexicon->find(right);
    if (first == Lexicon::kNoWord || second == Lexicon::kNoWord || lexicon->is_silent(first) ||
        lexicon->is_silent(second)) {
      continue;
    }
    model::NgramContext between = context;
    const float first_log_prob = word_log_prob(context, left, first);
    push(&between, left);
    Entry* entry = add(first_log_prob + word_log_prob(between, right, second), -costs.split);
    if (entry == nullptr) {
      return;
    }
    append_word(entry, first, left);
    append(entry, " ");
    append_word(entry, second, right);
  }
}

void Corrector::Impl::add_joins(std::string_view before, std::string_view lower) {
  const std::string_view previous = word_before(before);
  std::array<char, kTextBytes> both;
  if (previous.empty() || previous.size() + lower.size() > kLexiconMaxWordBytes) {
    return;
  }
  const std::size_t length = text::copy_lower(previous, both.data(), kLexiconMaxWordBytes);
  const std::string_view left(both.data(), length);
  const model::NgramContext context =
      table_context(ngrams, before.substr(0, before.size() - previous.size() - 1));
  // On the scale of the word alone: what stands before it is given.
  const float given = text_log_prob(context, left);
  std::copy(lower.begin(), lower.end(), both.begin() + static_cast<std::ptrdiff_t>(length));
  const std::string_view joined(both.data(), length + lower.size());
  const auto found = lexicon->find(joined);
  const std::size_t erase = previous.size() + 1;
  if (found != Lexicon::kNoWord && !lexicon->is_silent(found)) {
    if (Entry* entry = add(word_log_prob(context, joined, found) - given, -costs.join)) {
      append_word(entry, found, joined);
      entry->erase_more = erase;
    }
  }
  // "th ecat": the space came one letter early.
  if (lower.size() > 2 && !lexicon->is_word(left)) {
    const std::string_view first = joined.substr(0, length + 1);
    const std::string_view second = joined.substr(length + 1);
    const std::uint32_t a = lexicon->find(first);
    const std::uint32_t b = lexicon->find(second);
    if (a != Lexicon::kNoWord && b != Lexicon::kNoWord && !lexicon->is_silent(a) &&
        !lexicon->is_silent(b)) {
      model::NgramContext between = context;
      const float first_log_prob = word_log_prob(context, first, a);
      push(&between, first);
      if (Entry* entry =
              add(first_log_prob + word_log_prob(between, second, b) - given, -costs.swap)) {
        append_word(entry, a, first);
        append(entry, " ");
        append_word(entry, b, second);
        entry->erase_more = erase;
      }
    }
  }
}

// As typed: all capitals, a capital in front, or as the word is usually written.
void Corrector::Impl::write(const Entry& entry, std::string_view typed, bool keep_capital,
                            std::array<char, kTextBytes>* out, std::string_view* view) const {
  const std::string_view form(entry.bytes.data(), entry.length);
  std::size_t length = 0;
  if (is_all_caps(typed)) {
    std::transform(form.begin(), form.end(), out->begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    length = form.size();
  } else {
    length = write_rest({}, form, keep_capital ? SentenceStart::Yes : SentenceStart::No, *out);
  }
  *view = {out->data(), length};
}

// small and name: by coordinate descent on dev, as the noise costs were (edit_noise.cpp). The
// others where slips and clean words of dev part best; only `spaces` is a guess, as the simulator
// neither splits nor joins words. The correction's own ln p parts them better still, but silences
// many of a public list of misspellings, whose words are rarer: left out.
const CorrectionRules& correction_rules() {
  static constexpr CorrectionRules kRules = {.small = -3.0F,
                                             .name = 2.5F,
                                             .acronym = 9.0F,
                                             .spaces = 7.0F,
                                             .renamed = 7.0F,
                                             .enough = 1.4F};
  return kRules;
}

Corrector::Corrector(const Lexicon& lexicon, const model::NgramModel* ngrams,
                     const NoiseCosts& costs, const CorrectionRules& rules)
    : impl_(std::make_unique<Impl>(lexicon, ngrams, costs, rules)) {}
Corrector::Corrector(Corrector&&) noexcept = default;
Corrector::~Corrector() = default;

float Corrector::probability_as_typed() const { return impl_->as_typed; }

std::span<const Correction> Corrector::correct(std::string_view before, std::string_view typed,
                                               Typing typing, std::optional<float> log_prefix) {
  Impl& my = *impl_;
  my.entries.clear();
  my.as_typed = 1;
  if (!looks_like_a_word(typed) || !stands_alone(before)) {
    return {};
  }
  std::array<char, 4 * kMaxLetters> lower_bytes;
  const std::string_view lower(lower_bytes.data(),
                               text::copy_lower(typed, lower_bytes.data(), lower_bytes.size()));
  const bool right = my.is_right(lower, typed);
  const std::uint32_t itself = right ? my.lexicon->find(lower) : Lexicon::kNoWord;
  if (holds_word(before, typed)) {
    return {};  // the writer uses it
  }
  if (right && (itself == Lexicon::kNoWord || typing == Typing::Open)) {
    return {};
  }
  // "vompany's": the word before the ending is looked at, the ending stays.
  const std::string_view ending =
      lower.ends_with("'s") && lower.size() > kPossessive + 1 ? lower.substr(lower.size() - 2) : "";
  const std::string_view stem = lower.substr(0, lower.size() - ending.size());
  const model::NgramContext context = table_context(my.ngrams, before);
  const bool capital = is_upper(typed.front());
  const bool inside = !before.empty() && !text::at_sentence_start(before);

  // Meant as it stands: a rare word, or one that nobody listed; or, while more may be typed, one
  // that is listed.
  float alone = right ? my.lexicon->log_prob(itself)
                      : my.lexicon->log_unknown() + my.lexicon->log_spelling(stem);
  alone += is_all_caps(typed) ? my.rules.acronym : (capital && inside ? my.rules.name : 0);
  alone += !capital && !right && (before.empty() || has_capital(before)) ? my.rules.small : 0;
  float as_is =
      alone + (right ? my.word_log_prob(context, lower, itself) - my.lexicon->log_prob(itself)
                     : my.unknown_here(context));
  if (typing == Typing::Open) {
    const Lexicon::Node node = my.lexicon->walk(Lexicon::kRoot, lower);
    const float listed = log_prefix                 ? *log_prefix
                         : node != Lexicon::kNoNode ? my.lexicon->best(node) + kPrefixShare
                                                    : kLogZero;
    alone = log_add(alone, listed);
    as_is = log_add(as_is, listed);
  }
  const float limit = std::min(kMaxCost, kContextSlack - alone);

  for (const FoundWord& found : my.search.find(stem, typing, limit)) {
    if (Entry* entry =
            my.add(my.word_log_prob(context, found.key(), found.word), found.log_noise)) {
      my.append_word(entry, found.word, found.key());
      Impl::append(entry, ending);
    }
  }
  if (typing == Typing::Finished && ending.empty() && !right) {
    my.add_possessive(context, lower);
    my.add_splits(context, lower);
    my.add_joins(before, lower);
  }

  float all = kLogZero;
  for (const Entry& entry : my.entries) {
    all = log_add(all, entry.score());
  }
  const float total = log_add(all, as_is);
  const std::size_t count = std::min(my.entries.size(), kMaxCorrections);
  std::partial_sort(my.entries.begin(), my.entries.begin() + static_cast<std::ptrdiff_t>(count),
                    my.entries.end(), [](const Entry& a, const Entry& b) {
                      if (a.score() != b.score()) {
                        return a.score() > b.score();
                      }
                      return std::string_view(a.bytes.data(), a.length) <
                             std::string_view(b.bytes.data(), b.length);
                    });
  if (count == 0 || my.evidence(all - as_is, my.entries.front(), capital) < my.rules.enough) {
    my.as_typed = right ? 1 : std::exp(as_is - total);
    return {};
  }
  my.as_typed = std::exp(as_is - total);
  for (std::size_t i = 0; i < count; ++i) {
    const Entry& entry = my.entries[i];
    Correction& correction = my.corrections[i];
    my.write(entry, typed, capital, &my.texts[i], &correction.text);
    correction.erase_more = entry.erase_more;
    correction.log_prob = std::min(entry.log_prob, 0.0F);
    correction.log_noise = entry.log_noise;
    correction.probability = std::exp(entry.score() - total);
  }
  return std::span(my.corrections).first(count);
}

}  // namespace laya::predict
