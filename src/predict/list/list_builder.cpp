#include "predict/list/list_builder.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "predict/deep/deep_source.h"
#include "predict/instant/ngram_source.h"
#include "predict/list/ghost_rules.h"
#include "predict/source/passed_over.h"
#include "predict/source/piece_index.h"

namespace laya::predict {
namespace {

constexpr std::size_t kHanShown = 8;  // characters looked into for words
constexpr std::size_t kPassedOverKept = 2;
constexpr float kCorrectionLead = 2.3F;  // ln 10: how much likelier a first correction must be

Origin origin_of(bool network, bool ngram, bool deep) {
  if (int{network} + int{ngram} + int{deep} > 1) {
    return Origin::Both;
  }
  return deep ? Origin::Deep : (network ? Origin::Network : Origin::Ngram);
}

// A correction stands first only where it is far likelier than all that goes on from what is typed,
// or where nothing does: whoever writes rightly loses no first place to it (complaint 15).
void demote_correction(std::span<Ranked> list) {
  const auto corrects = [](const Ranked& entry) {
    return entry.offer != nullptr && entry.offer->origin == Origin::Correction;
  };
  if (!corrects(list.front())) {
    return;
  }
  const auto other = std::find_if_not(list.begin(), list.end(), corrects);
  if (other != list.end() && other->order > list.front().order - kCorrectionLead) {
    std::rotate(list.begin(), other, other + 1);
  }
}

// What of what `a` adds behind `typed` bytes is the same in `b`, as a share of the longer one.
float likeness(const Ranked& a, const Ranked& b, std::size_t typed) {
  if (a.word == nullptr || b.word == nullptr) {
    return 0;
  }
  const std::string_view rest_a = a.word->key.substr(std::min(typed, a.word->key.size()));
  const std::string_view rest_b = b.word->key.substr(std::min(typed, b.word->key.size()));
  const std::size_t same = static_cast<std::size_t>(
      std::mismatch(rest_a.begin(), rest_a.end(), rest_b.begin(), rest_b.end()).first -
      rest_a.begin());
  const std::size_t longer = std::max({rest_a.size(), rest_b.size(), std::size_t{1}});
  return static_cast<float>(same) / static_cast<float>(longer);
}

// Maximal marginal relevance (Carbonell and Goldstein 1998): the next entry is the one of the
// greatest ln p / temperature less diversity x its likeness to the likest above it.
void diversify(const ListTaste& taste, std::size_t typed, std::size_t size,
               std::span<Ranked> ranked) {
  for (std::size_t place = 1; place < size; ++place) {
    std::size_t best = place;
    float best_value = kImpossible;
    for (std::size_t i = place; i < ranked.size(); ++i) {
      float like = 0;
      for (std::size_t above = 0; above < place; ++above) {
        like = std::max(like, likeness(ranked[i], ranked[above], typed));
      }
      const float value = ranked[i].order / taste.temperature - taste.diversity * like;
      if (value > best_value) {
        best = i;
        best_value = value;
      }
    }
    std::rotate(ranked.begin() + static_cast<std::ptrdiff_t>(place),
                ranked.begin() + static_cast<std::ptrdiff_t>(best),
                ranked.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

}  // namespace

std::string_view ListBuilder::display(const PoolWord& word) const {
  if (parts_.ngrams != nullptr && word.word != model::kUnknownWord) {
    const std::string_view written = parts_.ngrams->display(word.word);
    if (!written.empty()) {
      return written;
    }
  }
  return word.key;
}

void ListBuilder::next_han(const SearchSources& sources, const TypedText& text, std::size_t wanted,
                           ReplyBuffers* out) {
  out->han_count = han_search_.next(sources, text, shares_of(sources, text, {}),
                                    std::span(out->han_words).first(wanted));
}

void ListBuilder::gather(const SearchSources& sources, const TypedText& text,
                         const WordQuery& query, ReplyBuffers* out) {
  const std::array<Source*, 3> all = {sources.ngrams, sources.network, sources.deep};
  for (Source* source : all) {
    if (source != nullptr) {
      source->propose(text, query, &out->pool);
    }
  }
  for (Source* source : all) {
    if (source != nullptr) {
      source->score(text, query, &out->pool);
    }
  }
}

// Scores the pool and ranks what of it may be offered.
void ListBuilder::weigh(const SearchSources& sources, const TypedText& text, const WordQuery& query,
                        const Shares& shares, ReplyBuffers* out) {
  const std::string_view rest_of_word = text.rest_of_word();
  std::array<char, 2 * text::kMaxUnitBytes> next_lower;
  const std::string_view next_key(
      next_lower.data(),
      text::copy_lower(text.next_word_after(), next_lower.data(), next_lower.size()));
  for (PoolWord& word : out->pool.words()) {
    const Mixed mixed = mix_word(*sources.mixing, shares, word);
    word.score = mixed.score;
    out->pool_mass += std::exp(mixed.log_prob);
    if (word.key == query.prefix || word.score == kImpossible) {
      continue;  // nothing to add
    }
    if (!rest_of_word.empty()) {
      // Inside a word: it must end as what stands right of the caret, and something must be missing
      // between.
      if (word.key.size() <= query.prefix.size() + rest_of_word.size() ||
          !word.key.ends_with(rest_of_word)) {
        continue;
      }
    } else if (word.key == next_key) {
      continue;  // would stand there twice (complaint 3)
    }
    if (blocked(sources, word.key)) {
      continue;
    }
    const bool passed = sources.passed_over != nullptr && sources.passed_over->holds(word.key);
    out->ranked.push_back({.order = word.score + (passed ? PassedOver::kLogOverlooked : 0),
                           .score = word.score,
                           .word = &word,
                           .passed = passed});
  }
}

// Asks the sources of whole candidates and ranks what may be offered here. `words`: why words are
// not, or Answered.
void ListBuilder::ask_for_offers(const SearchSources& sources, const TypedText& text,
                                 const WordQuery& query, Silence words, ReplyBuffers* out) {
  out->offers.clear();
  if (!text.rest_of_word().empty()) {
    return;
  }
  for (OfferSource* source : sources.offers) {
    source->offer(text, query, out->pool, &out->offers);
  }
  const std::string_view typed = text.open_word();
  const std::size_t pool_words = out->ranked.size();
  for (const Offer& offer : out->offers.offers()) {
    if ((words != Silence::Answered && offer.origin != Origin::Emoji) ||
        (offer.erase_bytes == 0 ? !offer.text.starts_with(typed) || offer.text == typed
                                : !text.can_erase(offer.erase_bytes, 0) || text.owes_space()) ||
        same_word(offer.text, text.next_word_after())) {
      continue;
    }
    if (offer.erase_bytes <= typed.size()
            ? blocked(sources, offer.text)
            : sources.block_list != nullptr &&
                  sources.block_list->blocks_after(
                      text.before().substr(0, text.before().size() - offer.erase_bytes),
                      offer.text)) {
      continue;
    }
    std::array<char, 2 * text::kMaxUnitBytes> lower;
    const std::string_view key(lower.data(),
                               text::copy_lower(offer.text, lower.data(), lower.size()));
    const bool word_place = offer.erase_bytes == 0 || offer.erase_bytes == typed.size();
    bool known = false;
    for (std::size_t i = 0; word_place && !known && i < pool_words; ++i) {
      known = out->ranked[i].word->key == key;
    }
    if (known) {
      continue;
    }
    const bool passed =
        offer.erase_bytes == 0 && sources.passed_over != nullptr && sources.passed_over->holds(key);
    out->ranked.push_back({.order = offer.score() + (passed ? PassedOver::kLogOverlooked : 0),
                           .score = offer.score(),
                           .offer = &offer,
                           .passed = passed});
  }
}

ListBuilder::ListBuilder(const ListParts& parts) : parts_(parts), ranker_(parts.ranker) {}

float ReplyBuffers::log_mass() const {
  constexpr float kLeastMass = 1e-30F;  // below any pool's that holds a word
  return std::log(std::max(pool_mass, kLeastMass));
}

std::string_view ReplyBuffers::keep_ghost(std::string_view text) {
  const std::size_t size = std::min(text.size(), ghost_text.size());
  std::copy_n(text.begin(), size, ghost_text.begin());
  return {ghost_text.data(), size};
}

void ReplyBuffers::wipe() {
  reply = {};
  count = 0;
  pool.clear();
  pool_mass = 0;
  han_count = 0;
  offers.clear();
  ranked.clear();
  prefix_length = 0;
  prefix_bytes.fill('\0');
  ghost_text.fill('\0');
  for (auto& text : texts) {
    text.fill('\0');
  }
  for (auto& key : keys) {
    key.fill('\0');
  }
}

std::string_view ListBuilder::key_of(const Ranked& entry, std::span<char> buffer) const {
  if (entry.word != nullptr) {
    return entry.word->key.substr(0, buffer.size());
  }
  if (entry.offer != nullptr) {
    return {buffer.data(), text::copy_lower(entry.offer->text, buffer.data(), buffer.size())};
  }
  std::array<char, 4> bytes;
  const std::size_t length =
      base::encode_utf8(parts_.index->han()[entry.han->han[0]].code_point, bytes);
  std::copy_n(bytes.begin(), length, buffer.begin());
  return {buffer.data(), length};
}

// Puts the first of out->ranked (sorted by order) in the ranker's order, if there is one for them.
void ListBuilder::rank(const SearchSources& sources, const TypedText& text, const WordQuery& query,
                       Reorder reorder, ReplyBuffers* out) {
  const std::size_t size = std::min(out->ranked.size(), CandidateRanker::kMost);
  const std::span<Ranked> ranked = std::span(out->ranked).first(size);
  for (std::size_t i = 0; i < size; ++i) {
    seen_[i] = ranked[i];
    seen_keys_[i] = key_of(ranked[i], out->keys[i]);
  }
  const std::size_t units = sources.ngrams != nullptr ? sources.ngrams->units_in_line(text) : 4;
  moment_.begin(text, query, units, out->pool_mass, parts_.ngrams, sources.memory);
  ranker_.look(moment_, ranked, std::span<const std::string_view>(seen_keys_).first(size));
  if (reorder == Reorder::Yes) {
    ranker_.sort(ranked);
  }
}

void ListBuilder::order(const SearchSources& sources, const TypedText& text, const WordQuery& query,
                        std::size_t han_shown, ReplyBuffers* out) {
  for (std::size_t i = 0; i < han_shown; ++i) {
    const float score = out->han_words[i].log_prob;
    out->ranked.push_back({.order = score, .score = score, .han = &out->han_words[i]});
  }
  const auto kind = [](const Ranked& entry) {
    return entry.word != nullptr ? 0 : (entry.han != nullptr ? 1 : 2);
  };
  const auto before = [&](const Ranked& a, const Ranked& b) {
    if (a.order != b.order) {
      return a.order > b.order;
    }
    if (kind(a) != kind(b)) {
      return kind(a) < kind(b);
    }
    if (a.word != nullptr) {
      return a.word->key < b.word->key;
    }
    return a.han != nullptr ? a.han->han < b.han->han : a.offer->text < b.offer->text;
  };
  const std::size_t size = std::min(query.wanted, out->ranked.size());
  const Ranker* ranker = parts_.ranker;
  const bool ranks = ranker != nullptr && (query.deep_share == 0 || ranker->knows_deep());
  const bool looks = options_.features == Want::Yes;
  const std::size_t sorted = std::min(ranks || looks || options_.taste.diversity > 0
                                          ? std::max(size, CandidateRanker::kMost)
                                          : size,
                                      out->ranked.size());
  std::partial_sort(out->ranked.begin(), out->ranked.begin() + static_cast<std::ptrdiff_t>(sorted),
                    out->ranked.end(), before);
  if (ranks || looks) {
    rank(sources, text, query, ranks ? Reorder::Yes : Reorder::No, out);
  }
  if (options_.taste.diversity > 0) {
    diversify(options_.taste, query.prefix.size(), size, std::span(out->ranked).first(sorted));
  }
  if (size > 1) {
    demote_correction(std::span(out->ranked).first(size));
  }
  // Behind the list, where there is room: likelier words that were passed over. A ghost may still
  // begin with one.
  const auto rest = out->ranked.begin() + static_cast<std::ptrdiff_t>(size);
  const std::size_t room =
      std::min({kPassedOverKept, Reply::kMaxCandidates - size, out->ranked.size() - size});
  std::partial_sort(rest, rest + static_cast<std::ptrdiff_t>(room), out->ranked.end(),
                    [&](const Ranked& a, const Ranked& b) {
                      return a.score != b.score ? a.score > b.score : before(a, b);
                    });
  out->ranked.resize(size + room);
}

// Why no words are offered at this place; Answered if they are.
Silence ListBuilder::silence_for(const TypedText& text) const {
  const std::string_view typed = text.open_word();
  if (text.ends_in_half_character()) {
    return Silence::HalfCharacter;
  }
  if (typed.empty() && !text.rest_of_word().empty()) {
    // Before a word's first letter: whatever is inserted would run into it.
    return Silence::MidWord;
  }
  if (base::count_code_points(typed) > kMaxPrefixLetters || text.in_address()) {
    return Silence::NothingKnown;
  }
  if (typed.empty() && text.needs_space()) {
    return Silence::NeedsSpace;
  }
  return Silence::Answered;
}

// Only as many as are looked into need be clean.
void ListBuilder::drop_blocked_han(const SearchSources& sources, ReplyBuffers* out) const {
  if (sources.block_list == nullptr) {
    return;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < out->han_count && kept < kHanShown; ++i) {
    std::array<char, 4> bytes;
    const std::size_t length =
        base::encode_utf8(parts_.index->han()[out->han_words[i].han[0]].code_point, bytes);
    if (!blocked(sources, {bytes.data(), length})) {
      out->han_words[kept++] = out->han_words[i];
    }
  }
  out->han_count = kept;
}

// A character that grew into something blocked stays the character it was.
void ListBuilder::shorten_blocked_han(const SearchSources& sources, HanWord* word) const {
  std::array<char, 4 * HanWord::kMaxHan> bytes;
  std::size_t length = 0;
  std::array<std::size_t, HanWord::kMaxHan> ends;
  for (std::size_t i = 0; i < word->length; ++i) {
    length += base::encode_utf8(parts_.index->han()[word->han[i]].code_point,
                                std::span<char, 4>(bytes.data() + length, 4));
    ends[i] = length;
  }
  while (word->length > 1 && blocked(sources, {bytes.data(), ends[word->length - 1]})) {
    --word->length;
  }
}

void ListBuilder::build(const SearchSources& sources, const TypedText& text, std::size_t wanted,
                        ReplyBuffers* out) {
  out->count = 0;
  out->pool.clear();
  out->ranked.clear();
  out->pool_mass = 0;
  out->prefix_length = 0;
  ranker_.forget();
  const std::string_view typed = text.open_word();
  const std::string_view rest_of_word = text.rest_of_word();
  Silence& silence = out->reply.silence;
  silence = silence_for(text);
  if (silence == Silence::HalfCharacter || silence == Silence::MidWord ||
      (silence != Silence::Answered && sources.offers.empty())) {
    return;
  }
  WordQuery query = word_query(text, &out->prefix_bytes);
  out->prefix_length = query.prefix.size();
  query.wanted = wanted;
  query.kind = sources.mixing->word_kind;
  std::size_t han_shown = 0;
  Shares shares;
  if (sources.block_list != nullptr) {
    before_word_ =
        sources.block_list->after(text.before().substr(0, text.before().size() - typed.size()));
  }
  if (silence == Silence::Answered) {
    shares = shares_of(sources, text, query.prefix);
    query.network_share = shares.network;
    query.deep_share = shares.deep;
    if (typed.empty()) {
      out->han_count = han_search_.next(sources, text, shares, out->han_words);
      drop_blocked_han(sources, out);
      han_shown = std::min(out->han_count, kHanShown);
      if (han_shown >= wanted && wanted > 0) {
        query.rival = std::exp(out->han_words[wanted - 1].log_prob);
      }
    }
    gather(sources, text, query, out);
    weigh(sources, text, query, shares, out);
  }
  ask_for_offers(sources, text, query, silence, out);
  order(sources, text, query, han_shown, out);

  // Chinese characters that made it into the list grow into words.
  std::array<HanWord, Reply::kMaxCandidates> growing;
  std::size_t growing_count = 0;
  for (const Ranked& entry : out->ranked) {
    if (entry.han != nullptr) {
      growing[growing_count++] = *entry.han;
    }
  }
  if (growing_count > 0) {
    han_search_.extend(sources, shares, std::span(growing.data(), growing_count));
    for (HanWord& word : std::span(growing.data(), growing_count)) {
      shorten_blocked_han(sources, &word);
    }
    std::copy_n(growing.begin(), growing_count, out->han_words.begin());
    std::size_t next = 0;
    for (Ranked& entry : out->ranked) {
      if (entry.han != nullptr) {
        entry.han = &out->han_words[next++];
      }
    }
  }

  const SentenceStart start =
      typed.empty() && text.at_sentence_start() ? SentenceStart::Yes : SentenceStart::No;
  for (const Ranked& entry : out->ranked) {
    if (write(entry, text, start, out)) {
      out->shown[out->count] = entry;
      ++out->count;
    }
  }
  if (out->count > 0) {
    silence = Silence::Answered;
  } else if (silence == Silence::Answered) {
    silence = rest_of_word.empty() ? Silence::NothingKnown : Silence::MidWord;
  }
}

bool ListBuilder::write(const Ranked& entry, const TypedText& text, SentenceStart start,
                        ReplyBuffers* out) {
  const std::string_view typed = text.open_word();
  std::array<char, kMaxCandidateBytes>& bytes = out->texts[out->count];
  Candidate& candidate = out->candidates[out->count];
  std::size_t length = 0;
  candidate.erase_before = 0;
  if (entry.offer != nullptr) {
    if (entry.offer->text.size() > bytes.size()) {
      return false;
    }
    length = entry.offer->text.copy(bytes.data(), bytes.size());
    candidate.log_prob = entry.score;
    candidate.origin = entry.offer->origin;
    candidate.erase_before = entry.offer->erase_bytes;
  } else if (entry.word != nullptr) {
    if (typed.size() > bytes.size()) {
      return false;
    }
    std::copy(typed.begin(), typed.end(), bytes.begin());
    length = typed.size() +
             write_rest(typed, display(*entry.word), start, std::span(bytes).subspan(typed.size()));
    const std::size_t rest = text.rest_of_word().size();
    if (length < typed.size() + rest + 1) {
      return false;
    }
    length -= rest;
    candidate.log_prob = entry.score;
    candidate.origin =
        origin_of(entry.word->from_network, entry.word->from_ngram, entry.word->from_deep);
  } else {
    for (std::size_t i = 0; i < entry.han->length; ++i) {
      length += base::encode_utf8(parts_.index->han()[entry.han->han[i]].code_point,
                                  std::span<char, 4>(bytes.data() + length, 4));
    }
    candidate.log_prob = entry.han->log_prob;
    candidate.origin =
        origin_of(entry.han->from_network, entry.han->from_ngram, entry.han->from_deep);
    if (!text.next_word_after().empty() &&
        text.next_word_after() == std::string_view(bytes.data(), length)) {
      return false;
    }
  }
  candidate.log_prob = std::min(candidate.log_prob, 0.0F);
  candidate.text = {bytes.data(), length};
  candidate.insert =
      candidate.erase_before != 0 ? candidate.text : candidate.text.substr(typed.size());
  return true;
}

}  // namespace laya::predict
