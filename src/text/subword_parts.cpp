#include "text/subword_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "base/utf8.h"
#include "text/subword_assembly.h"

namespace laya::text {
namespace {

constexpr std::string_view kBlank = "\xE2\x96\x81";  // ▁

Error bad(const char* field, std::size_t number, const std::string& what) {
  return {ErrorCode::Corrupt, std::string(field) + "[" + std::to_string(number) + "] " + what};
}

/// GPT-2's bytes_to_unicode(): printable Latin-1 stands for itself, the other bytes, in order, for
/// U+0100 and up. [code point] ▶ byte, -1 where none.
constexpr std::array<std::int16_t, 0x144> kByteOf = [] {
  std::array<std::int16_t, 0x144> table{};
  table.fill(-1);
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool printable =
        (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    table[printable ? byte : next++] = static_cast<std::int16_t>(byte);
  }
  return table;
}();

/// The bytes of a byte-level piece; false where a character of it stands for none.
bool from_byte_alphabet(std::string_view piece, std::string& out) {
  for (const base::Decoded& decoded : base::CodePoints(piece)) {
    if (decoded.status != base::Utf8Status::Valid || decoded.code_point >= kByteOf.size() ||
        kByteOf[decoded.code_point] < 0) {
      return false;
    }
    out += static_cast<char>(kByteOf[decoded.code_point]);
  }
  return true;
}

int hex_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// The byte of "<0xE4>", or -1.
int byte_piece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>' ||
      hex_digit(piece[3]) < 0 || hex_digit(piece[4]) < 0) {
    return -1;
  }
  return hex_digit(piece[3]) * 16 + hex_digit(piece[4]);
}

std::string blanks_to_spaces(std::string_view piece) {
  std::string out;
  while (!piece.empty()) {
    const std::size_t at = std::min(piece.find(kBlank), piece.size());
    out += piece.substr(0, at);
    piece.remove_prefix(at);
    if (!piece.empty()) {
      out += ' ';
      piece.remove_prefix(kBlank.size());
    }
  }
  return out;
}

/// Tokens as they stand in text; owns their bytes.
struct Decoded {
  std::vector<std::string> bytes;
  std::vector<SubwordVocabulary::Token> tokens;
};

Result<Decoded> decode_pieces(const SubwordParts& parts) {
  Decoded made;
  made.bytes.reserve(parts.tokens.size());  // the tokens are views of these
  made.tokens.reserve(parts.tokens.size());
  const bool byte_level = parts.options.kind == SubwordKind::ByteLevel;
  for (std::size_t id = 0; id < parts.tokens.size(); ++id) {
    const std::string& piece = parts.tokens[id];
    const PieceRole role = parts.roles.empty() ? PieceRole::Normal : parts.roles[id];
    SubwordVocabulary::Token token{{}, SubwordTokenKind::Normal, false};
    std::string bytes;
    if (role == PieceRole::Normal && byte_level) {
      if (!from_byte_alphabet(piece, bytes)) {
        return bad("tokens", id, "has characters that stand for no byte");
      }
    } else if (role == PieceRole::Normal || (role == PieceRole::UserDefined && !byte_level)) {
      bytes = blanks_to_spaces(piece);
      token.user_defined = role == PieceRole::UserDefined;
    } else if (role == PieceRole::Byte && !byte_level) {
      const int byte = byte_piece(piece);
      if (byte < 0) {
        return bad("tokens", id, "is no byte like <0x0A>");
      }
      bytes = static_cast<char>(byte);
      token.kind = SubwordTokenKind::Byte;
    } else {
      bytes = piece;
      token.kind = SubwordTokenKind::Control;
    }
    made.bytes.push_back(std::move(bytes));
    token.text = made.bytes.back();
    made.tokens.push_back(token);
  }
  return made;
}

using Pairs = std::vector<std::array<TokenId, 2>>;

/// "left right" ▶ ids. Names are looked up as written, before they are decoded.
Result<Pairs> merges_by_name(const SubwordParts& parts) {
  std::unordered_map<std::string_view, TokenId> ids;
  ids.reserve(parts.tokens.size());
  for (std::size_t id = 0; id < parts.tokens.size(); ++id) {
    ids.emplace(parts.tokens[id], static_cast<TokenId>(id));
  }
  Pairs pairs;
  pairs.reserve(parts.merges.size());
  for (std::size_t i = 0; i < parts.merges.size(); ++i) {
    const std::string_view merge = parts.merges[i];
    // A piece may be a space itself only as the first character of a side.
    const std::size_t space = merge.find(' ', 1);
    if (space == std::string_view::npos) {
      return bad("merges", i, "has no space between two pieces");
    }
    const auto left = ids.find(merge.substr(0, space));
    const auto right = ids.find(merge.substr(space + 1));
    if (left == ids.end() || right == ids.end()) {
      return bad("merges", i, "names a piece that is no token");
    }
    pairs.push_back({left->second, right->second});
  }
  return pairs;
}

/// All ways to make each piece from two others, in the order in which Hugging Face's converter of
/// sentencepiece models lists them (tokenizers, generate_merges): best score first, then the longer
/// left side, then the longer right one.
std::vector<Merge> merges_by_score(const SubwordVocabulary& tokens, std::span<const float> scores) {
  struct Scored {
    Merge merge;
    float score;
    std::uint16_t left_length;
    std::uint16_t right_length;
  };
  std::vector<Scored> found;
  for (TokenId id = 0; id < tokens.total(); ++id) {
    const std::string_view piece = tokens.bytes(id);
    if (tokens.kind(id) != SubwordTokenKind::Normal || tokens.user_defined(id)) {
      continue;
    }
    const std::size_t first = found.size();
    for (std::size_t cut = 1; cut < piece.size(); ++cut) {
      const TokenId left = tokens.find(piece.substr(0, cut));
      const TokenId right = left == kNoToken ? kNoToken : tokens.find(piece.substr(cut));
      if (right != kNoToken) {
        found.push_back({{left, right, id},
                         scores[id],
                         static_cast<std::uint16_t>(length_in_characters(piece.substr(0, cut))),
                         static_cast<std::uint16_t>(length_in_characters(piece.substr(cut)))});
      }
    }
    std::sort(found.begin() + first, found.end(), [](const Scored& a, const Scored& b) {
      return std::pair(a.merge.left, a.merge.right) < std::pair(b.merge.left, b.merge.right);
    });
  }
  std::stable_sort(found.begin(), found.end(), [](const Scored& a, const Scored& b) {
    return std::tuple(a.score, a.left_length, a.right_length) >
           std::tuple(b.score, b.left_length, b.right_length);
  });
  std::vector<Merge> merges;
  merges.reserve(found.size());
  for (const Scored& scored : found) {
    merges.push_back(scored.merge);
  }
  return merges;
}

Result<std::vector<Merge>> merges_of_pairs(const SubwordVocabulary& tokens, const Pairs& pairs) {
  std::vector<Merge> merges;
  merges.reserve(pairs.size());
  std::string joined;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto [left, right] = pairs[i];
    if (left >= tokens.total() || right >= tokens.total()) {
      return bad("merges", i,
                 "names token " + std::to_string(std::max(left, right)) + " of " +
                     std::to_string(tokens.total()));
    }
    joined = tokens.bytes(left);
    joined += tokens.bytes(right);
    const TokenId result = tokens.find(joined);
    if (result == kNoToken) {
      return bad("merges", i, "makes a piece that is no token");
    }
    merges.push_back({left, right, result});
  }
  return merges;
}

Status check_counts(const SubwordParts& parts) {
  const std::size_t size = parts.tokens.size();
  if (size > kMaxSubwordTokens) {
    return Error{ErrorCode::TooLarge, "tokens: " + std::to_string(size) + ", at most " +
                                          std::to_string(kMaxSubwordTokens)};
  }
  if (!parts.roles.empty() && parts.roles.size() != size) {
    return Error{ErrorCode::Corrupt, "token types: " + std::to_string(parts.roles.size()) +
                                         " for " + std::to_string(size) + " tokens"};
  }
  if (!parts.scores.empty() && parts.scores.size() != size) {
    return Error{ErrorCode::Corrupt, "scores: " + std::to_string(parts.scores.size()) + " for " +
                                         std::to_string(size) + " tokens"};
  }
  const std::size_t merges = std::max(parts.merges.size(), parts.merge_ids.size());
  if (merges > kMaxSubwordMerges) {
    return Error{ErrorCode::TooLarge, "merges: " + std::to_string(merges) + ", at most " +
                                          std::to_string(kMaxSubwordMerges)};
  }
  if (!parts.merges.empty() + !parts.merge_ids.empty() + !parts.scores.empty() > 1) {
    return Error{ErrorCode::BadArgument, "merges: given in more than one way"};
  }
  for (std::size_t id = 0; id < parts.roles.size(); ++id) {
    if (parts.roles[id] < PieceRole::Normal || parts.roles[id] > PieceRole::Byte) {
      return bad("token types", id,
                 "is " + std::to_string(static_cast<int>(parts.roles[id])) + ", not 1 to 6");
    }
  }
  for (std::size_t id = 0; id < parts.scores.size(); ++id) {
    if (!std::isfinite(parts.scores[id])) {
      return bad("scores", id, "is not a finite number");
    }
  }
  return {};
}

Result<SubwordTokenizer> build(const SubwordParts& parts) {
  if (Status status = check_counts(parts); !status) {
    return std::move(status).error();
  }
  Result<Decoded> decoded = decode_pieces(parts);
  if (!decoded) {
    return std::move(decoded).error();
  }
  const std::size_t rows = decoded->tokens.size();
  Result<SubwordVocabulary> vocabulary = SubwordVocabulary::create(decoded->tokens, rows);
  if (!vocabulary) {
    return std::move(vocabulary).error();
  }
  Result<std::vector<Merge>> merges{std::vector<Merge>()};
  if (!parts.scores.empty()) {
    merges = merges_by_score(*vocabulary, parts.scores);
  } else if (!parts.merge_ids.empty()) {
    merges = merges_of_pairs(*vocabulary, parts.merge_ids);
  } else {
    Result<Pairs> pairs = merges_by_name(parts);
    if (!pairs) {
      return std::move(pairs).error();
    }
    merges = merges_of_pairs(*vocabulary, *pairs);
  }
  if (!merges) {
    return std::move(merges).error();
  }
  return SubwordAssembly::make(parts.options, decoded->tokens, rows, std::move(merges).value());
}

}  // namespace

Result<SubwordTokenizer> SubwordTokenizer::from_parts(const SubwordParts& parts) {
  Result<SubwordTokenizer> made = build(parts);
  if (!made) {
    return Error{made.error().code, "tokenizer: " + made.error().message};
  }
  return made;
}

Status set_gguf_tokenizer(std::string_view model, std::string_view pre, SubwordOptions& options) {
  struct Known {
    std::string_view pre;
    PreTokenizer pre_tokenizer;
    SubwordNormalizer normalizer;
    bool ignore_merges;
  };
  static constexpr Known kKnown[] = {
      {"gpt-2", PreTokenizer::Gpt2, SubwordNormalizer::None, false},
      {"gpt2", PreTokenizer::Gpt2, SubwordNormalizer::None, false},
      {"smollm", PreTokenizer::SmolLm, SubwordNormalizer::None, false},
      {"llama-bpe", PreTokenizer::Llama3, SubwordNormalizer::None, true},
      {"llama3", PreTokenizer::Llama3, SubwordNormalizer::None, true},
      {"llama-v3", PreTokenizer::Llama3, SubwordNormalizer::None, true},
      {"qwen2", PreTokenizer::Qwen2, SubwordNormalizer::Nfc, false},
  };
  if (model == "llama") {
    if (!pre.empty() && pre != "default") {
      return Error{ErrorCode::Unsupported, "tokenizer.ggml.pre: \"" + std::string(pre) +
                                               "\" with tokenizer.ggml.model \"llama\""};
    }
    options.kind = SubwordKind::Sentencepiece;
    options.pre_tokenizer = PreTokenizer::None;
    options.normalizer = SubwordNormalizer::None;
    options.ignore_merges = false;
    return {};
  }
  if (model != "gpt2") {
    return Error{ErrorCode::Unsupported, "tokenizer.ggml.model: \"" + std::string(model) +
                                             "\"; known: \"gpt2\", \"llama\""};
  }
  for (const Known& known : kKnown) {
    if (known.pre == pre) {
      options.kind = SubwordKind::ByteLevel;
      options.pre_tokenizer = known.pre_tokenizer;
      options.normalizer = known.normalizer;
      options.ignore_merges = known.ignore_merges;
      options.prefix_space = PrefixSpace::Never;
      return {};
    }
  }
  return Error{ErrorCode::Unsupported,
               "tokenizer.ggml.pre: \"" + std::string(pre) +
                   "\"; known: gpt-2, smollm, llama-bpe, qwen2. A tokenizer.json beside the file "
                   "may say more: convert that folder"};
}

}  // namespace laya::text
