#include "predict/list_builder.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "predict/deep_source.h"
#include "predict/engine.h"
#include "predict/passed_over.h"
#include "predict/piece_index.h"

namespace laya::predict {
namespace {

constexpr std::size_t kHanShown = 8;  // characters looked into for words
constexpr std::size_t kPassedOverKept = 2;

Origin origin_of(bool network, bool ngram, bool deep) {
  if (int{network} + int{ngram} + int{deep} > 1) {
    return Origin::Both;
  }
  return deep ? Origin::Deep : (network ? Origin::Network : Origin::Ngram);
}

}  // namespace

std::string_view ListBuilder::display(const PoolWord& word) const {
  if (engine_->ngrams() != nullptr && word.word != model::kUnknownWord) {
    const std::string_view written = engine_->ngrams()->display(word.word);
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

void ListBuilder::rank(const SearchSources& sources, const TypedText& text, const WordQuery& query,
                       const Shares& shares, std::size_t han_shown, ReplyBuffers* out) {
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
    const bool passed = sources.passed_over != nullptr && sources.passed_over->holds(word.key);
    out->ranked.push_back(
        {word.score + (passed ? PassedOver::kLogOverlooked : 0), word.score, &word, nullptr});
  }
  for (std::size_t i = 0; i < han_shown; ++i) {
    const float score = out->han_words[i].log_prob;
    out->ranked.push_back({score, score, nullptr, &out->han_words[i]});
  }
  const auto order = [](const Ranked& a, const Ranked& b) {
    if (a.order != b.order) {
      return a.order > b.order;
    }
    if ((a.word == nullptr) != (b.word == nullptr)) {
      return a.word != nullptr;
    }
    return a.word != nullptr ? a.word->key < b.word->key : a.han->han < b.han->han;
  };
  const std::size_t size = std::min(query.wanted, out->ranked.size());
  std::partial_sort(out->ranked.begin(), out->ranked.begin() + static_cast<std::ptrdiff_t>(size),
                    out->ranked.end(), order);
  // Behind the list, where there is room: likelier words that were passed over. A ghost may still
  // begin with one.
  const auto rest = out->ranked.begin() + static_cast<std::ptrdiff_t>(size);
  const std::size_t room =
      std::min({kPassedOverKept, Reply::kMaxCandidates - size, out->ranked.size() - size});
  std::partial_sort(rest, rest + static_cast<std::ptrdiff_t>(room), out->ranked.end(),
                    [&](const Ranked& a, const Ranked& b) {
                      return a.score != b.score ? a.score > b.score : order(a, b);
                    });
  out->ranked.resize(size + room);
}

void ListBuilder::build(const SearchSources& sources, const TypedText& text, std::size_t wanted,
                        ReplyBuffers* out) {
  out->count = 0;
  out->pool.clear();
  out->ranked.clear();
  out->pool_mass = 0;
  out->prefix_length = 0;
  const std::string_view typed = text.open_word();
  const std::string_view rest_of_word = text.rest_of_word();
  Silence& silence = out->reply.silence;
  if (text.ends_in_half_character()) {
    silence = Silence::HalfCharacter;
    return;
  }
  if (typed.empty() && !rest_of_word.empty()) {
    // Before a word's first letter: whatever is inserted would run into it.
    silence = Silence::MidWord;
    return;
  }
  if (base::count_code_points(typed) > kMaxPrefixLetters || text.in_address()) {
    silence = Silence::NothingKnown;
    return;
  }
  if (typed.empty() && text.needs_space()) {
    silence = Silence::NeedsSpace;
    return;
  }
  WordQuery query = word_query(text, &out->prefix_bytes);
  out->prefix_length = query.prefix.size();
  query.wanted = wanted;
  query.kind = sources.mixing->word_kind;
  const Shares shares = shares_of(sources, text, query.prefix);
  query.network_share = shares.network;
  query.deep_share = shares.deep;
  std::size_t han_shown = 0;
  if (typed.empty()) {
    out->han_count = han_search_.next(sources, text, shares, out->han_words);
    han_shown = std::min(out->han_count, kHanShown);
    if (han_shown >= wanted && wanted > 0) {
      query.rival = std::exp(out->han_words[wanted - 1].log_prob);
    }
  }
  gather(sources, text, query, out);
  rank(sources, text, query, shares, han_shown, out);

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
  if (out->count == 0) {
    silence = rest_of_word.empty() ? Silence::NothingKnown : Silence::MidWord;
  }
}

bool ListBuilder::write(const Ranked& entry, const TypedText& text, SentenceStart start,
                        ReplyBuffers* out) {
  const std::string_view typed = text.open_word();
  std::array<char, kMaxCandidateBytes>& bytes = out->texts[out->count];
  Candidate& candidate = out->candidates[out->count];
  std::size_t length = 0;
  if (entry.word != nullptr) {
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
      length += base::encode_utf8(engine_->index().han()[entry.han->han[i]].code_point,
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
  candidate.insert = candidate.text.substr(typed.size());
  return true;
}

}  // namespace laya::predict
