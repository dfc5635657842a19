#include "text/subword_tokenizer.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/normalize.h"
#include "text/subword_normalize.h"

namespace laya::text {

void SubwordTokenizer::push_byte(std::uint8_t byte, std::size_t end, std::vector<TokenId>& ids,
                                 std::vector<std::uint32_t>& ends) const {
  const TokenId id = vocabulary_.byte_id(byte);
  if (id != kNoToken) {
    ids.push_back(id);
    ends.push_back(static_cast<std::uint32_t>(end));
  }
}

/// Its token, or its bytes where it has none.
void SubwordTokenizer::push_character(std::string_view text, std::size_t at, std::size_t length,
                                      std::vector<TokenId>& ids,
                                      std::vector<std::uint32_t>& ends) const {
  const TokenId id = vocabulary_.find(text.substr(at, length));
  if (id != kNoToken) {
    ids.push_back(id);
    ends.push_back(static_cast<std::uint32_t>(at + length));
    return;
  }
  for (std::size_t i = at; i < at + length; ++i) {
    push_byte(static_cast<std::uint8_t>(text[i]), i + 1, ids, ends);
  }
}

/// Merges the symbols from `first` on, and spells what has no row.
void SubwordTokenizer::finish_word(std::size_t first, std::vector<TokenId>& ids,
                                   std::vector<std::uint32_t>& ends, MergeScratch& scratch) const {
  merges_.merge(first, ids, ends, scratch);
  if (vocabulary_.total() == vocabulary_.size()) {
    return;
  }
  for (std::size_t i = first; i < ids.size(); ++i) {
    if (ids[i] < vocabulary_.size()) {
      continue;
    }
    const std::size_t number = ids[i] - vocabulary_.size();
    const auto spelling = std::span(spellings_)
                              .subspan(spelling_starts_[number],
                                       spelling_starts_[number + 1] - spelling_starts_[number]);
    auto end = static_cast<std::uint32_t>(ends[i] - vocabulary_.bytes(ids[i]).size());
    ids.insert(ids.begin() + i + 1, spelling.size() - 1, kNoToken);
    ends.insert(ends.begin() + i, spelling.size() - 1, 0);
    for (std::size_t k = 0; k < spelling.size(); ++k) {
      end += static_cast<std::uint32_t>(vocabulary_.bytes(spelling[k]).size());
      ids[i + k] = spelling[k];
      ends[i + k] = end;
    }
    i += spelling.size() - 1;
  }
}

void SubwordTokenizer::encode_words(std::string_view text, std::vector<TokenId>& ids,
                                    std::vector<std::uint32_t>& ends, MergeScratch& scratch) const {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view word =
        text.substr(at, next_pretoken(options_.pre_tokenizer, text.substr(at)).bytes);
    if (options_.ignore_merges) {
      if (const TokenId whole = vocabulary_.find(word); whole < vocabulary_.size()) {
        at += word.size();
        ids.push_back(whole);
        ends.push_back(static_cast<std::uint32_t>(at));
        continue;
      }
    }
    const std::size_t first = ids.size();
    for (const char byte : word) {
      push_byte(static_cast<std::uint8_t>(byte), ++at, ids, ends);
    }
    finish_word(first, ids, ends, scratch);
  }
}

bool SubwordTokenizer::puts_space_before(std::string_view text, TextPosition position) const {
  if (position == TextPosition::Rest || text.empty()) {
    return false;
  }
  switch (options_.prefix_space) {
    case PrefixSpace::Never:
      return false;
    case PrefixSpace::Always:
      return true;
    case PrefixSpace::UnlessThere:
      return text.front() != ' ';
  }
  return false;
}

void SubwordTokenizer::encode_sentence(std::string_view text, TextPosition position,
                                       std::vector<TokenId>& ids, std::vector<std::uint32_t>& ends,
                                       MergeScratch& scratch) const {
  std::size_t first = ids.size();
  bool left_is_valid = false;  // whether `left` is a character that a token may join to the next
  char32_t left = 0;
  if (puts_space_before(text, position)) {
    push_character(" ", 0, 1, ids, ends);
    ends.back() = 0;
    left = ' ';
    left_is_valid = true;
  }
  for (std::size_t at = 0; at < text.size();) {
    const UserDefinedTokens::Match found = user_defined_.match(text.substr(at));
    if (found.bytes > 0) {
      finish_word(first, ids, ends, scratch);
      at += found.bytes;
      ids.push_back(found.id);
      ends.push_back(static_cast<std::uint32_t>(at));
      first = ids.size();
      left_is_valid = false;
      continue;
    }
    const base::Decoded decoded = base::decode_utf8(text.substr(at));
    const bool valid = decoded.status == base::Utf8Status::Valid;
    if (!left_is_valid || !valid || !pairs_.joined(left, decoded.code_point)) {
      finish_word(first, ids, ends, scratch);
      first = ids.size();
    }
    push_character(text, at, decoded.length, ids, ends);
    at += decoded.length;
    left = decoded.code_point;
    left_is_valid = valid;
  }
  finish_word(first, ids, ends, scratch);
}

void SubwordTokenizer::encode(std::string_view text, std::vector<TokenId>& ids,
                              std::vector<std::uint32_t>* ends, TextPosition position,
                              SubwordScratch* scratch) const {
  SubwordScratch own;
  SubwordScratch& memory = scratch != nullptr ? *scratch : own;
  const bool composed = options_.normalizer == SubwordNormalizer::Nfc && !is_nfc(text);
  std::string_view source = text;
  if (composed) {
    normalize_nfc_mapped(text, memory.normalized, memory.source_at);
    source = memory.normalized;
  }
  // Merging works on two parallel vectors from their ends on; both may hold earlier text's tokens.
  std::vector<std::uint32_t>& places = memory.ends;
  places.resize(ids.size());
  const std::size_t before = ids.size();
  if (options_.kind == SubwordKind::ByteLevel) {
    encode_words(source, ids, places, memory.merge);
  } else {
    encode_sentence(source, position, ids, places, memory.merge);
  }
  if (ends != nullptr) {
    for (std::size_t i = before; i < ids.size(); ++i) {
      ends->push_back(composed ? memory.source_at[places[i]] : places[i]);
    }
  }
}

std::vector<TokenId> SubwordTokenizer::encode(std::string_view text, TextPosition position) const {
  std::vector<TokenId> ids;
  encode(text, ids, nullptr, position);
  return ids;
}

std::string SubwordTokenizer::decode(std::span<const TokenId> ids, TextPosition position) const {
  std::string out;
  bool first = position == TextPosition::Start && adds_space();
  for (const TokenId id : ids) {
    if (id >= size() || kind(id) == SubwordTokenKind::Control) {
      continue;
    }
    std::string_view piece = bytes(id);
    if (first && piece.front() == ' ') {
      piece.remove_prefix(1);
    }
    first = false;
    out += piece;
  }
  return out;
}

std::string SubwordTokenizer::normalized(std::string_view text) const {
  std::string out =
      options_.normalizer == SubwordNormalizer::Nfc ? normalize_nfc(text) : std::string(text);
  std::erase_if(out, [this](char byte) {
    return vocabulary_.byte_id(static_cast<std::uint8_t>(byte)) == kNoToken;
  });
  return out;
}

std::size_t SubwordTokenizer::closed_words(std::string_view text) const {
  std::size_t at = 0;
  while (at < text.size()) {
    const PreToken word = next_pretoken(options_.pre_tokenizer, text.substr(at));
    if (!word.closed) {
      break;
    }
    at += word.bytes;
  }
  return at;
}

std::size_t SubwordTokenizer::closed_sentence(std::string_view text) const {
  std::size_t closed = 0;
  bool left_is_valid = false;
  char32_t left = 0;
  for (std::size_t at = 0; at < text.size();) {
    const UserDefinedTokens::Match found = user_defined_.match(text.substr(at));
    if (found.bytes > 0 && !found.open) {
      at += found.bytes;
      closed = at;
      left_is_valid = false;
      continue;
    }
    const base::Decoded decoded = base::decode_utf8(text.substr(at));
    if (decoded.status == base::Utf8Status::Incomplete) {
      break;
    }
    const bool valid = decoded.status == base::Utf8Status::Valid;
    if (!left_is_valid || !valid || !pairs_.joined(left, decoded.code_point)) {
      closed = at;
    }
    if (found.open) {
      break;
    }
    at += decoded.length;
    left = decoded.code_point;
    left_is_valid = valid;
  }
  return closed;
}

std::size_t SubwordTokenizer::closed_bytes(std::string_view text) const {
  if (options_.kind == SubwordKind::Sentencepiece) {
    return closed_sentence(text);
  }
  if (options_.normalizer == SubwordNormalizer::None) {
    return closed_words(text);
  }
  const std::string_view settled = text.substr(0, nfc_closed_bytes(text));
  if (is_nfc(settled)) {
    return closed_words(settled);
  }
  std::string composed;
  std::vector<std::uint32_t> source_at;
  normalize_nfc_mapped(settled, composed, source_at);
  // The last cut that lies between two characters of the given text, not inside a composed one.
  std::size_t closed = 0;
  for (std::size_t at = 0; at < composed.size();) {
    const PreToken word =
        next_pretoken(options_.pre_tokenizer, std::string_view(composed).substr(at));
    if (!word.closed) {
      break;
    }
    at += word.bytes;
    if (at == composed.size() || source_at[at] != source_at[at + 1]) {
      closed = source_at[at];
    }
  }
  return closed;
}

}  // namespace laya::text
