#include "text/incremental.h"

#include <algorithm>

namespace laya::text {
namespace {

// Where a chunk ends depends on the character behind it, at most 4 bytes (chunk.h). So a chunk that
// ends at or before this many bytes left of an edit cannot change.
constexpr std::size_t kLookAheadBytes = 4;

}  // namespace

IncrementalTokenizer::IncrementalTokenizer(const Tokenizer& tokenizer, std::size_t capacity_bytes)
    : tokenizer_(&tokenizer) {
  // At worst every byte is a token and a chunk.
  text_.reserve(capacity_bytes);
  chunks_.reserve(capacity_bytes);
  tokens_.ids.reserve(capacity_bytes);
  tokens_.ends.reserve(capacity_bytes);
  fresh_chunks_.reserve(capacity_bytes);
  fresh_tokens_.ids.reserve(capacity_bytes);
  fresh_tokens_.ends.reserve(capacity_bytes);
}

void IncrementalTokenizer::replace(std::size_t offset, std::size_t erased,
                                   std::string_view inserted) {
  offset = std::min(offset, text_.size());
  erased = std::min(erased, text_.size() - offset);
  text_.replace(offset, erased, inserted);

  // The chunks [0, first) stay: they end at or before `safe`.
  const std::size_t safe = offset > kLookAheadBytes ? offset - kLookAheadBytes : 0;
  const auto ends_later = [](std::size_t byte, const ChunkEnd& end) { return byte < end.byte; };
  const auto first = static_cast<std::size_t>(
      std::upper_bound(chunks_.begin(), chunks_.end(), safe, ends_later) - chunks_.begin());
  const ChunkEnd start = first > 0 ? chunks_[first - 1] : ChunkEnd{0, 0};

  // Cut anew until a boundary right of the edit is one that was there before: from it on nothing
  // changes.
  fresh_chunks_.clear();
  fresh_tokens_.clear();
  const std::size_t old_edit_end = offset + erased;
  const std::size_t new_edit_end = offset + inserted.size();
  std::size_t old_next = first;  // first old chunk not yet passed
  std::size_t at = start.byte;
  std::size_t resume = chunks_.size();  // old chunks from here on stay
  while (at < text_.size()) {
    const Chunk chunk = next_chunk(std::string_view(text_).substr(at));
    tokenizer_->encode_chunk(std::string_view(text_).substr(at, chunk.length), fresh_tokens_,
                             static_cast<std::uint32_t>(at));
    at += chunk.length;
    fresh_chunks_.push_back({static_cast<std::uint32_t>(at),
                             static_cast<std::uint32_t>(start.token + fresh_tokens_.ids.size())});
    if (at < new_edit_end) {
      continue;
    }
    const std::size_t old_at = at - new_edit_end + old_edit_end;
    while (old_next < chunks_.size() && chunks_[old_next].byte < old_at) {
      ++old_next;
    }
    if (old_next < chunks_.size() && chunks_[old_next].byte == old_at) {
      resume = old_next + 1;
      break;
    }
  }

  // Tokens at the front of the re-cut part that came out as before are unchanged too.
  const std::uint32_t old_token_end = resume > first ? chunks_[resume - 1].token : start.token;
  std::size_t same = 0;
  const std::size_t comparable =
      std::min<std::size_t>(fresh_tokens_.ids.size(), old_token_end - start.token);
  while (same < comparable && fresh_tokens_.ids[same] == tokens_.ids[start.token + same]) {
    ++same;
  }
  unchanged_tokens_ = start.token + same;
  if (same == fresh_tokens_.ids.size() && same == old_token_end - start.token) {
    unchanged_tokens_ = tokens_.ids.size();
  }

  // Splice, and move what lies right of it.
  const auto shift_bytes = static_cast<std::uint32_t>(inserted.size() - erased);  // wraps: meant
  const auto shift_tokens = static_cast<std::uint32_t>(fresh_tokens_.ids.size()) -
                            (old_token_end - start.token);  // likewise
  const auto splice = [](auto& into, std::size_t from, std::size_t to, const auto& fresh) {
    const std::size_t common = std::min(to - from, fresh.size());
    const auto begin = into.begin() + static_cast<std::ptrdiff_t>(from);
    const auto middle = std::copy_n(fresh.begin(), common, begin);
    if (common < fresh.size()) {
      into.insert(middle, fresh.begin() + static_cast<std::ptrdiff_t>(common), fresh.end());
    } else {
      into.erase(middle, into.begin() + static_cast<std::ptrdiff_t>(to));
    }
  };
  splice(tokens_.ids, start.token, old_token_end, fresh_tokens_.ids);
  splice(tokens_.ends, start.token, old_token_end, fresh_tokens_.ends);
  splice(chunks_, first, resume, fresh_chunks_);
  for (std::size_t i = start.token + fresh_tokens_.ids.size(); i < tokens_.ends.size(); ++i) {
    tokens_.ends[i] += shift_bytes;
  }
  for (std::size_t i = first + fresh_chunks_.size(); i < chunks_.size(); ++i) {
    chunks_[i].byte += shift_bytes;
    chunks_[i].token += shift_tokens;
  }
  find_open_chunk();
}

void IncrementalTokenizer::find_open_chunk() {
  closed_tokens_ = tokens_.ids.size();
  closed_bytes_ = text_.size();
  if (chunks_.empty()) {
    return;
  }
  const ChunkEnd before = chunks_.size() > 1 ? chunks_[chunks_.size() - 2] : ChunkEnd{0, 0};
  if (is_open(next_chunk(std::string_view(text_).substr(before.byte)))) {
    closed_tokens_ = before.token;
    closed_bytes_ = before.byte;
  }
}

}  // namespace laya::text
