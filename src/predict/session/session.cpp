#include "predict/session/session.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/utf8.h"
#include "predict/session/session_impl.h"
#include "predict/source/piece_index.h"
#include "text/units.h"

namespace laya::predict {

Session::Impl::Impl(const Engine& e)
    : engine(&e),
      lists({&e.index(), e.ngrams(), e.ranker()}, &memory),
      ghost_search(e.network() != nullptr ? e.network()->config().vocabulary_size : 0),
      service(e.deep_service()) {
  if (e.ngrams() != nullptr) {
    ngrams.emplace(*e.ngrams(), e.index());
  }
  if (e.network() != nullptr) {
    network.emplace(*e.network(), *e.tokenizer(), e.index(), e.ngrams(), e.threads());
  }
  for (const OfferSourceFactory& make : e.offer_sources()) {
    own_offers.push_back(make());
    offers.push_back(own_offers.back().get());
  }
  instant = {network ? &*network : nullptr,
             ngrams ? &*ngrams : nullptr,
             &e.index(),
             &e.mixing(),
             nullptr,
             &passed_over,
             offers,
             e.block_list(),
             &trust};
  sources = instant;
  if (service != nullptr) {
    line.emplace(service->tier());
    late.ghost_text.reserve(2 * DeepGhost::kMaxBytes);
    engage();
  }
}

void Session::Impl::feed(const TypedText::Delta& delta) {
  bytes_read += delta.inserted;
  passed_over.follow(text);
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

bool Session::Impl::may_have_ghost(const ReplyBuffers& out) const {
  const Silence silence = out.reply.silence;
  // Nothing is known in an empty field: a ghost there is a guess about a stranger.
  return silence != Silence::HalfCharacter && silence != Silence::MidWord &&
         silence != Silence::NeedsSpace && text.rest_of_word().empty() && !text.in_address() &&
         !text.before().empty();
}

std::size_t Session::Impl::likeliest_starts(const ReplyBuffers& from,
                                            std::array<std::size_t, GhostSearch::kBeam>& places) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < from.count; ++i) {
    if (from.shown[i].offer != nullptr) {
      continue;
    }
    std::size_t at = size;
    while (at > 0 && from.shown[places[at - 1]].score < from.shown[i].score) {
      --at;
    }
    if (at == places.size()) {
      continue;
    }
    size = std::min(size + 1, places.size());
    std::copy_backward(places.begin() + static_cast<std::ptrdiff_t>(at),
                       places.begin() + static_cast<std::ptrdiff_t>(size - 1),
                       places.begin() + static_cast<std::ptrdiff_t>(size));
    places[at] = i;
  }
  return size;
}

void Session::Impl::find_ghost(ReplyBuffers* out) {
  Reply& reply = out->reply;
  reply.has_ghost = false;
  if (!may_have_ghost(*out)) {
    return;
  }
  const std::string_view typed = text.open_word();
  std::array<GhostStart, GhostSearch::kBeam> starts;
  std::array<std::array<TokenId, 8>, GhostSearch::kBeam> pieces;
  std::size_t size = 0;
  if (typed.empty()) {
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
    std::array<std::size_t, GhostSearch::kBeam> places;
    const std::size_t count = likeliest_starts(*out, places);
    for (std::size_t i = 0; i < count && size < starts.size(); ++i) {
      if (const PoolWord* word = out->shown[places[i]].word; word != nullptr) {
        add(*word, out->candidates[places[i]].insert);
      }
    }
  }
  GhostLimits limits;
  limits.next_word_after = text.next_word_after();
  const text::Vocabulary* vocabulary =
      engine->tokenizer() != nullptr ? &engine->tokenizer()->vocabulary() : nullptr;
  if (ghost_search.search(instant, vocabulary, text, std::span(starts.data(), size), limits)) {
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
  passed_over.clear();
  trust.clear();
  memory.clear();
  if (ngrams) {
    ngrams->clear();
  }
  if (network) {
    network->clear();
  }
  if (deep) {
    deep->clear();
  }
  for (OfferSource* source : offers) {
    source->clear();
  }
  revision = new_revision;
}

void Session::set_text(const FieldText& field) {
  const std::int64_t begin = base::monotonic_ns();
  impl_->edit_begin = begin;
  impl_->take_back();
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
  const TypedText::Delta delta = impl_->text.assign(field.before, field.after, field.left_edge);
  if (delta.erased > 0 && delta.inserted > 0) {
    impl_->memory.jump();
  } else {
    impl_->memory.key(0, delta.erased, delta.inserted);
  }
  impl_->offered = false;
  impl_->feed(delta);
  impl_->feed(impl_->text.owe_space(field.pending_space));
  impl_->trust.start(impl_->text);
  impl_->lists.forget_weighed_han();
  impl_->edit_us = microseconds(begin, base::monotonic_ns());
}

// What a key says about the typing; before the text changes.
void Session::Impl::remember(const Edit& change) {
  memory.key(change.at_ms, change.erase_before + change.erase_after, change.insert.size());
  if (!std::exchange(offered, false) || change.insert.empty()) {
    return;
  }
  std::string_view taken = change.insert;
  if (taken.size() > 1 && taken.back() == ' ') {
    taken.remove_suffix(1);
  }
  if (base::count_code_points(taken) > 1) {
    for (const ReplyBuffers* shown : {&answer, &late_answer}) {
      for (const Candidate& candidate : shown->reply.candidates) {
        if (candidate.insert == taken && candidate.erase_before == change.erase_before) {
          std::array<char, 2 * text::kMaxUnitBytes> key;
          memory.accepted({key.data(), text::copy_lower(candidate.text, key.data(), key.size())});
          return;
        }
      }
    }
  }
  memory.typed_on();
}

Status Session::edit(const Edit& change) {
  const std::int64_t begin = base::monotonic_ns();
  impl_->edit_begin = begin;
  impl_->take_back();
  impl_->revision = change.revision;
  if (field_is_blocked(impl_->kind)) {
    return {};  // not even its length is looked at
  }
  if (!impl_->text.can_erase(change.erase_before, change.erase_after)) {
    return Error{ErrorCode::BadArgument,
                 "session: the edit erases more text than is kept; call set_text"};
  }
  impl_->remember(change);
  impl_->feed(impl_->text.apply(change.erase_before, change.erase_after, change.insert));
  impl_->feed(impl_->text.owe_space(change.pending_space));
  impl_->trust.follow(impl_->text, impl_->engine->mixing(), impl_->answer.pool.words());
  if (change.erase_before == 0) {
    impl_->trust.follow_han(impl_->text, change.insert.size(), impl_->engine->mixing(),
                            impl_->lists.weighed_han(), impl_->engine->index().han());
  }
  impl_->lists.forget_weighed_han();
  impl_->edit_us = microseconds(begin, base::monotonic_ns());
  return {};
}

void Session::clear() {
  impl_->take_back();
  impl_->block(impl_->revision);
  impl_->kind = FieldKind::Text;
}

const Reply& Session::decide(const DecideOptions& options) {
  Impl& impl = *impl_;
  ReplyBuffers& out = impl.answer;
  impl.take_back();
  const std::int64_t begin = base::monotonic_ns();
  out.reply = {};
  out.reply.revision = impl.revision;
  out.count = 0;
  if (field_is_blocked(impl.kind)) {
    out.reply.silence = Silence::FieldBlocked;
    return out.reply;
  }
  const std::size_t wanted = std::min(options.candidates, Reply::kMaxCandidates);
  const bool ghost = options.ghost == Want::Yes;
  impl.lists.options() = {options.taste, options.rank_features};
  impl.late_answer.reply.candidates = {};
  impl.offered = true;
  impl.question = {wanted, ghost ? std::max(wanted, GhostSearch::kBeam) : wanted, ghost};
  impl.asked_ns = begin;
  const bool asked = options.deep == Want::Yes && impl.ask_decoder(options);
  if (impl.network) {
    impl.network->prepare(impl.text);  // a failure leaves the table to answer alone
  }
  const std::int64_t advanced = base::monotonic_ns();
  std::int64_t listed = advanced;
  std::int64_t found = advanced;
  const bool wait_for_all = asked && options.deep_wait_us == kUntilDone;
  if (!wait_for_all && (impl.submitted || !asked)) {
    impl.answer_instantly();
    listed = base::monotonic_ns();
    if (ghost) {
      impl.find_ghost(&out);
    }
    found = base::monotonic_ns();
  }
  if (asked) {
    const bool in_time =
        !impl.submitted ||
        impl.line->wait_finished(
            1, deadline_of(options.deep_wait_us, impl.edit_begin, base::monotonic_ns()));
    if (in_time && impl.late.prepared) {
      impl.answer_deep();
      if (listed == advanced) {
        listed = found = base::monotonic_ns();
      }
      if (ghost && !wait_for_all && !impl.submitted) {
        impl.find_ghost(&out);
        found = base::monotonic_ns();
      }
      impl.ask_later(false);
    } else if (in_time) {  // the decoder could not: the instant tier's answer stands
      if (wait_for_all) {
        impl.answer_instantly();
        listed = base::monotonic_ns();
      }
    } else {
      impl.ask_later(true);
    }
    if (wait_for_all && impl.ghost_task != 0) {
      impl.line->wait(kNoLimit);
      impl.ghost_task = 0;
      impl.take_ghost(&out.reply);
    }
  }
  const std::int64_t end = base::monotonic_ns();
  out.reply.candidates = std::span(out.candidates).first(std::min(wanted, out.count));
  impl.show(out);
  const float deep_us = out.reply.latency.deep_us;
  out.reply.latency = {impl.edit_us,
                       microseconds(begin, advanced),
                       microseconds(advanced, listed),
                       microseconds(listed, found),
                       impl.edit_us + microseconds(begin, end),
                       deep_us};
  return out.reply;
}

// The list goes to the user.
void Session::Impl::show(const ReplyBuffers& out) {
  for (std::size_t i = 0; i < out.reply.candidates.size(); ++i) {
    if (out.shown[i].word != nullptr) {
      passed_over.shown(out.shown[i].word->key);
    } else if (out.shown[i].offer != nullptr && out.candidates[i].erase_before == 0) {
      std::array<char, 2 * text::kMaxUnitBytes> key;
      passed_over.shown(
          {key.data(), text::copy_lower(out.candidates[i].text, key.data(), key.size())});
    }
  }
}

void Session::Impl::answer_instantly() { lists.build(instant, text, question.searched, &answer); }

std::size_t Session::next_han(std::span<NextHan> out) {
  Impl& impl = *impl_;
  impl.take_back();
  if (field_is_blocked(impl.kind)) {
    return 0;
  }
  const bool deep =
      impl.engage() && impl.deep->knows_han() && impl.deep->prepare(impl.text).has_value();
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
RankView Session::rank_view() {
  impl_->take_back();
  const std::span<const Ranked> seen = impl_->lists.looked_at();
  for (std::size_t i = 0; i < seen.size(); ++i) {
    impl_->rank_erases[i] = seen[i].offer != nullptr ? seen[i].offer->erase_bytes : 0;
  }
  return {impl_->lists.ranker().rows(), impl_->lists.looked_at_keys(),
          std::span<const std::uint16_t>(impl_->rank_erases).first(seen.size())};
}
std::size_t Session::units_in_line() {
  impl_->take_back();
  return impl_->ngrams ? impl_->ngrams->units_in_line(impl_->text) : 4;
}
DeepStatistics Session::deep_statistics() const {
  if (impl_->line) {
    impl_->line->wait(kNoLimit);
  }
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
    // The decoder reads the first words and the last: that maps its pages.
    const bool deep = i % 8 == 0 || i + 1 == kSample.size();
    decide({.candidates = Reply::kMaxCandidates,
            .ghost = Want::Yes,
            .deep = deep && impl_->service != nullptr && impl_->service->model() != nullptr
                        ? Want::Yes
                        : Want::No,
            .deep_wait_us = kUntilDone});
  }
  clear();
  impl_->kind = kind;
  impl_->revision = revision;
  impl_->bytes_read = 0;
}

std::uint64_t Session::bytes_read() const { return impl_->bytes_read; }
std::uint64_t Session::passes() const {
  if (impl_->line) {
    impl_->line->wait(kNoLimit);
  }
  return impl_->network ? impl_->network->passes() : 0;
}

}  // namespace laya::predict
