#include "predict/session/session.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/utf8.h"
#include "predict/list/han_search.h"
#include "predict/session/session_impl.h"
#include "predict/source/piece_index.h"
#include "text/units.h"

namespace laya::predict {

Session::Impl::Impl(std::shared_ptr<const Engine> first) : slot(nullptr) { join(std::move(first)); }

// The version first: where a swap comes between, the next edit looks again.
Session::Impl::Impl(const EngineSlot& s) : slot(&s), slot_version(s.version()) {
  join(s.current());
}

Session::Impl::~Impl() {
  field.clear();
  leave();
}

void Session::Impl::join(std::shared_ptr<const Engine> next) {
  engine = std::move(next);
  id = engine->workbenches().new_session();
  service = engine->deep_service();
  if (service != nullptr) {
    line.emplace(service->tier());
  }
}

// Nothing of the text stays with the engine; nothing of the engine (views of its words) stays here.
void Session::Impl::leave() {
  take_back();
  line.reset();
  engine->workbenches().forget(id);
  if (std::exchange(asked_decoder, false)) {
    service->forget(id);
  }
  wipe_answers();
  rank_rows.clear();
  rank_keys.clear();
  rank_erases.clear();
}

void Session::Impl::take_new_engine() {
  if (slot == nullptr || slot->version() == slot_version) {
    return;
  }
  slot_version = slot->version();
  leave();
  join(slot->current());
}

Session::Session(const Engine& engine) : impl_(std::make_unique<Impl>(engine.shared_from_this())) {}
Session::Session(const EngineSlot& slot) : impl_(std::make_unique<Impl>(slot)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

void Session::Impl::changed(const TypedText::Delta& delta) {
  bytes_read += delta.inserted;
  field.passed_over.follow(field.text);
}

void Session::Impl::wipe_answers() {
  answer->wipe();
  if (late != nullptr) {
    late->wipe();
  }
  std::fill(weighed.begin(), weighed.end(), HanWord{});
  weighed.clear();
}

void Session::Impl::block(std::uint64_t new_revision) {
  field.clear();
  engine->workbenches().forget(id);
  if (std::exchange(asked_decoder, false)) {
    service->forget(id);
  }
  wipe_answers();
  field.revision = new_revision;
}

void Session::set_text(const FieldText& text) {
  Impl& impl = *impl_;
  const std::int64_t begin = base::monotonic_ns();
  impl.edit_begin = begin;
  impl.take_back();
  impl.take_new_engine();
  if (field_is_blocked(text.kind)) {
    if (!field_is_blocked(impl.field.kind)) {
      impl.block(text.revision);
    }
    impl.field.revision = text.revision;
    impl.field.kind = text.kind;
    return;
  }
  impl.field.kind = text.kind;
  impl.field.revision = text.revision;
  const TypedText::Delta delta = impl.field.text.assign(text.before, text.after, text.left_edge);
  if (delta.erased > 0 && delta.inserted > 0) {
    impl.field.memory.jump();
  } else {
    impl.field.memory.key(0, delta.erased, delta.inserted);
  }
  impl.offered = false;
  impl.changed(delta);
  impl.changed(impl.field.text.owe_space(text.pending_space));
  impl.field.trust.start(impl.field.text);
  impl.weighed.clear();
  impl.edit_us = microseconds(begin, base::monotonic_ns());
}

// What a key says about the typing; before the text changes.
void Session::Impl::remember(const Edit& change) {
  field.memory.key(change.at_ms, change.erase_before + change.erase_after, change.insert.size());
  if (!std::exchange(offered, false) || change.insert.empty()) {
    return;
  }
  std::string_view taken = change.insert;
  if (taken.size() > 1 && taken.back() == ' ') {
    taken.remove_suffix(1);
  }
  if (base::count_code_points(taken) > 1) {
    for (const Reply* shown : {&answer->reply, late != nullptr ? &late->reply : nullptr}) {
      for (const Candidate& candidate :
           shown != nullptr ? shown->candidates : std::span<const Candidate>()) {
        if (candidate.insert == taken && candidate.erase_before == change.erase_before) {
          std::array<char, 2 * text::kMaxUnitBytes> key;
          field.memory.accepted(
              {key.data(), text::copy_lower(candidate.text, key.data(), key.size())});
          return;
        }
      }
    }
  }
  field.memory.typed_on();
}

Status Session::edit(const Edit& change) {
  Impl& impl = *impl_;
  const std::int64_t begin = base::monotonic_ns();
  impl.edit_begin = begin;
  impl.take_back();
  impl.take_new_engine();
  impl.field.revision = change.revision;
  if (field_is_blocked(impl.field.kind)) {
    return {};  // not even its length is looked at
  }
  TypedText& text = impl.field.text;
  if (!text.can_erase(change.erase_before, change.erase_after)) {
    return Error{ErrorCode::BadArgument,
                 "session: the edit erases more text than is kept; call set_text"};
  }
  impl.remember(change);
  impl.changed(text.apply(change.erase_before, change.erase_after, change.insert));
  impl.changed(text.owe_space(change.pending_space));
  impl.field.trust.follow(text, impl.engine->mixing(), impl.answer->pool.words());
  if (change.erase_before == 0) {
    impl.field.trust.follow_han(text, change.insert.size(), impl.engine->mixing(), impl.weighed,
                                impl.engine->index().han());
  }
  impl.weighed.clear();
  impl.edit_us = microseconds(begin, base::monotonic_ns());
  return {};
}

void Session::clear() {
  impl_->take_back();
  impl_->block(impl_->field.revision);
  impl_->field.kind = FieldKind::Text;
}

const Reply& Session::decide(const DecideOptions& options) {
  Impl& impl = *impl_;
  impl.take_back();
  const std::int64_t begin = base::monotonic_ns();
  impl.answer->reply = {};
  impl.answer->reply.revision = impl.field.revision;
  impl.answer->count = 0;
  if (field_is_blocked(impl.field.kind)) {
    impl.answer->reply.silence = Silence::FieldBlocked;
    return impl.answer->reply;
  }
  const std::size_t wanted = std::min(options.candidates, Reply::kMaxCandidates);
  const bool ghost = options.ghost == Want::Yes;
  impl.question = {.wanted = wanted,
                   .searched = ghost ? std::max(wanted, GhostSearch::kBeam) : wanted,
                   .ghost = ghost,
                   .list = {options.taste, options.rank_features}};
  if (impl.late != nullptr) {
    impl.late->reply = {};
  }
  impl.offered = true;
  impl.asked_ns = begin;
  std::unique_ptr<DeepTurn> turn = options.deep == Want::Yes ? impl.ask_decoder(options) : nullptr;
  const bool here = turn != nullptr;
  const bool with_worker = impl.coming == Impl::Coming::List;
  const bool wait_for_all = options.deep_wait_us == kUntilDone && (here || with_worker);
  std::int64_t advanced = begin;
  std::int64_t listed = begin;
  std::int64_t found = begin;
  {
    WorkbenchPool::Lease bench = impl.lease();
    const Impl::CountPasses counted(impl, *bench);
    if (bench->network() != nullptr) {
      bench->network()->prepare(impl.field.text);  // a failure leaves the table to answer alone
    }
    advanced = listed = found = base::monotonic_ns();
    if (here || !wait_for_all) {
      here ? impl.answer_deep(*turn, *bench) : impl.answer_instantly(*bench);
      listed = found = base::monotonic_ns();
      if (ghost && !wait_for_all) {
        bench->find_ghost(impl.field, impl.answer.get());
        found = base::monotonic_ns();
      }
    }
  }
  if (here) {
    impl.ask_ghost(std::move(turn), *impl.answer);
  } else if (with_worker) {
    const std::int64_t now = base::monotonic_ns();
    if (impl.line->wait(deadline_of(options.deep_wait_us, impl.edit_begin, now))) {
      if (!impl.take_list_in_time() && wait_for_all) {
        WorkbenchPool::Lease bench = impl.lease();
        impl.answer_instantly(*bench);
      }
      listed = std::max(listed, base::monotonic_ns());
      found = std::max(found, listed);
    }
  }
  if (wait_for_all && impl.coming == Impl::Coming::Ghost) {
    impl.line->wait(kNoLimit);
    impl.take_ghost(impl.answer.get());
  }
  const std::int64_t end = base::monotonic_ns();
  ReplyBuffers& out = *impl.answer;
  out.reply.candidates = std::span(out.candidates).first(std::min(wanted, out.count));
  impl.pass_over(out);
  const float deep_us = out.reply.latency.deep_us;
  out.reply.latency = {impl.edit_us,
                       microseconds(begin, advanced),
                       microseconds(advanced, listed),
                       microseconds(listed, found),
                       impl.edit_us + microseconds(begin, end),
                       deep_us};
  return out.reply;
}

WorkbenchPool::Lease Session::Impl::lease() {
  WorkbenchPool::Lease bench = engine->workbenches().lease(id);
  bench->read(field);
  return bench;
}

// The list goes to the user.
void Session::Impl::pass_over(const ReplyBuffers& out) {
  for (std::size_t i = 0; i < out.reply.candidates.size(); ++i) {
    if (out.shown[i].word != nullptr) {
      field.passed_over.shown(out.shown[i].word->key);
    } else if (out.shown[i].offer != nullptr && out.candidates[i].erase_before == 0) {
      std::array<char, 2 * text::kMaxUnitBytes> key;
      field.passed_over.shown(
          {key.data(), text::copy_lower(out.candidates[i].text, key.data(), key.size())});
    }
  }
}

void Session::Impl::answer_instantly(Workbench& bench) {
  bench.lists().options() = question.list;
  bench.lists().build(bench.sources(), field.text, question.searched, answer.get());
  keep_for_later(bench);
}

// What the next edit, or a trainer, wants to know of the list that was just made.
void Session::Impl::keep_for_later(Workbench& bench) {
  const std::span<const HanWord> han = bench.lists().weighed_han();
  weighed.assign(han.begin(), han.end());
  if (question.list.features == Want::Yes) {
    const std::span<const float> rows = bench.lists().ranker().rows();
    const std::span<const std::string_view> keys = bench.lists().looked_at_keys();
    const std::span<const Ranked> seen = bench.lists().looked_at();
    rank_rows.assign(rows.begin(), rows.end());
    rank_keys.assign(keys.begin(), keys.end());  // in the answer's buffers, or the engine's
    rank_erases.clear();
    for (const Ranked& entry : seen) {
      rank_erases.push_back(entry.offer != nullptr ? entry.offer->erase_bytes : 0);
    }
  }
}

std::size_t Session::next_han(std::span<NextHan> out) {
  Impl& impl = *impl_;
  impl.take_back();
  if (field_is_blocked(impl.field.kind)) {
    return 0;
  }
  const std::size_t wanted = std::min(out.size(), HanSearch::kPool);
  std::unique_ptr<DeepTurn> turn = impl.read_here();
  WorkbenchPool::Lease bench = impl.lease();
  const Impl::CountPasses counted(impl, *bench);
  SearchSources sources = bench->sources();
  if (turn != nullptr && turn->prepared() && turn->source().knows_han()) {
    sources.deep = &turn->source();
  }
  bench->lists().next_han(sources, impl.field.text, wanted, impl.answer.get());
  impl.keep_for_later(*bench);
  impl.finish(std::move(turn));
  for (std::size_t i = 0; i < impl.answer->han_count; ++i) {
    const HanWord& word = impl.answer->han_words[i];
    out[i] = {impl.engine->index().han()[word.han[0]].code_point, word.log_prob};
  }
  return impl.answer->han_count;
}
std::span<const PoolWord> Session::pool() const {
  return std::as_const(impl_->answer->pool).words();
}
std::span<const HanWord> Session::han_pool() const {
  return std::span<const HanWord>(impl_->answer->han_words).first(impl_->answer->han_count);
}
RankView Session::rank_view() { return {impl_->rank_rows, impl_->rank_keys, impl_->rank_erases}; }
std::size_t Session::units_in_line() {
  impl_->take_back();
  WorkbenchPool::Lease bench = impl_->lease();
  return bench->ngrams() != nullptr ? bench->ngrams()->units_in_line(impl_->field.text) : 4;
}

void Session::warm_up() {
  constexpr std::string_view kSample = "See you tomorrow, 我们明天再说 don't wor";
  const FieldKind kind = impl_->field.kind;
  const std::uint64_t revision = impl_->field.revision;
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
  impl_->field.kind = kind;
  impl_->field.revision = revision;
  impl_->bytes_read = 0;
}

std::uint64_t Session::bytes_read() const { return impl_->bytes_read; }

}  // namespace laya::predict
