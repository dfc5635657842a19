#include "predict/source/piece_index.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/script.h"
#include "text/units.h"

namespace laya::predict {
namespace {

struct Named {
  std::string key;
  GroupPiece piece;
};

bool is_apostrophe(char32_t c) { return c == '\'' || c == 0x2019; }

// Letters of the Latin script with inner apostrophes, as text::UnitKind::Word.
bool is_plain_word(std::string_view text) {
  if (text.empty()) {
    return false;
  }
  text::Unit unit;
  return text::next_unit(text, 0, &unit) && unit.kind == text::UnitKind::Word && unit.begin == 0 &&
         unit.end == text.size();
}

bool is_phrase_mark(char32_t c) {
  switch (c) {
    case ',':
    case '.':
    case '!':
    case '?':
    case ';':
    case ':':
    case 0xFF0C:
    case 0x3002:
    case 0xFF01:
    case 0xFF1F:
    case 0xFF1B:
    case 0xFF1A:
    case 0x3001:
      return true;
    default:
      return false;
  }
}

PieceRole role_of(std::string_view text, text::PieceType type) {
  if (type != text::PieceType::Normal) {
    return PieceRole::Stop;
  }
  const bool space = !text.empty() && text.back() == ' ';
  const std::string_view body = space ? text.substr(0, text.size() - 1) : text;
  if (is_plain_word(body)) {
    return space ? PieceRole::WordEnd : PieceRole::WordPart;
  }
  const base::Decoded first = base::decode_utf8(body);
  if (body.empty() || first.status != base::Utf8Status::Valid || first.length != body.size()) {
    return PieceRole::Stop;
  }
  if (text::is_han(first.code_point) && !space) {
    return PieceRole::Han;
  }
  if (is_apostrophe(first.code_point) && !space) {
    return PieceRole::Apostrophe;
  }
  return is_phrase_mark(first.code_point) ? PieceRole::Mark : PieceRole::Stop;
}

bool ends_a_word(std::string_view text, text::PieceType type) {
  if (type == text::PieceType::Newline) {
    return true;
  }
  if (type != text::PieceType::Normal) {
    return false;
  }
  const char32_t first = base::decode_utf8(text).code_point;
  const text::Script script = text::script_of(first);
  return (script == text::Script::Punctuation && !is_apostrophe(first) && first != '-' &&
          first != '_' && first != '@') ||
         script == text::Script::Han || first == ' ';
}

}  // namespace

PieceIndex::PieceIndex(const text::Vocabulary* vocabulary, const model::NgramModel* ngrams) {
  const std::size_t words = ngrams != nullptr ? ngrams->size() : 0;
  group_of_word_.assign(words, kNoGroup);
  han_of_word_.assign(words, kNoGroup);
  if (vocabulary != nullptr) {
    index_vocabulary(*vocabulary, ngrams);
  }
  if (ngrams != nullptr) {
    add_han_of(*ngrams);
  }
}

// Characters that only the table knows.
void PieceIndex::add_han_of(const model::NgramModel& ngrams) {
  for (model::WordId word = model::kFirstLexiconWord; word < ngrams.size(); ++word) {
    if (ngrams.is_han(word) && han_of_word_[word] == kNoGroup) {
      han_of_word_[word] = static_cast<std::uint32_t>(han_.size());
      han_.push_back({kNoToken, base::decode_utf8(ngrams.text(word)).code_point, word});
    }
  }
}

void PieceIndex::index_vocabulary(const text::Vocabulary& vocabulary,
                                  const model::NgramModel* ngrams) {
  const std::size_t size = vocabulary.size();
  const std::size_t words = group_of_word_.size();
  roles_.resize(size);
  without_space_.assign(size, kNoToken);
  group_of_token_.assign(size, kNoGroup);
  han_of_token_.assign(size, kNoGroup);

  std::vector<Named> named;
  named.reserve(size);
  for (TokenId token = 0; token < size; ++token) {
    const std::string_view text = vocabulary.text(token);
    roles_[token] = role_of(text, vocabulary.type(token));
    if (ends_a_word(text, vocabulary.type(token)) && roles_[token] != PieceRole::Han) {
      word_enders_.push_back(token);
    }
    if (roles_[token] == PieceRole::WordEnd) {
      without_space_[token] = vocabulary.find(text.substr(0, text.size() - 1));
    }
    if (roles_[token] == PieceRole::WordEnd || roles_[token] == PieceRole::WordPart) {
      const bool space = roles_[token] == PieceRole::WordEnd;
      Named entry{{}, {token, space}};
      text::append_lower(space ? text.substr(0, text.size() - 1) : text, &entry.key);
      named.push_back(std::move(entry));
    } else if (roles_[token] == PieceRole::Han) {
      const model::WordId word = ngrams != nullptr ? ngrams->find(text) : model::kUnknownWord;
      han_of_token_[token] = static_cast<std::uint32_t>(han_.size());
      if (word < words && word != model::kUnknownWord) {
        han_of_word_[word] = static_cast<std::uint32_t>(han_.size());
      }
      han_.push_back({token, base::decode_utf8(text).code_point, word});
    }
  }

  std::sort(named.begin(), named.end(), [](const Named& a, const Named& b) {
    return a.key != b.key ? a.key < b.key : a.piece.token < b.piece.token;
  });
  pieces_.reserve(named.size());
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (i == 0 || named[i].key != named[i - 1].key) {
      const model::WordId word =
          ngrams != nullptr ? ngrams->find(named[i].key) : model::kUnknownWord;
      const auto group = static_cast<std::uint32_t>(groups_.size());
      if (word < words && word != model::kUnknownWord) {
        group_of_word_[word] = group;
      }
      groups_.push_back({static_cast<std::uint32_t>(keys_.size()),
                         static_cast<std::uint32_t>(named[i].key.size()),
                         static_cast<std::uint32_t>(pieces_.size()), 0, word});
      keys_ += named[i].key;
    }
    group_of_token_[named[i].piece.token] = static_cast<std::uint32_t>(groups_.size() - 1);
    pieces_.push_back(named[i].piece);
    ++groups_.back().count;
  }
}

std::pair<std::uint32_t, std::uint32_t> PieceIndex::with_prefix(
    std::string_view lower_prefix) const {
  const auto first = std::lower_bound(groups_.begin(), groups_.end(), lower_prefix,
                                      [this](const WordGroup& group, std::string_view prefix) {
                                        return key(group).substr(0, prefix.size()) < prefix;
                                      });
  const auto last = std::upper_bound(first, groups_.end(), lower_prefix,
                                     [this](std::string_view prefix, const WordGroup& group) {
                                       return prefix < key(group).substr(0, prefix.size());
                                     });
  return {static_cast<std::uint32_t>(first - groups_.begin()),
          static_cast<std::uint32_t>(last - groups_.begin())};
}

std::uint32_t PieceIndex::find(std::string_view wanted) const {
  const auto found = std::lower_bound(
      groups_.begin(), groups_.end(), wanted,
      [this](const WordGroup& group, std::string_view text) { return key(group) < text; });
  return found != groups_.end() && key(*found) == wanted
             ? static_cast<std::uint32_t>(found - groups_.begin())
             : kNoGroup;
}

}  // namespace laya::predict
