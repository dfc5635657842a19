#include "predict/engine/deep_turn.h"

#include <algorithm>

#include "base/clock.h"
#include "predict/engine/deep_service.h"
#include "predict/engine/engine.h"
#include "predict/engine/workbench_pool.h"
#include "predict/list/search_sources.h"
#include "text/tokenizer.h"

namespace laya::predict {
namespace {

SearchSources with_decoder(const Workbench& bench, DeepSource* decoder) {
  SearchSources all = bench.sources();
  all.deep = decoder;
  return all;
}

}  // namespace

DeepTurn::DeepTurn(const Engine& engine, DeepService& service)
    : engine_(&engine),
      service_(&service),
      source_(*service.model(), engine.index(), engine.ngrams(), engine.threads(),
              engine.deep_options(), &service.prefixes()) {}

void DeepTurn::ask(SessionId session, const TextField& field, const Question& question) {
  const TypedText::Delta delta =
      field.text.change_since(field_.text.before(), field_.text.cut_bytes());
  const bool changed = delta.erased != 0 || delta.inserted != 0 || delta.dropped != 0 ||
                       field_.text.after() != field.text.after();
  session_ = session;
  field_ = field;
  question_ = question;
  if (changed) {
    source_.follow(field_.text, delta);
  }
  prepared_ = listed_ = false;
  start_count_ = ghost_size_ = 0;
  passes_ = 0;
  network_passes_ = 0;
}

void DeepTurn::hand_over(SessionId next) {
  source_.hand_over(next);
  field_.clear();
  session_ = next;
}

void DeepTurn::forget() {
  source_.clear();
  field_.clear();
  list_->wipe();
  std::fill(weighed_.begin(), weighed_.end(), HanWord{});
  weighed_.clear();
  ghost_text_.fill('\0');
  for (Start& start : starts_) {
    start.insert.fill('\0');
  }
  start_count_ = ghost_size_ = 0;
  session_ = kNoSession;
}

void DeepTurn::read(const base::CancelFlag* cancel) {
  const std::uint64_t before = source_.statistics().passes;
  prepared_ = source_.prepare(field_.text, cancel).has_value();
  passes_ += static_cast<std::uint32_t>(source_.statistics().passes - before);
  done_ns_ = base::monotonic_ns();
}

void DeepTurn::make_list(Workbench& bench, ReplyBuffers* out) {
  bench.read(field_);
  bench.lists().options() = question_.list;
  bench.lists().build(with_decoder(bench, &source_), field_.text, question_.searched, out);
  out->reply.tier = Tier::Deep;
}

// Words of the list that a ghost may begin with, likeliest first.
void DeepTurn::start_ghost(const ReplyBuffers& list) {
  start_count_ = ghost_size_ = 0;
  const auto add = [this](std::string_view insert, float log_prob) {
    // Insertion: few, ties as they stand.
    std::size_t at = start_count_++;
    for (; at > 0 && starts_[at - 1].log_prob < log_prob; --at) {
      starts_[at] = starts_[at - 1];
    }
    Start& start = starts_[at];
    start.log_prob = log_prob;
    start.size = std::min(insert.size(), start.insert.size());
    std::copy_n(insert.begin(), start.size, start.insert.begin());
  };
  float log_mass = 0;
  if (!field_.text.open_word().empty()) {
    log_mass = list.log_mass();
    const std::string_view prefix(list.prefix_bytes.data(), list.prefix_length);
    for (const PoolWord& word : list.pool.words()) {
      if (word.key == prefix && word.score != kImpossible) {
        add({}, std::min(0.0F, word.score - log_mass));
        break;
      }
    }
  }
  std::array<std::size_t, GhostSearch::kBeam> places;
  const std::size_t count = likeliest_starts(list, places);
  for (std::size_t i = 0; i < count && start_count_ < starts_.size(); ++i) {
    add(list.candidates[places[i]].insert, std::min(0.0F, list.shown[places[i]].score - log_mass));
  }
}

void DeepTurn::run(const base::CancelFlag& cancel) {
  if (step_ == Step::Ghost) {
    find_ghost(cancel);
    return;
  }
  if (!prepared_) {
    read(&cancel);
  }
  if (!prepared_ || cancel.cancelled()) {
    return;
  }
  WorkbenchPool::Lease bench = engine_->workbenches().lease(session_);
  const std::uint64_t before = bench->network_passes();
  list_->reply = {};
  list_->reply.revision = field_.revision;
  make_list(*bench, list_.get());
  list_->reply.candidates =
      std::span(list_->candidates).first(std::min(question_.wanted, list_->count));
  const std::span<const HanWord> han = bench->lists().weighed_han();
  weighed_.assign(han.begin(), han.end());
  network_passes_ += bench->network_passes() - before;
  listed_ = true;
  done_ns_ = base::monotonic_ns();
}

void DeepTurn::find_ghost(const base::CancelFlag& cancel) {
  if (!prepared_) {
    return;
  }
  WorkbenchPool::Lease bench = engine_->workbenches().lease(session_);
  const std::uint64_t before = bench->network_passes();
  bench->read(field_);
  std::array<GhostStart, GhostSearch::kBeam> starts;
  for (std::size_t i = 0; i < start_count_; ++i) {
    starts[i] = {};
    starts[i].kind = GhostStart::Kind::Word;
    starts[i].insert = {starts_[i].insert.data(), starts_[i].size};
    starts[i].log_prob = starts_[i].log_prob;
  }
  DeepGhostRequest request;
  request.starts = std::span(starts).first(start_count_);
  request.workspace = &source_.workspace();
  request.cache = &source_.cache();
  request.root_probs = source_.root_probs();
  request.closed_bytes = source_.closed_bytes();
  const NodesOfList known(source_.tree());
  request.known = &known;
  request.text = &field_.text;
  request.sources = bench->sources();
  request.vocabulary =
      engine_->tokenizer() != nullptr ? &engine_->tokenizer()->vocabulary() : nullptr;
  request.limits.next_word_after = field_.text.next_word_after();
  request.decoder_share = shares_of(with_decoder(*bench, &source_), field_.text, {}).deep;
  request.cancel = &cancel;
  DeepGhost& ghost = service_->ghost();
  const std::size_t nodes = request.cache->node_count();
  const Result<bool> found = ghost.search(request);
  if (request.cache->node_count() > nodes) {
    request.cache->drop_nodes_from(static_cast<model::KvNodeId>(nodes));
  }
  passes_ += static_cast<std::uint32_t>(ghost.passes());
  if (found && *found) {
    ghost_size_ = std::min(ghost.text().size(), ghost_text_.size());
    std::copy_n(ghost.text().begin(), ghost_size_, ghost_text_.begin());
    ghost_log_prob_ = ghost.log_prob();
  }
  ghost.forget();
  network_passes_ += bench->network_passes() - before;
  done_ns_ = base::monotonic_ns();
}

}  // namespace laya::predict
