#include "laya/type/type_editor.h"

#include <algorithm>

#include "text/grapheme.h"

namespace laya::apps {
TypeEditor::TypeEditor(const predict::Engine& engine, std::int32_t deep_wait_us,
                       setup::RemoteAnswers* remote)
    : session_(engine), pinyin_(engine), remote_(remote), deep_wait_us_(deep_wait_us) {
  session_.warm_up();
  tell_whole_text();
}

double TypeEditor::saved_percent() const {
  if (characters_ == 0 || keys_ >= characters_) {
    return 0;
  }
  return 100.0 * (1.0 - static_cast<double>(keys_) / static_cast<double>(characters_));
}

void TypeEditor::type(std::string_view text) {
  ++keys_;
  insert(ghost_.typed(text));
}

void TypeEditor::insert(const predict::Change& change, std::size_t erase_before) {
  stale_ = true;
  predict::Edit edit;
  edit.revision = ghost_.revision();
  edit.erase_before = std::min(erase_before, before_.size());
  edit.insert = change.insert;
  edit.pending_space = ghost_.pending_space();
  before_.erase(before_.size() - edit.erase_before);
  before_ += change.insert;
  characters_ += text::count_graphemes(change.insert);
  if (Status status = session_.edit(edit); !status) {
    tell_whole_text();
  }
}

void TypeEditor::pick(std::size_t number) {
  if (number == 0 || number > offers_.size()) {
    return;
  }
  ++keys_;
  predict::Candidate candidate;
  candidate.text = offers_[number - 1].text;
  candidate.insert = offers_[number - 1].insert;
  const std::size_t erase_before = offers_[number - 1].erase_before;
  insert(ghost_.accept(candidate), erase_before);
}

void TypeEditor::erase(std::size_t before_bytes, std::size_t after_bytes) {
  stale_ = true;
  predict::Edit edit;
  edit.revision = ghost_.text_changed();
  edit.erase_before = std::min(before_bytes, before_.size());
  edit.erase_after = std::min(after_bytes, after_.size());
  before_.erase(before_.size() - edit.erase_before);
  after_.erase(0, edit.erase_after);
  // Near the session's horizon it no longer has what follows: tell it all again.
  if (Status status = session_.edit(edit); !status) {
    tell_whole_text();
  }
}

void TypeEditor::tell_whole_text() {
  stale_ = true;
  predict::FieldText field;
  field.revision = ghost_.revision();
  field.before = before_;
  field.after = after_;
  field.pending_space = ghost_.pending_space();
  session_.set_text(field);
}

void TypeEditor::list_pinyin() {
  offers_.clear();
  for (const std::string& text : pinyin_.candidates()) {
    offers_.push_back({text, text, 0, predict::Tier::Instant});
  }
}

void TypeEditor::show(const predict::Reply& reply) {
  ghost_.show(reply);
  offers_.resize(reply.candidates.size());
  for (std::size_t i = 0; i < offers_.size(); ++i) {
    offers_[i].text.assign(reply.candidates[i].text);
    offers_[i].insert.assign(reply.candidates[i].insert);
    offers_[i].erase_before = reply.candidates[i].erase_before;
    offers_[i].tier = reply.tier;
  }
  show_remote_offers();
  if (reply.tier == predict::Tier::Deep && deep_us_ == 0) {
    deep_us_ = static_cast<double>(reply.latency.deep_us);
    deep_latency_.record(static_cast<std::int64_t>(deep_us_ * 1000));
  }
}

void TypeEditor::decide() {
  hidden_ = false;
  stale_ = is_composing();  // then no answer about the text is wanted
  if (stale_) {
    list_pinyin();
    return;
  }
  predict::DecideOptions options;
  options.candidates = kCandidates;
  options.deep_wait_us = deep_wait_us_;
  const predict::Reply& reply = session_.decide(options);
  const predict::Latency& took = reply.latency;
  last_us_ = static_cast<double>(took.total_us);
  latency_.record(static_cast<std::int64_t>(last_us_ * 1000));
  instant_us_ =
      static_cast<double>(took.edit_us + took.advance_us + took.candidates_us + took.ghost_us);
  instant_latency_.record(static_cast<std::int64_t>(instant_us_ * 1000));
  deep_us_ = 0;
  remote_offers_.clear();
  show(reply);
  if (remote_ != nullptr) {
    remote_->ask(session_);
  }
}

// The places that they take are the last ones: nothing that is likelier moves under a finger.
void TypeEditor::show_remote_offers() {
  std::vector<Offer> remote;
  for (const setup::RemoteCandidate& candidate : remote_offers_) {
    const bool known = std::any_of(offers_.begin(), offers_.end(), [&](const Offer& offer) {
      return offer.text == candidate.text;
    });
    if (!known && remote.size() < kRemoteCandidates) {
      remote.push_back({candidate.text, candidate.insert, 0, setup::RemoteCandidate::kTier});
    }
  }
  offers_.resize(std::min(offers_.size(), kCandidates - remote.size()));
  offers_.insert(offers_.end(), remote.begin(), remote.end());
}

bool TypeEditor::take_remote_answers() {
  if (remote_ == nullptr || !remote_->take(ghost_.revision(), 0, &remote_offers_)) {
    return false;
  }
  if (stale_ || hidden_) {
    remote_offers_.clear();
    return false;
  }
  show_remote_offers();
  return !remote_offers_.empty();
}

bool TypeEditor::take_deep_answers() {
  bool changed = false;
  while (const predict::Reply* reply = session_.deep_reply(0)) {
    if (!stale_ && !hidden_) {
      show(*reply);
      changed = true;
    }
  }
  return changed;
}

}  // namespace laya::apps
