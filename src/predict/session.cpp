#include "predict/session.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/utf8.h"
#include "predict/casing.h"
#include "predict/engine.h"
#include "predict/ghost_search.h"
#include "predict/han_search.h"
#include "predict/network_source.h"
#include "predict/ngram_source.h"
#include "predict/piece_index.h"
#include "predict/source.h"
#include "predict/typed_text.h"
#include "text/script.h"
#include "text/units.h"

namespace laya::predict {
namespace {

constexpr std::size_t kMaxCandidateBytes = 192;
constexpr std::size_t kMaxPrefixLetters = 32;  // longer runs of letters are no words
constexpr float kOtherCase = 0.1F;             // see WordQuery::other_case
constexpr std::size_t kHanShown = 8;           // characters looked into for words

float microseconds(std::int64_t from, std::int64_t to) {
  return static_cast<float>(to - from) / 1000.0F;
}

// A candidate before it is written out: a word of the pool or a Chinese word.
struct Ranked {
  float score = kImpossible;
  const PoolWord* word = nullptr;
  const HanWord* han = nullptr;
};

}  // namespace

struct Session::Impl {
  explicit Impl(const Engine& engine);

  void feed(const TypedText::Delta& delta);
  void block(std::uint64_t revision);
  float network_share(std::size_t letters);
  float han_share();
  void find_candidates(std::size_t wanted);
  bool write_candidate(const Ranked& ranked, std::string_view typed, SentenceStart start);
  void find_ghost();
  std::string_view display(const PoolWord& word) const;

  const Engine* engine;
  TypedText text;
  std::optional<NgramSource> ngrams;
  std::optional<NetworkSource> network;
  SearchSources sources;
  WordPool pool;
  HanSearch han_search;
  GhostSearch ghost_search;
  std::array<HanWord, HanSearch::kPool> han_words;
  std::array<char, 2 * text::kMaxUnitBytes> prefix_bytes;
  std::size_t han_count = 0;
  std::size_t prefix_length = 0;
  std::vector<Ranked> ranked;

  Reply reply;
  std::array<Candidate, Reply::kMaxCandidates> candidates;
  std::array<Ranked, Reply::kMaxCandidates> shown;
  std::array<std::array<char, kMaxCandidateBytes>, Reply::kMaxCandidates> texts;
  std::size_t count = 0;
  float pool_mass = 0;

  FieldKind kind = FieldKind::Text;
  std::uint64_t revision = 0;
  std::uint64_t bytes_read = 0;
  float edit_us = 0;
};

Session::Impl::Impl(const Engine& e)
    : engine(&e), ghost_search(e.network() != nullptr ? e.network()->config().vocabulary_size : 0) {
  if (e.ngrams() != nullptr) {
    ngrams.emplace(*e.ngrams(), e.index());
  }
  if (e.network() != nullptr) {
    network.emplace(*e.network(), *e.tokenizer(), e.index(), e.ngrams(), e.threads());
  }
  sources = {network ? &*network : nullptr, ngrams ? &*ngrams : nullptr, &e.index(), &e.mixing()};
  ranked.reserve(WordPool::kCapacity + HanSearch::kPool);
}

void Session::Impl::feed(const TypedText::Delta& delta) {
  bytes_read += delta.inserted;
  if (ngrams) {
    ngrams->follow(text, delta);
  }
  if (network) {
    network->follow(text, delta);
  }
}

float Session::Impl::network_share(std::size_t letters) {
  if (!network) {
    return 0;
  }
  if (!ngrams) {
    return 1;
  }
  return engine->mixing().word_network[Mixing::context_bucket(ngrams->units_in_line(text))]
                                      [Mixing::prefix_bucket(letters)];
}

float Session::Impl::han_share() {
  if (!network) {
    return 0;
  }
  if (!ngrams) {
    return 1;
  }
  return engine->mixing().han_network[Mixing::context_bucket(ngrams->units_in_line(text))];
}

std::string_view Session::Impl::display(const PoolWord& word) const {
  if (engine->ngrams() != nullptr && word.word != model::kUnknownWord) {
    const std::string_view written = engine->ngrams()->display(word.word);
    if (!written.empty()) {
      return written;
    }
  }
  return word.key;
}

void Session::Impl::find_candidates(std::size_t wanted) {
  count = 0;
  pool.clear();
  ranked.clear();
  pool_mass = 0;
  const std::string_view typed = text.open_word();
  const std::string_view rest_of_word = text.rest_of_word();
  if (text.ends_in_half_character()) {
    reply.silence = Silence::HalfCharacter;
    return;
  }
  if (typed.empty() && !rest_of_word.empty()) {
    // Before a word's first letter: whatever is inserted would run into it.
    reply.silence = Silence::MidWord;
    return;
  }
  if (base::count_code_points(typed) > kMaxPrefixLetters || text.in_address()) {
    reply.silence = Silence::NothingKnown;
    return;
  }
  if (typed.empty() && text.needs_space()) {
    reply.silence = Silence::NeedsSpace;
    return;
  }
  prefix_length = text::copy_lower(typed, prefix_bytes.data(), prefix_bytes.size());

  WordQuery query;
  query.prefix = {prefix_bytes.data(), prefix_length};
  query.typed = typed;
  const bool typed_capital = !typed.empty() && typed.front() >= 'A' && typed.front() <= 'Z';
  query.other_case = text.writes_without_capitals() && !typed_capital ? 1 : kOtherCase;
  query.wanted = wanted;
  query.kind = engine->mixing().word_kind;
  query.network_share = network_share(base::count_code_points(typed));
  std::size_t han_shown = 0;
  if (typed.empty()) {
    han_shown = std::min(han_search.next(sources, text, han_share(), han_words), kHanShown);
    if (han_shown >= wanted && wanted > 0) {
      query.rival = std::exp(han_words[wanted - 1].log_prob);
    }
  }
  if (ngrams) {
    ngrams->propose(text, query, &pool);
  }
  if (network) {
    network->propose(text, query, &pool);
  }
  if (ngrams) {
    ngrams->score(text, query, &pool);
  }
  if (network) {
    network->score(text, query, &pool);
  }
  const bool network_ready = network && network->tree().ready();
  const float share = network_ready ? query.network_share : 0;
  const std::string_view next_word = text.next_word_after();
  std::array<char, 2 * text::kMaxUnitBytes> next_lower;
  const std::string_view next_key(
      next_lower.data(), text::copy_lower(next_word, next_lower.data(), next_lower.size()));
  for (PoolWord& word : pool.words()) {
    const float log_p_ngram = word.log_p_ngram + word.log_case_fit;
    word.score = mix(query.kind, share, word.log_p_network, log_p_ngram);
    pool_mass += std::exp(mix(MixingKind::Linear, share, word.log_p_network, log_p_ngram));
    if (word.key == query.prefix || word.score == kImpossible) {
      continue;  // nothing to add
    }
    if (!rest_of_word.empty()) {
      // Inside a word: it must end as what stands right of the caret, and something must be missing
      // between.
      if (word.key.size() <= prefix_length + rest_of_word.size() ||
          !word.key.ends_with(rest_of_word)) {
        continue;
      }
    } else if (word.key == next_key) {
      continue;  // would stand there twice (complaint 3)
    }
    ranked.push_back({word.score, &word, nullptr});
  }
  for (std::size_t i = 0; i < han_shown; ++i) {
    ranked.push_back({han_words[i].log_prob, nullptr, &han_words[i]});
  }
  const auto order = [this](const Ranked& a, const Ranked& b) {
    if (a.score != b.score) {
      return a.score > b.score;
    }
    if ((a.word == nullptr) != (b.word == nullptr)) {
      return a.word != nullptr;
    }
    return a.word != nullptr ? a.word->key < b.word->key : a.han->han < b.han->han;
  };
  const std::size_t size = std::min(wanted, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(size),
                    ranked.end(), order);
  ranked.resize(size);

  // Chinese characters that made it into the list grow into words.
  std::array<HanWord, Reply::kMaxCandidates> growing;
  std::size_t growing_count = 0;
  for (const Ranked& entry : ranked) {
    if (entry.han != nullptr) {
      growing[growing_count++] = *entry.han;
    }
  }
  if (growing_count > 0) {
    han_search.extend(sources, han_share(), std::span(growing.data(), growing_count));
    std::copy_n(growing.begin(), growing_count, han_words.begin());
    std::size_t next = 0;
    for (Ranked& entry : ranked) {
      if (entry.han != nullptr) {
        entry.han = &han_words[next++];
      }
    }
  }

  const SentenceStart start =
      typed.empty() && text.at_sentence_start() ? SentenceStart::Yes : SentenceStart::No;
  for (const Ranked& entry : ranked) {
    if (write_candidate(entry, typed, start)) {
      shown[count] = entry;
      ++count;
    }
  }
  if (count == 0) {
    reply.silence = rest_of_word.empty() ? Silence::NothingKnown : Silence::MidWord;
  }
}

bool Session::Impl::write_candidate(const Ranked& entry, std::string_view typed,
                                    SentenceStart start) {
  std::array<char, kMaxCandidateBytes>& bytes = texts[count];
  Candidate& candidate = candidates[count];
  std::size_t length = 0;
  bool from_network = false;
  bool from_ngram = false;
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
    from_network = entry.word->from_network;
    from_ngram = entry.word->from_ngram;
  } else {
    for (std::size_t i = 0; i < entry.han->length; ++i) {
      length += base::encode_utf8(engine->index().han()[entry.han->han[i]].code_point,
                                  std::span<char, 4>(bytes.data() + length, 4));
    }
    candidate.log_prob = entry.han->log_prob;
    from_network = entry.han->from_network;
    from_ngram = entry.han->from_ngram;
    if (!text.next_word_after().empty() &&
        text.next_word_after() == std::string_view(bytes.data(), length)) {
      return false;
    }
  }
  candidate.log_prob = std::min(candidate.log_prob, 0.0F);
  candidate.text = {bytes.data(), length};
  candidate.insert = candidate.text.substr(typed.size());
  candidate.origin = from_network && from_ngram ? Origin::Both
                     : from_network             ? Origin::Network
                                                : Origin::Ngram;
  return true;
}

void Session::Impl::find_ghost() {
  reply.has_ghost = false;
  if (reply.silence == Silence::HalfCharacter || reply.silence == Silence::MidWord ||
      reply.silence == Silence::NeedsSpace || !text.rest_of_word().empty() || text.in_address()) {
    return;
  }
  const std::string_view typed = text.open_word();
  std::array<GhostStart, GhostSearch::kBeam> starts;
  std::array<std::array<TokenId, 8>, GhostSearch::kBeam> pieces;
  std::size_t size = 0;
  if (typed.empty()) {
    if (text.before().empty()) {
      return;  // nothing is known yet: a ghost in an empty field is a guess about a stranger
    }
    starts[size++] = {};
  } else {
    // The list's words, and the typed word itself if it may be whole already: "see" ▶ " you".
    const float log_mass = std::log(std::max(pool_mass, 1e-30F));
    const std::string_view prefix(prefix_bytes.data(), prefix_length);
    const auto add = [&](const PoolWord& word, std::string_view insert) {
      GhostStart& start = starts[size];
      start = {};
      start.kind = GhostStart::Kind::Word;
      start.insert = insert;
      start.word = word.word;
      start.log_prob = std::min(0.0F, word.score - log_mass);
      if (network && network->tree().ready()) {
        const std::span<const TokenId> spelled =
            network->pieces_of(word.word, word.key, word.group);
        const std::size_t length = std::min(spelled.size(), pieces[size].size());
        std::copy_n(spelled.begin(), length, pieces[size].begin());
        start.pieces = {pieces[size].data(), length};
      }
      ++size;
    };
    for (const PoolWord& word : pool.words()) {
      if (word.key == prefix && word.score != kImpossible) {
        add(word, {});
        break;
      }
    }
    for (std::size_t i = 0; i < count && size < starts.size(); ++i) {
      if (shown[i].word != nullptr) {
        add(*shown[i].word, candidates[i].insert);
      }
    }
  }
  GhostLimits limits;
  limits.next_word_after = text.next_word_after();
  const text::Vocabulary* vocabulary =
      engine->tokenizer() != nullptr ? &engine->tokenizer()->vocabulary() : nullptr;
  if (ghost_search.search(sources, vocabulary, text, std::span(starts.data(), size), limits)) {
    reply.has_ghost = true;
    reply.ghost.text = ghost_search.text();
    reply.ghost.log_prob = std::min(0.0F, ghost_search.log_prob());
  }
}

Session::Session(const Engine& engine) : impl_(std::make_unique<Impl>(engine)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

void Session::Impl::block(std::uint64_t new_revision) {
  text.clear();
  if (ngrams) {
    ngrams->clear();
  }
  if (network) {
    network->clear();
  }
  revision = new_revision;
}

void Session::set_text(const FieldText& field) {
  const std::int64_t begin = base::monotonic_ns();
  if (field_is_blocked(field.kind)) {
    if (!field_is_blocked(impl_->kind)) {
      impl_->block(field.revision);
    }
    impl_->revision = field.revision;
    impl_->kind = field.kind;
    return;
  }
  impl_->kind = field.kind;
  impl_->revision = field.revision;
  impl_->feed(impl_->text.assign(field.before, field.after, field.left_edge));
  impl_->feed(impl_->text.owe_space(field.pending_space));
  impl_->edit_us = microseconds(begin, base::monotonic_ns());
}

Status Session::edit(const Edit& change) {
  const std::int64_t begin = base::monotonic_ns();
  impl_->revision = change.revision;
  if (field_is_blocked(impl_->kind)) {
    return {};  // not even its length is looked at
  }
  if (!impl_->text.can_erase(change.erase_before, change.erase_after)) {
    return Error{ErrorCode::BadArgument,
                 "session: the edit erases more text than is kept; call set_text"};
  }
  impl_->feed(impl_->text.apply(change.erase_before, change.erase_after, change.insert));
  impl_->feed(impl_->text.owe_space(change.pending_space));
  impl_->edit_us = microseconds(begin, base::monotonic_ns());
  return {};
}

void Session::clear() {
  impl_->block(impl_->revision);
  impl_->kind = FieldKind::Text;
}

const Reply& Session::decide(const DecideOptions& options) {
  Impl& impl = *impl_;
  const std::int64_t begin = base::monotonic_ns();
  impl.reply = {};
  impl.reply.revision = impl.revision;
  impl.count = 0;
  if (field_is_blocked(impl.kind)) {
    impl.reply.silence = Silence::FieldBlocked;
    return impl.reply;
  }
  if (impl.network) {
    impl.network->prepare(impl.text);  // a failure leaves the table to answer alone
  }
  const std::int64_t advanced = base::monotonic_ns();
  const std::size_t wanted = std::min(options.candidates, Reply::kMaxCandidates);
  const std::size_t searched =
      options.ghost == Want::Yes ? std::max(wanted, GhostSearch::kBeam) : wanted;
  impl.find_candidates(searched);
  const std::int64_t listed = base::monotonic_ns();
  if (options.ghost == Want::Yes) {
    impl.find_ghost();
  }
  const std::int64_t end = base::monotonic_ns();
  impl.reply.candidates = std::span(impl.candidates).first(std::min(wanted, impl.count));
  impl.reply.latency = {impl.edit_us, microseconds(begin, advanced), microseconds(advanced, listed),
                        microseconds(listed, end), impl.edit_us + microseconds(begin, end)};
  return impl.reply;
}

std::size_t Session::next_han(std::span<NextHan> out) {
  Impl& impl = *impl_;
  if (field_is_blocked(impl.kind)) {
    return 0;
  }
  const std::size_t wanted = std::min(out.size(), HanSearch::kPool);
  const std::size_t found = impl.han_search.next(impl.sources, impl.text, impl.han_share(),
                                                 std::span(impl.han_words).first(wanted));
  impl.han_count = found;
  for (std::size_t i = 0; i < found; ++i) {
    out[i] = {impl.engine->index().han()[impl.han_words[i].han[0]].code_point,
              impl.han_words[i].log_prob};
  }
  return found;
}

std::span<const PoolWord> Session::pool() const { return std::as_const(impl_->pool).words(); }
std::span<const HanWord> Session::han_pool() const {
  return std::span<const HanWord>(impl_->han_words).first(impl_->han_count);
}
std::size_t Session::units_in_line() {
  return impl_->ngrams ? impl_->ngrams->units_in_line(impl_->text) : 4;
}

void Session::warm_up() {
  constexpr std::string_view kSample = "See you tomorrow, 我们明天再说 don't wor";
  const FieldKind kind = impl_->kind;
  const std::uint64_t revision = impl_->revision;
  set_text({.revision = revision, .before = {}, .after = {}});
  for (std::size_t i = 0; i < kSample.size(); ++i) {
    if (!edit({.revision = revision, .insert = kSample.substr(i, 1)})) {
      break;
    }
    decide({.candidates = Reply::kMaxCandidates, .ghost = Want::Yes});
  }
  clear();
  impl_->kind = kind;
  impl_->revision = revision;
  impl_->bytes_read = 0;
}

std::uint64_t Session::bytes_read() const { return impl_->bytes_read; }
std::uint64_t Session::passes() const { return impl_->network ? impl_->network->passes() : 0; }

}  // namespace laya::predict
