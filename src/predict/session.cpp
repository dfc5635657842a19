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
#include "predict/deep_source.h"
#include "predict/engine.h"
#include "predict/ghost_search.h"
#include "predict/han_search.h"
#include "predict/list_builder.h"
#include "predict/network_source.h"
#include "predict/ngram_source.h"
#include "predict/piece_index.h"
#include "predict/source.h"
#include "predict/typed_text.h"
#include "text/units.h"

namespace laya::predict {
namespace {

float microseconds(std::int64_t from, std::int64_t to) {
  return static_cast<float>(to - from) / 1000.0F;
}

}  // namespace

struct Session::Impl {
  explicit Impl(const Engine& engine);

  void feed(const TypedText::Delta& delta);
  void block(std::uint64_t revision);
  void find_ghost(ReplyBuffers* out);

  const Engine* engine;
  TypedText text;
  std::optional<NgramSource> ngrams;
  std::optional<NetworkSource> network;
  std::optional<DeepSource> deep;
  SearchSources instant;  // without the decoder
  SearchSources sources;
  ListBuilder lists;
  GhostSearch ghost_search;
  ReplyBuffers answer;

  FieldKind kind = FieldKind::Text;
  std::uint64_t revision = 0;
  std::uint64_t bytes_read = 0;
  float edit_us = 0;
};

Session::Impl::Impl(const Engine& e)
    : engine(&e),
      lists(e),
      ghost_search(e.network() != nullptr ? e.network()->config().vocabulary_size : 0) {
  if (e.ngrams() != nullptr) {
    ngrams.emplace(*e.ngrams(), e.index());
  }
  if (e.network() != nullptr) {
    network.emplace(*e.network(), *e.tokenizer(), e.index(), e.ngrams(), e.threads());
  }
  instant = {network ? &*network : nullptr, ngrams ? &*ngrams : nullptr, &e.index(), &e.mixing(),
             nullptr};
  sources = instant;
  if (e.deep() != nullptr) {
    deep.emplace(*e.deep(), e.index(), e.ngrams(), e.threads(), e.deep_options());
    sources.deep = &*deep;
  }
}

void Session::Impl::feed(const TypedText::Delta& delta) {
  bytes_read += delta.inserted;
  if (ngrams) {
    ngrams->follow(text, delta);
  }
  if (network) {
    network->follow(text, delta);
  }
  if (deep) {
    deep->follow(text, delta);
  }
}

void Session::Impl::find_ghost(ReplyBuffers* out) {
  Reply& reply = out->reply;
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
    const float log_mass = std::log(std::max(out->pool_mass, 1e-30F));
    const std::string_view prefix(out->prefix_bytes.data(), out->prefix_length);
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
    for (const PoolWord& word : out->pool.words()) {
      if (word.key == prefix && word.score != kImpossible) {
        add(word, {});
        break;
      }
    }
    for (std::size_t i = 0; i < out->count && size < starts.size(); ++i) {
      if (out->shown[i].word != nullptr) {
        add(*out->shown[i].word, out->candidates[i].insert);
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
  if (deep) {
    deep->clear();
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
  ReplyBuffers& out = impl.answer;
  const std::int64_t begin = base::monotonic_ns();
  out.reply = {};
  out.reply.revision = impl.revision;
  out.count = 0;
  if (field_is_blocked(impl.kind)) {
    out.reply.silence = Silence::FieldBlocked;
    return out.reply;
  }
  if (impl.network) {
    impl.network->prepare(impl.text);  // a failure leaves the table to answer alone
  }
  bool deep = impl.deep && options.deep_wait_us != 0;
  if (deep) {
    deep = impl.deep->prepare(impl.text).has_value();
  }
  const std::int64_t advanced = base::monotonic_ns();
  const std::size_t wanted = std::min(options.candidates, Reply::kMaxCandidates);
  const std::size_t searched =
      options.ghost == Want::Yes ? std::max(wanted, GhostSearch::kBeam) : wanted;
  impl.lists.build(deep ? impl.sources : impl.instant, impl.text, searched, &out);
  const std::int64_t listed = base::monotonic_ns();
  if (options.ghost == Want::Yes) {
    impl.find_ghost(&out);
  }
  const std::int64_t end = base::monotonic_ns();
  out.reply.candidates = std::span(out.candidates).first(std::min(wanted, out.count));
  out.reply.latency = {impl.edit_us, microseconds(begin, advanced), microseconds(advanced, listed),
                       microseconds(listed, end), impl.edit_us + microseconds(begin, end)};
  return out.reply;
}

std::size_t Session::next_han(std::span<NextHan> out) {
  Impl& impl = *impl_;
  if (field_is_blocked(impl.kind)) {
    return 0;
  }
  const bool deep =
      impl.deep && impl.deep->knows_han() && impl.deep->prepare(impl.text).has_value();
  const std::size_t wanted = std::min(out.size(), HanSearch::kPool);
  impl.lists.next_han(deep ? impl.sources : impl.instant, impl.text, wanted, &impl.answer);
  for (std::size_t i = 0; i < impl.answer.han_count; ++i) {
    const HanWord& word = impl.answer.han_words[i];
    out[i] = {impl.engine->index().han()[word.han[0]].code_point, word.log_prob};
  }
  return impl.answer.han_count;
}

std::span<const PoolWord> Session::pool() const {
  return std::as_const(impl_->answer.pool).words();
}
std::span<const HanWord> Session::han_pool() const {
  return std::span<const HanWord>(impl_->answer.han_words).first(impl_->answer.han_count);
}
std::size_t Session::units_in_line() {
  return impl_->ngrams ? impl_->ngrams->units_in_line(impl_->text) : 4;
}
DeepStatistics Session::deep_statistics() const {
  return impl_->deep ? impl_->deep->statistics() : DeepStatistics{};
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
