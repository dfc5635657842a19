#include "type_editor.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/grapheme.h"
#include "text/script.h"

namespace laya::apps {
namespace {

constexpr std::size_t kWordBackBytes = 256;  // Ctrl-W looks back so far

/// Where a caret at display column `column` of the line [begin, end) stands.
std::size_t at_column(std::string_view text, std::size_t begin, std::size_t end,
                      std::size_t column) {
  std::size_t at = begin;
  std::size_t width = 0;
  while (at < end) {
    const std::size_t next = text::next_grapheme(text, at);
    width += text::display_width(text.substr(at, next - at));
    if (width > column || next > end) {
      break;
    }
    at = next;
  }
  return at;
}

}  // namespace

TypeEditor::TypeEditor(const predict::Engine& engine, std::int32_t deep_wait_us,
                       RemoteAnswers* remote)
    : session_(engine), remote_(remote), deep_wait_us_(deep_wait_us) {
  session_.warm_up();
  tell_whole_text();
}

double TypeEditor::saved_percent() const {
  if (characters_ == 0 || keys_ >= characters_) {
    return 0;
  }
  return 100.0 * (1.0 - static_cast<double>(keys_) / static_cast<double>(characters_));
}

TypeEditor::Outcome TypeEditor::handle(const Key& key) {
  const bool accepts = key.kind == KeyKind::Pick || key.kind == KeyKind::Tab;
  if (accepts && stale_) {
    decide();  // keys that came in one go: what is accepted must belong to the text it goes into
  }
  switch (key.kind) {
    case KeyKind::Text:
      type(key.text);
      break;
    case KeyKind::Enter:
      type("\n");
      break;
    case KeyKind::Paste:
      // Pasted text is not typed: it counts neither as keys nor as characters.
      before_ += key.text;
      ghost_.text_changed();
      tell_whole_text();
      break;
    case KeyKind::Pick:
      pick(static_cast<std::size_t>(key.number));
      break;
    case KeyKind::Tab:
      if (!ghost().empty()) {
        ++keys_;
        insert(ghost_.accept_word());
      } else {
        pick(1);
      }
      break;
    case KeyKind::Escape:
      ghost_.dismiss();
      offers_.clear();
      hidden_ = true;
      break;
    case KeyKind::Right:
      if (!ghost().empty()) {
        ++keys_;
        insert(ghost_.accept_all());
      } else if (!after_.empty()) {
        move_caret(before_.size() + text::next_grapheme(after_, 0));
      }
      break;
    case KeyKind::End:
      if (!ghost().empty()) {
        ++keys_;
        insert(ghost_.accept_all());
      } else {
        move_caret(before_.size() + std::min(after_.find('\n'), after_.size()));
      }
      break;
    case KeyKind::Left:
      move_caret(text::previous_grapheme(before_, before_.size()));
      break;
    case KeyKind::WordLeft:
      move_caret(before_.size() - text::last_word_length(before_));
      break;
    case KeyKind::WordRight:
      move_caret(before_.size() + text::first_word_length(after_));
      break;
    case KeyKind::Home: {
      const std::size_t line = before_.rfind('\n');
      move_caret(line == std::string::npos ? 0 : line + 1);
      break;
    }
    case KeyKind::Up:
      move_caret(line_above());
      break;
    case KeyKind::Down:
      move_caret(line_below());
      break;
    case KeyKind::Backspace:
      ++keys_;
      if (owes_space()) {
        erase(0, 0);  // the space that is only shown
      } else {
        erase(before_.size() - text::previous_grapheme(before_, before_.size()), 0);
      }
      break;
    case KeyKind::EraseWord: {
      ++keys_;
      const std::string_view tail = std::string_view(before_).substr(
          before_.size() - std::min(before_.size(), kWordBackBytes));
      erase(text::last_word_length(tail), 0);
      break;
    }
    case KeyKind::EraseLine: {
      ++keys_;
      const std::size_t line = before_.rfind('\n');
      erase(line == std::string::npos ? before_.size() : before_.size() - line - 1, 0);
      break;
    }
    case KeyKind::Delete:
      ++keys_;
      erase(0, text::next_grapheme(after_, 0));
      break;
    case KeyKind::Redraw:
      break;
    case KeyKind::Quit:
      return Outcome::Quit;
  }
  if (remote_ != nullptr && (stale_ || hidden_)) {
    remote_->cancel();
    remote_offers_.clear();
  }
  return Outcome::Continue;
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

void TypeEditor::move_caret(std::size_t offset) {
  if (offset < before_.size()) {
    after_.insert(0, before_, offset);
    before_.erase(offset);
  } else {
    const std::size_t count = std::min(offset - before_.size(), after_.size());
    before_.append(after_, 0, count);
    after_.erase(0, count);
  }
  ghost_.text_changed();
  tell_whole_text();
}

std::size_t TypeEditor::line_above() const {
  const std::size_t newline = before_.rfind('\n');
  if (newline == std::string::npos) {
    return 0;
  }
  const std::size_t column = text::display_width(std::string_view(before_).substr(newline + 1));
  const std::size_t above = newline == 0 ? std::string::npos : before_.rfind('\n', newline - 1);
  return at_column(before_, above == std::string::npos ? 0 : above + 1, newline, column);
}

std::size_t TypeEditor::line_below() const {
  const std::size_t newline = after_.find('\n');
  if (newline == std::string::npos) {
    return before_.size() + after_.size();
  }
  const std::size_t line = before_.rfind('\n');
  const std::size_t column = text::display_width(
      std::string_view(before_).substr(line == std::string::npos ? 0 : line + 1));
  const std::size_t end = std::min(after_.find('\n', newline + 1), after_.size());
  return before_.size() + at_column(after_, newline + 1, end, column);
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
  stale_ = false;
  hidden_ = false;
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
  for (const RemoteCandidate& candidate : remote_offers_) {
    const bool known = std::any_of(offers_.begin(), offers_.end(), [&](const Offer& offer) {
      return offer.text == candidate.text;
    });
    if (!known && remote.size() < kRemoteCandidates) {
      remote.push_back({candidate.text, candidate.insert, 0, RemoteCandidate::kTier});
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
