#include "predict/deep/deep_context.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "base/utf8_boundary.h"
#include "text/script.h"

namespace laya::predict {
namespace {

// No token stands for more bytes of ordinary text than this on average; how much of a long text is
// looked at.
constexpr std::size_t kBytesPerToken = 6;
constexpr std::size_t kLanguageBytes = 240;

std::size_t common_bytes(std::string_view a, std::string_view b) {
  const std::string_view shorter = a.substr(0, b.size());
  const auto [end, _] = std::mismatch(shorter.begin(), shorter.end(), b.begin());
  return static_cast<std::size_t>(end - shorter.begin());
}

}  // namespace

DeepContext::DeepContext(const text::SubwordTokenizer& tokenizer, DeepOpenings openings,
                         std::size_t context_tokens, std::size_t healed_tokens)
    : tokenizer_(&tokenizer),
      openings_(std::move(openings)),
      context_tokens_(context_tokens),
      healed_tokens_(healed_tokens) {
  const std::size_t bytes = 2 * kKeptBytes + 8;
  front_.reserve(bytes);
  tail_.reserve(bytes);
  // A token is at least a byte; the front is cut as soon as it is encoded.
  tokens_.reserve(bytes);
  ends_.reserve(bytes);
  fresh_.reserve(bytes);
  fresh_ends_.reserve(bytes);
  wanted_.reserve(bytes + std::max(openings_.latin.size(), openings_.han.size()));
  wanted_ = openings_.latin;
}

void DeepContext::clear() {
  std::fill(front_.begin(), front_.end(), '\0');
  std::fill(tail_.begin(), tail_.end(), '\0');
  front_.clear();
  tail_.clear();
  tokens_.clear();
  ends_.clear();
  front_at_ = 0;
  lead_size_ = closed_bytes_ = 0;
  wanted_.assign(opening().begin(), opening().end());
}

std::size_t DeepContext::most_bytes() const { return context_tokens_ * 3 / 2 * kBytesPerToken; }

void DeepContext::begin_at(std::size_t end, std::string_view before, std::uint64_t kept_at) {
  std::size_t begin = end > most_bytes() ? end - most_bytes() : 0;
  if (begin > 0) {
    begin = base::boundary_from(before.substr(0, end), begin);
  }
  front_at_ = kept_at + begin;
  front_.clear();
  tokens_.clear();
  ends_.clear();
}

// Drops tokens at the front, down to context_tokens_, best where a word begins.
void DeepContext::cut_front() {
  constexpr std::size_t kLookAhead = 24;
  std::size_t first = tokens_.size() - context_tokens_;
  for (std::size_t i = first; i < std::min(first + kLookAhead, tokens_.size()); ++i) {
    const char byte = front_[ends_[i - 1]];
    if (byte == ' ' || byte == '\n') {
      first = i;
      break;
    }
  }
  while (first < tokens_.size() && base::is_continuation(front_[ends_[first - 1]])) {
    ++first;  // never inside a character
  }
  const std::size_t bytes = ends_[first - 1];
  front_.erase(0, bytes);
  front_at_ += bytes;
  tokens_.clear();
  ends_.clear();
  tokenizer_->encode(front_, tokens_, &ends_, text::TextPosition::Rest, &scratch_);
}

// Chinese where there is any of it not far back; English where there are letters; else as before:
// an empty field says nothing.
void DeepContext::find_language(std::string_view text) {
  const std::size_t from =
      base::boundary_from(text, text.size() > kLanguageBytes ? text.size() - kLanguageBytes : 0);
  bool letters = false;
  for (const base::Decoded& code : base::CodePoints(text.substr(from))) {
    if (text::is_han(code.code_point)) {
      han_ = true;
      return;
    }
    letters = letters || text::script_of(code.code_point) == text::Script::Latin;
  }
  han_ = han_ && !letters;
}

void DeepContext::read(const TypedText& text) {
  const std::string_view before = text.before();
  find_language(before);
  const std::size_t word = before.size() - text.open_word().size();
  const bool space = word > 0 && before[word - 1] == ' ';
  const bool line_start = word == 0 || before[word - 1] == '\n';
  const std::size_t end = space ? word - 1 : word;

  // The slice of the field that is read: from where it began last time, if that is still there.
  const std::uint64_t kept_at = text.cut_bytes();
  slid_ = false;
  if (front_at_ < kept_at || front_at_ > kept_at + end ||
      kept_at + end - front_at_ > 2 * most_bytes()) {
    begin_at(end, before, kept_at);
  }
  const auto front_of = [&] {
    return before.substr(front_at_ - kept_at, end - (front_at_ - kept_at));
  };
  std::string_view front = front_of();
  std::size_t common = common_bytes(front, front_);
  if (front_at_ > kept_at && common < std::min(front.size(), front_.size()) / 2) {
    begin_at(end, before, kept_at);  // another text: it is always cut at the same place
    front = front_of();
    common = 0;
  }
  if (common != front_.size() || common != front.size()) {
    const text::TextPosition position =
        front_at_ == 0 ? text::TextPosition::Start : text::TextPosition::Rest;
    const std::size_t closed = tokenizer_->closed_bytes(front.substr(0, common));
    const auto kept = static_cast<std::size_t>(
        std::upper_bound(ends_.begin(), ends_.end(), static_cast<std::uint32_t>(closed)) -
        ends_.begin());
    const std::size_t from = kept == 0 ? 0 : ends_[kept - 1];
    tokens_.resize(kept);
    ends_.resize(kept);
    fresh_.clear();
    fresh_ends_.clear();
    tokenizer_->encode(front.substr(from), fresh_, &fresh_ends_,
                       from == 0 ? position : text::TextPosition::Rest, &scratch_);
    for (std::size_t i = 0; i < fresh_.size(); ++i) {
      tokens_.push_back(fresh_[i]);
      ends_.push_back(fresh_ends_[i] + static_cast<std::uint32_t>(from));
    }
    front_.assign(front);
    if (tokens_.size() > context_tokens_ * 3 / 2) {
      slid_ = common > 0;
      cut_front();
    }
  }

  // The last tokens are open unless a space or a line end closes them.
  std::size_t size = tokens_.size();
  if (!space && !line_start) {
    size -= std::min(size, healed_tokens_);
    while (size > 0 && base::is_continuation(front_[ends_[size - 1]])) {
      --size;  // a character in several tokens is healed whole
    }
  }
  const std::size_t closed = size == 0 ? 0 : ends_[size - 1];
  closed_bytes_ = static_cast<std::size_t>(front_at_ - kept_at) + closed;
  tail_.assign(before.substr(closed_bytes_));
  lead_size_ = word - closed_bytes_;
  wanted_.assign(opening().begin(), opening().end());
  wanted_.insert(wanted_.end(), tokens_.begin(),
                 tokens_.begin() + static_cast<std::ptrdiff_t>(size));
}

}  // namespace laya::predict
