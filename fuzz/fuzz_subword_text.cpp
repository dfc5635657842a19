// Subword tokenizers of every kind on any text: it comes back; the tokens of its closed front stay
// when more is appended, and going on from there gives the rest; fewer rows change nothing but the
// tokens that are gone. The first byte says where the text is cut in two.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_target.h"
#include "text/subword_tokenizer.h"

using laya::TokenId;
using laya::fuzz::require;
namespace text = laya::text;

namespace {

/// Pieces and merges that meet the shapes that matter, by real bytes: chains, overlaps, runs, Han.
const std::vector<std::string> kPieces = {"th",  "the", " t",   " the", "he",  "er", "in",
                                          "ing", "aa",  "aaaa", "ab",   "aba", "  ", "\n\n",
                                          "12",  "!!",  "我们", "们的", "é"};

text::SubwordTokenizer byte_level(text::PreTokenizer kind, text::SubwordNormalizer normalizer) {
  text::SubwordParts parts;
  parts.options.pre_tokenizer = kind;
  parts.options.normalizer = normalizer;
  parts.options.ignore_merges = kind == text::PreTokenizer::Llama3;
  std::vector<std::string> alphabet;  // GPT-2's characters for the bytes 0…255
  std::string next = "\xC4\x80";      // U+0100
  for (int byte = 0; byte < 256; ++byte) {
    if (byte >= '!' && byte <= '~') {
      alphabet.emplace_back(1, static_cast<char>(byte));
    } else if ((byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE) {
      alphabet.push_back(
          {static_cast<char>(0xC0 | (byte >> 6)), static_cast<char>(0x80 | (byte & 0x3F))});
    } else {
      alphabet.push_back(next);
      if (static_cast<unsigned char>(++next[1]) == 0xC0) {
        next = "\xC5\x80";
      }
    }
  }
  parts.tokens = alphabet;
  for (const std::string& piece : kPieces) {
    // Made letter by letter from the left; what is on the way is a token, too.
    std::string left = alphabet[static_cast<unsigned char>(piece[0])];
    for (std::size_t i = 1; i < piece.size(); ++i) {
      const std::string& right = alphabet[static_cast<unsigned char>(piece[i])];
      const std::string merge = left + " " + right;
      left += right;
      if (std::find(parts.merges.begin(), parts.merges.end(), merge) == parts.merges.end()) {
        parts.merges.push_back(merge);
        parts.tokens.push_back(left);
      }
    }
  }
  return text::SubwordTokenizer::from_parts(parts).value();
}

text::SubwordTokenizer sentencepiece(text::PrefixSpace prefix) {
  text::SubwordParts parts;
  parts.options.kind = text::SubwordKind::Sentencepiece;
  parts.options.prefix_space = prefix;
  const auto add = [&](std::string piece, text::PieceRole role, float score) {
    parts.tokens.push_back(std::move(piece));
    parts.roles.push_back(role);
    parts.scores.push_back(score);
  };
  for (int byte = 0; byte < 256; ++byte) {
    static constexpr std::string_view kHex = "0123456789ABCDEF";
    add(std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + ">", text::PieceRole::Byte, 0);
  }
  add("\n\n\n", text::PieceRole::UserDefined, 0);
  add("\n", text::PieceRole::UserDefined, 0);
  add("<td>", text::PieceRole::UserDefined, 0);
  float score = 0;
  for (const std::string& piece : kPieces) {
    add(piece, text::PieceRole::Normal, score -= 1);
  }
  for (const char* letter :
       {" ", "t", "h", "e", "r", "i", "n", "g", "a", "b", "1", "!", "我", "们"}) {
    add(letter, text::PieceRole::Normal, score -= 1);
  }
  return text::SubwordTokenizer::from_parts(parts).value();
}

const std::vector<text::SubwordTokenizer>& tokenizers() {
  using text::PreTokenizer;
  using text::SubwordNormalizer;
  static const std::vector<text::SubwordTokenizer> kAll = {
      byte_level(PreTokenizer::Gpt2, SubwordNormalizer::None),
      byte_level(PreTokenizer::SmolLm, SubwordNormalizer::None),
      byte_level(PreTokenizer::Llama3, SubwordNormalizer::None),
      byte_level(PreTokenizer::Qwen2, SubwordNormalizer::Nfc),
      sentencepiece(text::PrefixSpace::Never),
      sentencepiece(text::PrefixSpace::Always)};
  return kAll;
}

/// Every third token is gone.
std::vector<TokenId> some_of(const text::SubwordTokenizer& tokenizer) {
  std::vector<TokenId> wanted;
  for (TokenId id = 0; id < tokenizer.size(); ++id) {
    if (id % 3 != 0) {
      wanted.push_back(id);
    }
  }
  return tokenizer.required_by(wanted);
}

void check(const text::SubwordTokenizer& tokenizer, std::string_view front, std::string_view all) {
  std::vector<TokenId> ids;
  std::vector<std::uint32_t> ends;
  tokenizer.encode(all, ids, &ends);
  require(tokenizer.decode(ids) == tokenizer.normalized(all));
  require(std::is_sorted(ends.begin(), ends.end()) && (ends.empty() || ends.back() == all.size()));

  const std::size_t closed = tokenizer.closed_bytes(front);
  require(closed <= front.size());
  if (closed > 0) {
    // Cut from the tokens of the front, not encoded alone: blanks at an end are cut differently.
    std::vector<TokenId> pieces;
    ends.clear();
    tokenizer.encode(front, pieces, &ends);
    const auto behind = std::upper_bound(ends.begin(), ends.end(), closed);
    require(behind != ends.begin() && *(behind - 1) == closed);
    pieces.resize(static_cast<std::size_t>(behind - ends.begin()));
    tokenizer.encode(all.substr(closed), pieces, nullptr, text::TextPosition::Rest);
    require(pieces == ids);
  }
}

struct Pair {
  const text::SubwordTokenizer* whole;
  std::vector<TokenId> kept;
  text::SubwordTokenizer fewer;
};

const std::vector<Pair>& pairs() {
  static const std::vector<Pair> kAll = [] {
    std::vector<Pair> made;
    for (const text::SubwordTokenizer& tokenizer : tokenizers()) {
      std::vector<TokenId> kept = some_of(tokenizer);
      text::SubwordTokenizer fewer = tokenizer.pruned(kept).value();
      made.push_back({&tokenizer, std::move(kept), std::move(fewer)});
    }
    return made;
  }();
  return kAll;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view all(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string_view front = all.substr(0, all.empty() ? 0 : data[0] % (all.size() + 1));
  for (const Pair& pair : pairs()) {
    check(*pair.whole, front, all);
    check(pair.fewer, front, all);
    const std::vector<TokenId> before = pair.whole->encode(all);
    if (std::all_of(before.begin(), before.end(), [&](TokenId id) {
          return std::binary_search(pair.kept.begin(), pair.kept.end(), id);
        })) {
      const std::vector<TokenId> after = pair.fewer.encode(all);
      require(std::equal(after.begin(), after.end(), before.begin(), before.end(),
                         [&](TokenId row, TokenId id) { return pair.kept[row] == id; }));
    }
  }
  return 0;
}
