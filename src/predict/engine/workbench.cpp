#include "predict/engine/workbench.h"

#include <algorithm>
#include <array>
#include <utility>

#include "predict/engine/engine.h"
#include "text/tokenizer.h"

namespace laya::predict {
Workbench::Workbench(const Engine& engine)
    : engine_(&engine),
      lists_({&engine.index(), engine.ngrams(), engine.ranker()}),
      ghost_search_(engine.network() != nullptr ? engine.network()->config().vocabulary_size : 0) {
  if (engine.ngrams() != nullptr) {
    ngrams_.emplace(*engine.ngrams(), engine.index());
  }
  if (engine.network() != nullptr) {
    network_.emplace(*engine.network(), *engine.tokenizer(), engine.index(), engine.ngrams(),
                     engine.threads());
  }
  for (const OfferSourceFactory& make : engine.offer_sources()) {
    own_offers_.push_back(make());
    offers_.push_back(own_offers_.back().get());
  }
  seen_.reserve(2 * kKeptBytes + 8);
  sources_.network = network();
  sources_.ngrams = ngrams();
  sources_.index = &engine.index();
  sources_.mixing = &engine.mixing();
  sources_.offers = offers_;
  sources_.block_list = engine.block_list();
}

void Workbench::clear() {
  if (ngrams_) {
    ngrams_->clear();
  }
  if (network_) {
    network_->clear();
  }
  for (OfferSource* source : offers_) {
    source->clear();
  }
  lists_.forget_weighed_han();
  std::fill(seen_.begin(), seen_.end(), '\0');
  seen_.clear();
  seen_cut_ = 0;
  resume_.reset();
  sources_.passed_over = nullptr;
  sources_.trust = nullptr;
  sources_.memory = nullptr;
}

void Workbench::begin(const NetworkPlace* place) {
  clear();
  if (place != nullptr) {
    resume_ = *place;
  }
}

std::optional<NetworkPlace> Workbench::place() const {
  return network_ ? network_->place() : std::nullopt;
}

void Workbench::read(const TextField& field) {
  sources_.passed_over = &field.passed_over;
  sources_.trust = &field.trust;
  sources_.memory = &field.memory;
  const std::string_view now = field.text.before();
  const TypedText::Delta delta = field.text.change_since(seen_, seen_cut_);
  seen_.assign(now);
  seen_cut_ = field.text.cut_bytes();
  if (delta.erased == 0 && delta.inserted == 0 && delta.dropped == 0) {
    return;
  }
  if (ngrams_) {
    ngrams_->follow(field.text, delta);
  }
  if (network_) {
    network_->follow(field.text, delta);
    if (resume_) {
      network_->resume(*resume_);
      resume_.reset();
    }
  }
}

bool may_have_ghost(const TypedText& text, const ReplyBuffers& out) {
  const Silence silence = out.reply.silence;
  // Nothing is known in an empty field: a ghost there is a guess about a stranger.
  return silence != Silence::HalfCharacter && silence != Silence::MidWord &&
         silence != Silence::NeedsSpace && text.rest_of_word().empty() && !text.in_address() &&
         !text.before().empty();
}

std::size_t likeliest_starts(const ReplyBuffers& from,
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

void Workbench::find_ghost(const TextField& field, ReplyBuffers* out) {
  const TypedText& text = field.text;
  Reply& reply = out->reply;
  reply.has_ghost = false;
  if (!may_have_ghost(text, *out)) {
    return;
  }
  std::array<GhostStart, GhostSearch::kBeam> starts;
  std::array<std::array<TokenId, 8>, GhostSearch::kBeam> pieces;
  std::size_t size = 0;
  if (text.open_word().empty()) {
    starts[size++] = {};
  } else {
    // The list's words, and the typed word itself if it may be whole already: "see" ▶ " you".
    const float log_mass = out->log_mass();
    const std::string_view prefix(out->prefix_bytes.data(), out->prefix_length);
    const auto add = [&](const PoolWord& word, std::string_view insert) {
      GhostStart& start = starts[size];
      start = {};
      start.kind = GhostStart::Kind::Word;
      start.insert = insert;
      start.word = word.word;
      start.log_prob = std::min(0.0F, word.score - log_mass);
      if (network_ && network_->tree().ready()) {
        const std::span<const TokenId> spelled =
            network_->pieces_of(word.word, word.key, word.group);
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
      engine_->tokenizer() != nullptr ? &engine_->tokenizer()->vocabulary() : nullptr;
  if (ghost_search_.search(sources_, vocabulary, text, std::span(starts.data(), size), limits)) {
    reply.has_ghost = true;
    reply.ghost.text = out->keep_ghost(ghost_search_.text());
    reply.ghost.log_prob = std::min(0.0F, ghost_search_.log_prob());
  }
}

}  // namespace laya::predict
