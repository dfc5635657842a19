#include "text/subword_assembly.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/utf8.h"
#include "base/utf8_boundary.h"

namespace laya::text {
namespace {

Error bad(const std::string& field, std::size_t number, const std::string& what) {
  return {ErrorCode::Corrupt, field + "[" + std::to_string(number) + "] " + what};
}

/// A merge makes the token of both sides' bytes, so each is longer than its sides: no cycles.
Status check_merges(const SubwordVocabulary& tokens, std::span<const Merge> merges) {
  if (merges.size() > kMaxSubwordMerges) {
    return Error{ErrorCode::TooLarge, "merges: " + std::to_string(merges.size()) + ", at most " +
                                          std::to_string(kMaxSubwordMerges)};
  }
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const Merge& merge = merges[i];
    for (const TokenId id : {merge.left, merge.right, merge.result}) {
      if (id >= tokens.total()) {
        return bad("merges", i,
                   "names token " + std::to_string(id) + " of " + std::to_string(tokens.total()));
      }
      if (tokens.kind(id) == SubwordTokenKind::Control) {
        return bad("merges", i, "names the control token " + std::to_string(id));
      }
    }
    const std::string_view left = tokens.bytes(merge.left);
    const std::string_view right = tokens.bytes(merge.right);
    const std::string_view result = tokens.bytes(merge.result);
    if (result.size() != left.size() + right.size() || !result.starts_with(left) ||
        !result.ends_with(right)) {
      return bad("merges", i, "makes a token that is not its two sides");
    }
    if (tokens.kind(merge.result) == SubwordTokenKind::Byte) {
      return bad("merges", i, "makes a byte");
    }
  }
  return {};
}

Status check_sentencepiece(const SubwordVocabulary& tokens) {
  for (TokenId id = 0; id < tokens.total(); ++id) {
    const std::string_view bytes = tokens.bytes(id);
    const bool ascii = std::all_of(bytes.begin(), bytes.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (tokens.kind(id) == SubwordTokenKind::Normal && !ascii && !base::is_valid_utf8(bytes)) {
      return bad("tokens", id, "is not UTF-8");
    }
  }
  for (int byte = 0; byte < 256; ++byte) {
    const TokenId id = tokens.byte_id(static_cast<std::uint8_t>(byte));
    if (id >= tokens.size() || tokens.kind(id) != SubwordTokenKind::Byte) {
      return Error{ErrorCode::Unsupported,
                   "tokens: none is byte " + std::to_string(byte) +
                       "; a sentencepiece model without byte fallback cannot spell every text"};
    }
  }
  return {};
}

/// A word that is taken whole must be spelled by bytes, too, or what a text becomes would depend on
/// where its words end.
Status check_whole_words(const SubwordVocabulary& tokens) {
  for (TokenId id = 0; id < tokens.total(); ++id) {
    for (const char byte : tokens.bytes(id)) {
      if (tokens.byte_id(static_cast<std::uint8_t>(byte)) == kNoToken) {
        return bad("tokens", id, "has a byte that is no token itself");
      }
    }
  }
  return {};
}

Status check_options(const SubwordOptions& options, std::size_t rows) {
  const bool words = options.pre_tokenizer != PreTokenizer::None;
  if (words != (options.kind == SubwordKind::ByteLevel)) {
    return Error{ErrorCode::Corrupt, words ? "pre_tokenizer: sentencepiece models have none"
                                           : "pre_tokenizer: a byte-level model needs one"};
  }
  if (words && options.prefix_space != PrefixSpace::Never) {
    return Error{ErrorCode::Unsupported, "prefix_space: only for sentencepiece"};
  }
  if (!words && (options.normalizer != SubwordNormalizer::None || options.ignore_merges)) {
    return Error{ErrorCode::Unsupported, "normalizer, ignore_merges: only for byte-level models"};
  }
  for (const auto& [name, id] : {std::pair{"bos", options.bos}, std::pair{"eos", options.eos}}) {
    if (id != kNoToken && id >= rows) {
      return Error{ErrorCode::Corrupt, std::string(name) + ": token " + std::to_string(id) +
                                           " of " + std::to_string(rows)};
    }
  }
  return {};
}

}  // namespace

std::size_t length_in_characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !base::is_continuation(c); }));
}

Result<SubwordTokenizer> SubwordAssembly::make(const SubwordOptions& options,
                                               std::span<const SubwordVocabulary::Token> tokens,
                                               std::size_t rows, std::vector<Merge> merges) {
  if (Status status = check_options(options, rows); !status) {
    return std::move(status).error();
  }
  Result<SubwordVocabulary> vocabulary = SubwordVocabulary::create(tokens, rows);
  if (!vocabulary) {
    return std::move(vocabulary).error();
  }
  if (Status status = check_merges(*vocabulary, merges); !status) {
    return std::move(status).error();
  }
  if (options.ignore_merges) {
    if (Status status = check_whole_words(*vocabulary); !status) {
      return std::move(status).error();
    }
  }
  SubwordTokenizer made;
  made.options_ = options;
  made.vocabulary_ = std::move(vocabulary).value();
  const SubwordVocabulary& known = made.vocabulary_;

  if (options.kind == SubwordKind::Sentencepiece) {
    if (Status status = check_sentencepiece(known); !status) {
      return std::move(status).error();
    }
    std::size_t inner_characters =
        0;  // pairs, counting repeated ones; distinct are about a quarter
    std::vector<TokenId> marked;
    for (TokenId id = 0; id < known.total(); ++id) {
      if (known.kind(id) == SubwordTokenKind::Normal) {
        inner_characters += length_in_characters(known.bytes(id)) - 1;
      }
      if (id < rows && known.user_defined(id)) {
        marked.push_back(id);
      }
    }
    made.pairs_.reserve(inner_characters / 2);
    for (TokenId id = 0; id < known.total(); ++id) {
      if (known.kind(id) == SubwordTokenKind::Normal) {
        made.pairs_.add(known.bytes(id));
      }
    }
    std::sort(marked.begin(), marked.end(),
              [&](TokenId a, TokenId b) { return known.bytes(a) < known.bytes(b); });
    std::vector<std::string_view> marked_bytes;
    for (const TokenId id : marked) {
      marked_bytes.push_back(known.bytes(id));
    }
    made.user_defined_ = UserDefinedTokens(std::move(marked), std::move(marked_bytes));
  }

  // How tokens without a row are spelled: the shorter first, since the longer are made of them.
  std::vector<const Merge*> origin(known.total() - rows, nullptr);
  for (const Merge& merge : merges) {
    if (merge.result >= rows && origin[merge.result - rows] == nullptr) {
      origin[merge.result - rows] = &merge;
    }
  }
  std::vector<TokenId> order(origin.size());
  std::iota(order.begin(), order.end(), static_cast<TokenId>(rows));
  std::stable_sort(order.begin(), order.end(), [&](TokenId a, TokenId b) {
    return known.bytes(a).size() < known.bytes(b).size();
  });
  std::vector<std::vector<TokenId>> spellings(origin.size());
  for (const TokenId id : order) {
    std::vector<TokenId>& spelling = spellings[id - rows];
    const Merge* merge = origin[id - rows];
    if (merge == nullptr) {
      for (const char byte : known.bytes(id)) {
        const TokenId row = known.byte_id(static_cast<std::uint8_t>(byte));
        if (row >= rows) {
          return bad("tokens", id, "has no row, and nothing spells it");
        }
        spelling.push_back(row);
      }
      continue;
    }
    for (const TokenId side : {merge->left, merge->right}) {
      if (side < rows) {
        spelling.push_back(side);
      } else {
        const std::vector<TokenId>& part = spellings[side - rows];
        spelling.insert(spelling.end(), part.begin(), part.end());
      }
    }
  }
  made.spelling_starts_.push_back(0);
  for (const std::vector<TokenId>& spelling : spellings) {
    made.spellings_.insert(made.spellings_.end(), spelling.begin(), spelling.end());
    made.spelling_starts_.push_back(static_cast<std::uint32_t>(made.spellings_.size()));
  }
  made.merges_ = MergeTable(std::move(merges));
  return made;
}

}  // namespace laya::text
