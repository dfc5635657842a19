#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "predict/session/session_impl.h"

namespace laya::predict {
namespace {

// Places of the list that a ghost of the instant tier may begin with to stay under it.
constexpr std::size_t kGhostPlaces = 3;

}  // namespace

std::unique_ptr<DeepTurn> Session::Impl::fetch() {
  coming = Coming::Nothing;
  return line ? std::unique_ptr<DeepTurn>(static_cast<DeepTurn*>(line->take().release())) : nullptr;
}

void Session::Impl::finish(std::unique_ptr<DeepTurn> turn) {
  if (turn == nullptr) {
    return;
  }
  const DeepStatistics& now = turn->source().statistics();
  statistics.keys += now.keys - turn_began.keys;
  statistics.keys_with_pass += now.keys_with_pass - turn_began.keys_with_pass;
  statistics.passes += now.passes - turn_began.passes;
  statistics.columns += now.columns - turn_began.columns;
  statistics.heads += now.heads - turn_began.heads;
  network_passes += turn->network_passes();
  service->turns().give_back(std::move(turn));
}

void Session::Impl::take_back() {
  std::unique_ptr<DeepTurn> turn = fetch();
  if (turn != nullptr && turn->listed()) {
    turn->swap_weighed(&weighed);  // it was made, if not shown: what follows teaches all the same
  }
  finish(std::move(turn));
}

std::unique_ptr<DeepTurn> Session::Impl::ask_decoder(const DecideOptions& options) {
  if (service == nullptr) {
    return nullptr;
  }
  if (service->model() == nullptr) {
    if (options.deep_wait_us != kUntilDone) {
      service->request();
      return nullptr;
    }
    if (!service->load()) {
      return nullptr;
    }
  }
  std::unique_ptr<DeepTurn> turn = service->turns().take(id);
  if (turn == nullptr) {
    return nullptr;
  }
  if (late == nullptr) {
    late = std::make_unique<ReplyBuffers>();
  }
  asked_decoder = true;
  turn_began = turn->source().statistics();
  turn->ask(id, field, question);
  if (!turn->needs_pass()) {
    turn->read(nullptr);
    if (turn->prepared()) {
      return turn;
    }
    finish(std::move(turn));
    return nullptr;
  }
  turn->set_step(DeepTurn::Step::List);
  line->submit(std::move(turn));
  coming = Coming::List;
  list_is_late = true;
  return nullptr;
}

std::unique_ptr<DeepTurn> Session::Impl::read_here() {
  if (service == nullptr || service->model() == nullptr) {
    return nullptr;
  }
  std::unique_ptr<DeepTurn> turn = service->turns().take(id);
  if (turn != nullptr) {
    asked_decoder = true;
    turn_began = turn->source().statistics();
    turn->ask(id, field, question);
    turn->read(nullptr);
  }
  return turn;
}

void Session::Impl::answer_deep(DeepTurn& turn, Workbench& bench) {
  turn.make_list(bench, answer.get());
  keep_for_later(bench);
  answer->reply.deep_passes = turn.passes();
  answer->reply.latency.deep_us = microseconds(asked_ns, turn.done_ns());
}

bool Session::Impl::take_list_in_time() {
  std::unique_ptr<DeepTurn> turn = fetch();
  if (!turn->listed()) {
    finish(std::move(turn));
    return false;
  }
  const Reply instant = answer->reply;
  turn->swap_list(&answer);
  turn->swap_weighed(&weighed);
  // `turn` holds the instant answer's buffers now: a ghost that was found meanwhile stays if it fits.
  Reply& reply = answer->reply;
  reply.has_ghost = instant.has_ghost && keeps_ghost(instant.ghost.text, *answer);
  if (reply.has_ghost) {
    reply.ghost = {answer->keep_ghost(instant.ghost.text), instant.ghost.log_prob};
  }
  reply.deep_passes = turn->passes();
  reply.latency.deep_us = microseconds(asked_ns, turn->done_ns());
  ask_ghost(std::move(turn), *answer);
  return true;
}

void Session::Impl::ask_ghost(std::unique_ptr<DeepTurn> turn, const ReplyBuffers& list) {
  if (!question.ghost || !may_have_ghost(field.text, list)) {
    finish(std::move(turn));
    return;
  }
  list_is_late = &list == late.get();
  turn->start_ghost(list);
  turn->set_step(DeepTurn::Step::Ghost);
  line->submit(std::move(turn));
  coming = Coming::Ghost;
}

bool Session::Impl::keeps_ghost(std::string_view ghost, const ReplyBuffers& out) const {
  for (std::size_t i = 0; i < std::min(out.count, kGhostPlaces); ++i) {
    if (out.shown[i].offer == nullptr && ghost.starts_with(out.candidates[i].insert)) {
      return true;
    }
  }
  return ghost.starts_with(' ');
}

void Session::Impl::take_ghost(ReplyBuffers* out) {
  std::unique_ptr<DeepTurn> turn = fetch();
  Reply& reply = out->reply;
  reply.has_ghost = turn->has_ghost();
  reply.ghost = {};
  if (reply.has_ghost) {
    reply.ghost = {out->keep_ghost(turn->ghost()), std::min(0.0F, turn->ghost_log_prob())};
  }
  reply.ghost_tier = Tier::Deep;
  reply.deep_passes = turn->passes();
  reply.latency.deep_us = microseconds(asked_ns, turn->done_ns());
  finish(std::move(turn));
}

const Reply* Session::deep_reply(std::int32_t wait_us) {
  Impl& impl = *impl_;
  if (!deep_pending()) {
    return nullptr;
  }
  impl.line->acknowledge();
  if (!impl.line->wait(deadline_of(wait_us, impl.edit_begin, base::monotonic_ns()))) {
    return nullptr;
  }
  if (impl.coming == Impl::Coming::List) {
    std::unique_ptr<DeepTurn> turn = impl.fetch();
    if (!turn->listed()) {  // the decoder could not
      impl.finish(std::move(turn));
      return nullptr;
    }
    turn->swap_list(&impl.late);
    turn->swap_weighed(&impl.weighed);
    Reply& reply = impl.late->reply;
    const Reply& instant = impl.answer->reply;
    reply.has_ghost = instant.has_ghost && impl.keeps_ghost(instant.ghost.text, *impl.late);
    reply.ghost = reply.has_ghost ? instant.ghost : Ghost{};
    reply.deep_passes = turn->passes();
    reply.latency.deep_us = microseconds(impl.asked_ns, turn->done_ns());
    impl.pass_over(*impl.late);
    impl.ask_ghost(std::move(turn), *impl.late);
    return &reply;
  }
  if (!impl.list_is_late) {
    impl.late->reply = impl.answer->reply;  // the list stays, where it is
  }
  impl.take_ghost(impl.late.get());
  return &impl.late->reply;
}

bool Session::deep_pending() const { return impl_->coming != Impl::Coming::Nothing; }

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

DeepStatistics Session::deep_statistics() const { return impl_->statistics; }

std::uint64_t Session::passes() const { return impl_->network_passes; }

}  // namespace laya::predict
