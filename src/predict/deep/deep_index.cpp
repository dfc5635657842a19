#include "predict/deep/deep_index.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "text/script.h"
#include "text/units.h"

namespace laya::predict {
namespace {

// An apostrophe that is a token of its own: mostly the beginning of 's and 't behind letters.
constexpr float kLoneApostrophe = 0.8F;
// Of the table's Han characters, the share that must be tokens for the decoder to be asked at all.
constexpr double kKnowsHan = 0.5;

bool is_apostrophe(char32_t c) { return c == '\'' || c == 0x2019; }
bool is_letter(char32_t c) { return text::script_of(c) == text::Script::Latin; }

bool is_plain_word(std::string_view text) {
  text::Unit unit;
  return !text.empty() && text::next_unit(text, 0, &unit) && unit.kind == text::UnitKind::Word &&
         unit.begin == 0 && unit.end == text.size();
}

float goes_on(std::string_view bytes) {
  const base::Decoded first = base::decode_utf8(bytes);
  if (bytes.empty() || first.status != base::Utf8Status::Valid) {
    return 0;
  }
  if (is_letter(first.code_point)) {
    return 1;
  }
  if (!is_apostrophe(first.code_point)) {
    return 0;
  }
  if (bytes.size() == first.length) {
    return kLoneApostrophe;
  }
  const base::Decoded second = base::decode_utf8(bytes.substr(first.length));
  return second.status == base::Utf8Status::Valid && is_letter(second.code_point) ? 1.0F : 0.0F;
}

struct Named {
  std::string key;
  DeepEntry entry;
};

}  // namespace

DeepIndex::DeepIndex(const text::SubwordTokenizer& tokenizer, const PieceIndex& pieces,
                     const model::NgramModel* ngrams) {
  index_words(tokenizer, pieces, ngrams);
  weigh_ends(tokenizer, ngrams);
  index_han(tokenizer, pieces);
}

void DeepIndex::index_words(const text::SubwordTokenizer& tokenizer, const PieceIndex& pieces,
                            const model::NgramModel* ngrams) {
  group_of_token_.assign(tokenizer.size(), kNoGroup);
  std::vector<Named> named;
  for (const TokenId token : tokenizer.with_prefix("")) {
    const std::string_view bytes = tokenizer.bytes(token);
    if (const float share = goes_on(bytes); share > 0) {
      going_on_.push_back({token, share});
    }
    const bool space = !bytes.empty() && bytes.front() == ' ';
    const std::string_view word = space ? bytes.substr(1) : bytes;
    if (is_plain_word(word)) {
      Named entry{{}, {token, space ? DeepLead::Space : DeepLead::None}};
      text::append_lower(word, &entry.key);
      named.push_back(std::move(entry));
    }
  }
  std::sort(going_on_.begin(), going_on_.end(),
            [](const DeepGoingOn& a, const DeepGoingOn& b) { return a.token < b.token; });
  std::sort(named.begin(), named.end(), [](const Named& a, const Named& b) {
    return a.key != b.key ? a.key < b.key : a.entry.token < b.entry.token;
  });
  entries_.reserve(named.size());
  group_of_word_.assign(ngrams != nullptr ? ngrams->size() : 0, kNoGroup);
  group_of_piece_.assign(pieces.groups().size(), kNoGroup);
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (i == 0 || named[i].key != named[i - 1].key) {
      const model::WordId word =
          ngrams != nullptr ? ngrams->find(named[i].key) : model::kUnknownWord;
      const std::uint32_t piece = pieces.find(named[i].key);
      groups_.push_back({static_cast<std::uint32_t>(keys_.size()),
                         static_cast<std::uint32_t>(named[i].key.size()),
                         static_cast<std::uint32_t>(entries_.size()), 0, word, piece,
                         kEndsUnknown});
      keys_ += named[i].key;
      const auto group = static_cast<std::uint32_t>(groups_.size() - 1);
      if (word != model::kUnknownWord && word < group_of_word_.size()) {
        group_of_word_[word] = group;
      }
      if (piece != kNoGroup) {
        group_of_piece_[piece] = group;
      }
    }
    group_of_token_[named[i].entry.token] = static_cast<std::uint32_t>(groups_.size() - 1);
    entries_.push_back(named[i].entry);
    ++groups_.back().count;
  }
}

void DeepIndex::weigh_ends(const text::SubwordTokenizer& tokenizer,
                           const model::NgramModel* ngrams) {
  if (ngrams == nullptr) {
    return;
  }
  // A token is the whole word as often as the table's word of that key is met, and the beginning of
  // another as often as those are that the tokenizer spells with it first.
  constexpr float kUnseen = 1e-7F;  // of a unit: below the table's rarest words
  std::vector<float> whole(groups_.size(), kUnseen);
  std::vector<float> more(groups_.size(), kUnseen);
  const model::NgramContext nothing = ngrams->none();
  std::string written;
  std::vector<TokenId> tokens;
  text::SubwordScratch scratch;
  for (model::WordId word = model::kFirstLexiconWord; word < ngrams->size(); ++word) {
    if (!ngrams->is_word(word)) {
      continue;
    }
    written = ' ';
    written += ngrams->text(word);
    tokens.clear();
    tokenizer.encode(written, tokens, nullptr, text::TextPosition::Rest, &scratch);
    if (tokens.empty() || group_of_token_[tokens[0]] == kNoGroup) {
      continue;
    }
    const float p = std::exp(ngrams->log_prob(nothing, word));
    (tokens.size() == 1 ? whole : more)[group_of_token_[tokens[0]]] += p;
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    groups_[g].ends = whole[g] / (whole[g] + more[g]);
  }
}

void DeepIndex::index_han(const text::SubwordTokenizer& tokenizer, const PieceIndex& pieces) {
  const std::span<const HanPiece> han = pieces.han();
  han_.reserve(han.size());
  for (std::size_t i = 0; i < han.size(); ++i) {
    han_.emplace_back(han[i].code_point, static_cast<std::uint32_t>(i));
  }
  std::sort(han_.begin(), han_.end());
  first_han_.assign(tokenizer.size(), kNoGroup);
  std::size_t known = 0;
  for (const TokenId token : tokenizer.with_prefix("")) {
    const std::string_view bytes = tokenizer.bytes(token);
    first_han_[token] = han_at(bytes);
    known += first_han_[token] != kNoGroup && base::decode_utf8(bytes).length == bytes.size();
  }
  knows_han_ =
      !han.empty() && static_cast<double>(known) > kKnowsHan * static_cast<double>(han.size());
}

std::uint32_t DeepIndex::han_at(std::string_view bytes) const {
  const base::Decoded first = base::decode_utf8(bytes);
  if (bytes.empty() || first.status != base::Utf8Status::Valid) {
    return kNoGroup;
  }
  const auto found = std::lower_bound(han_.begin(), han_.end(),
                                      std::pair<char32_t, std::uint32_t>{first.code_point, 0});
  return found != han_.end() && found->first == first.code_point ? found->second : kNoGroup;
}

std::pair<std::uint32_t, std::uint32_t> DeepIndex::with_prefix(
    std::string_view lower_prefix) const {
  const auto first = std::lower_bound(groups_.begin(), groups_.end(), lower_prefix,
                                      [this](const DeepGroup& group, std::string_view prefix) {
                                        return key(group).substr(0, prefix.size()) < prefix;
                                      });
  const auto last = std::upper_bound(first, groups_.end(), lower_prefix,
                                     [this](std::string_view prefix, const DeepGroup& group) {
                                       return prefix < key(group).substr(0, prefix.size());
                                     });
  return {static_cast<std::uint32_t>(first - groups_.begin()),
          static_cast<std::uint32_t>(last - groups_.begin())};
}

std::uint32_t DeepIndex::group_of(model::WordId word, std::uint32_t piece_group,
                                  std::string_view key) const {
  if (word != model::kUnknownWord && word < group_of_word_.size()) {
    return group_of_word_[word];
  }
  return piece_group < group_of_piece_.size() ? group_of_piece_[piece_group] : find(key);
}

std::uint32_t DeepIndex::find(std::string_view wanted) const {
  const auto found = std::lower_bound(
      groups_.begin(), groups_.end(), wanted,
      [this](const DeepGroup& group, std::string_view text) { return key(group) < text; });
  return found != groups_.end() && key(*found) == wanted
             ? static_cast<std::uint32_t>(found - groups_.begin())
             : kNoGroup;
}

}  // namespace laya::predict
