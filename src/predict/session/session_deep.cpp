#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "predict/session/session_impl.h"

namespace laya::predict {

// Everything is the session's again; what was asked is forgotten.
void Session::Impl::take_back() {
  if (line) {
    line->cancel();
  }
  submitted = false;
  list_task = ghost_task = 0;
}

// Makes the decoder a source once it is loaded.
bool Session::Impl::engage() {
  if (!deep && service != nullptr && service->model() != nullptr) {
    deep.emplace(*service->model(), engine->index(), engine->ngrams(), engine->threads(),
                 engine->deep_options(), &service->prefixes());
    deep->follow(text, {.erased = 0, .inserted = text.before().size(), .dropped = 0});
    sources.deep = &*deep;
  }
  return deep.has_value();
}

// True if the decoder will say something about the text: it is at the caret already, or the worker
// brings it there (submitted).
bool Session::Impl::ask_decoder(const DecideOptions& options) {
  if (service == nullptr) {
    return false;
  }
  if (service->model() == nullptr) {
    if (options.deep_wait_us == kUntilDone) {
      if (!service->load()) {
        return false;
      }
    } else {
      service->request();
      return false;
    }
  }
  late.prepared = late.listed = late.ghost = false;
  late.passes = 0;
  if (deep && !deep->needs_pass(text)) {
    late.prepared = deep->prepare(text).has_value();
    late.done_ns = base::monotonic_ns();
    return late.prepared;
  }
  submitted = line->submit(read_work);
  return submitted;
}

void Session::Impl::read_text(const base::CancelFlag& cancel) {
  engage();
  const std::uint64_t before = deep->statistics().passes;
  late.prepared = deep->prepare(text, &cancel).has_value();
  late.passes = static_cast<std::uint32_t>(deep->statistics().passes - before);
  late.done_ns = base::monotonic_ns();
}

// The decoder's list in place of the instant one. A ghost that was found meanwhile stays if it
// fits.
void Session::Impl::answer_deep() {
  answer.reply.silence = Silence::Answered;
  lists.build(sources, text, question.searched, &answer);
  answer.reply.tier = Tier::Deep;
  answer.reply.deep_passes = late.passes;
  answer.reply.latency.deep_us = microseconds(asked_ns, late.done_ns);
  answer.reply.has_ghost = answer.reply.has_ghost && keeps_ghost(answer);
}

// Leaves list and ghost to the worker, for deep_reply().
void Session::Impl::ask_later(bool list) {
  std::size_t task = submitted ? 1 : 0;
  line->acknowledge();
  list_is_late = list;
  if (list && line->submit(list_work)) {
    list_task = ++task;
  }
  if (question.ghost && (list ? list_task != 0 : may_have_ghost(answer)) &&
      line->submit(ghost_work)) {
    ghost_task = ++task;
  }
}

void Session::Impl::list_late(const base::CancelFlag&) {
  if (!late.prepared) {
    return;
  }
  Reply& reply = late_answer.reply;
  reply = {};
  reply.revision = revision;
  reply.tier = Tier::Deep;
  reply.deep_passes = late.passes;
  lists.build(sources, text, question.searched, &late_answer);
  reply.candidates =
      std::span(late_answer.candidates).first(std::min(question.wanted, late_answer.count));
  late.done_ns = base::monotonic_ns();
  reply.latency.deep_us = microseconds(asked_ns, late.done_ns);
  late.listed = true;
}

// Words of the list that a ghost may begin with, likeliest first.
std::size_t Session::Impl::ghost_starts(const ReplyBuffers& from,
                                        std::span<GhostStart> starts) const {
  std::size_t size = 0;
  float log_mass = 0;
  const bool typed = !text.open_word().empty();
  if (typed) {
    log_mass = std::log(std::max(from.pool_mass, 1e-30F));
    const std::string_view prefix(from.prefix_bytes.data(), from.prefix_length);
    for (const PoolWord& word : from.pool.words()) {
      if (word.key == prefix && word.score != kImpossible) {
        starts[size] = {};
        starts[size].kind = GhostStart::Kind::Word;
        starts[size++].log_prob = std::min(0.0F, word.score - log_mass);
        break;
      }
    }
  }
  std::array<std::size_t, GhostSearch::kBeam> places;
  const std::size_t count = likeliest_starts(from, places);
  for (std::size_t i = 0; i < count && size < starts.size(); ++i) {
    starts[size] = {};
    starts[size].kind = GhostStart::Kind::Word;
    starts[size].insert = from.candidates[places[i]].insert;
    starts[size++].log_prob = std::min(0.0F, from.shown[places[i]].score - log_mass);
  }
  // Insertion sort: few, ties as they stand, and std::stable_sort allocates.
  for (std::size_t i = 1; i < size; ++i) {
    const GhostStart start = starts[i];
    std::size_t at = i;
    for (; at > 0 && starts[at - 1].log_prob < start.log_prob; --at) {
      starts[at] = starts[at - 1];
    }
    starts[at] = start;
  }
  return size;
}

void Session::Impl::ghost_late(const base::CancelFlag& cancel) {
  const ReplyBuffers& from = list_is_late ? late_answer : answer;
  if (!late.prepared || (list_is_late && (!late.listed || !may_have_ghost(late_answer)))) {
    return;
  }
  std::array<GhostStart, GhostSearch::kBeam> starts;
  DeepGhostRequest request;
  request.starts = std::span(starts).first(ghost_starts(from, starts));
  request.workspace = &deep->workspace();
  request.cache = &deep->cache();
  request.root_probs = deep->root_probs();
  request.closed_bytes = deep->closed_bytes();
  const NodesOfList known(deep->tree());
  request.known = &known;
  request.text = &text;
  request.sources = instant;
  request.vocabulary =
      engine->tokenizer() != nullptr ? &engine->tokenizer()->vocabulary() : nullptr;
  request.limits.next_word_after = text.next_word_after();
  request.decoder_share = shares_of(sources, text, {}).deep;
  request.cancel = &cancel;
  DeepGhost& ghost = service->ghost();
  const std::size_t nodes = request.cache->node_count();
  const Result<bool> found = ghost.search(request);
  if (request.cache->node_count() > nodes) {
    request.cache->drop_nodes_from(static_cast<model::KvNodeId>(nodes));
  }
  late.passes += static_cast<std::uint32_t>(ghost.passes());
  if (found && *found) {
    late.ghost = true;
    late.ghost_text.assign(ghost.text());
    late.ghost_log_prob = ghost.log_prob();
  }
  late.done_ns = base::monotonic_ns();
  ghost.forget();
}

// Whether the ghost that is shown begins with a word of `out`'s list, or goes on behind the typed
// one.
bool Session::Impl::keeps_ghost(const ReplyBuffers& out) const {
  const std::string_view ghost = answer.reply.ghost.text;
  for (std::size_t i = 0; i < std::min<std::size_t>(out.count, 3); ++i) {
    if (out.shown[i].offer == nullptr && ghost.starts_with(out.candidates[i].insert)) {
      return true;
    }
  }
  return ghost.starts_with(' ');
}

void Session::Impl::take_ghost(Reply* reply) const {
  reply->has_ghost = late.ghost;
  reply->ghost = {};
  if (late.ghost) {
    reply->ghost = {late.ghost_text, std::min(0.0F, late.ghost_log_prob)};
  }
  reply->ghost_tier = Tier::Deep;
  reply->deep_passes = late.passes;
  reply->latency.deep_us = microseconds(asked_ns, late.done_ns);
}

const Reply* Session::deep_reply(std::int32_t wait_us) {
  Impl& impl = *impl_;
  if (impl.list_task == 0 && impl.ghost_task == 0) {
    return nullptr;
  }
  const std::int64_t now = base::monotonic_ns();
  const std::int64_t deadline = deadline_of(wait_us, impl.edit_begin, now);
  impl.line->acknowledge();
  bool news = false;
  if (impl.list_task != 0) {
    if (!impl.line->wait_finished(impl.list_task, deadline)) {
      return nullptr;
    }
    impl.list_task = 0;
    if (!impl.late.listed) {  // the decoder could not
      impl.ghost_task = 0;
      impl.line->acknowledge();
      return nullptr;
    }
    Reply& reply = impl.late_answer.reply;
    reply.has_ghost = impl.answer.reply.has_ghost && impl.keeps_ghost(impl.late_answer);
    reply.ghost = reply.has_ghost ? impl.answer.reply.ghost : Ghost{};
    impl.show(impl.late_answer);
    news = true;
  }
  // With the list there is no waiting for the ghost; alone there is.
  if (impl.ghost_task != 0 && impl.line->wait_finished(impl.ghost_task, news ? now : deadline)) {
    impl.ghost_task = 0;
    if (!impl.list_is_late) {
      impl.late_answer.reply = impl.answer.reply;
    }
    impl.take_ghost(&impl.late_answer.reply);
    news = true;
  }
  if (!deep_pending()) {
    // The last task may have ended since the signals were taken: nothing is left to wake up for.
    impl.line->acknowledge();
  }
  return news ? &impl.late_answer.reply : nullptr;
}

bool Session::deep_pending() const { return impl_->list_task != 0 || impl_->ghost_task != 0; }

int Session::deep_fd() { return impl_->line ? impl_->line->fd() : -1; }

DeepState Session::deep_state() const {
  if (impl_->service == nullptr) {
    return DeepState::None;
  }
  if (impl_->service->model() != nullptr) {
    return DeepState::Ready;
  }
  return impl_->service->failure() ? DeepState::Failed : DeepState::Waiting;
}

}  // namespace laya::predict
