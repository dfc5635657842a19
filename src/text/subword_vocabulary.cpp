#include "text/subword_vocabulary.h"

#include <algorithm>
#include <bit>

#include "base/fnv1a.h"
#include "text/subword_parts.h"

namespace laya::text {
namespace {

std::size_t hash_of(std::string_view bytes) {
  const std::uint64_t hash = base::fnv1a_64(std::as_bytes(std::span(bytes)));
  return static_cast<std::size_t>(hash ^ (hash >> 32));  // FNV's low bits alone are weak
}

Error bad_token(std::size_t id, const std::string& what) {
  return {ErrorCode::Corrupt, "tokens[" + std::to_string(id) + "] " + what};
}

}  // namespace

Result<SubwordVocabulary> SubwordVocabulary::create(std::span<const Token> tokens,
                                                    std::size_t rows) {
  if (tokens.size() > kMaxSubwordTokens || rows > tokens.size()) {
    return Error{ErrorCode::TooLarge, "tokens: " + std::to_string(tokens.size()) + ", at most " +
                                          std::to_string(kMaxSubwordTokens) +
                                          " and as many as there are rows"};
  }
  SubwordVocabulary made;
  made.rows_ = rows;
  made.offsets_.reserve(tokens.size() + 1);
  made.offsets_.push_back(0);
  made.kinds_.reserve(tokens.size());
  made.user_defined_.reserve(tokens.size());
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const Token& token = tokens[id];
    if (token.text.size() > kMaxSubwordBytes) {
      return Error{ErrorCode::TooLarge, "tokens[" + std::to_string(id) + "] has " +
                                            std::to_string(token.text.size()) + " bytes, at most " +
                                            std::to_string(kMaxSubwordBytes)};
    }
    // 2^20 tokens of 2^10 bytes fit 32 bits.
    made.bytes_ += token.text;
    made.offsets_.push_back(static_cast<std::uint32_t>(made.bytes_.size()));
    made.kinds_.push_back(token.kind);
    made.user_defined_.push_back(token.user_defined ? 1 : 0);
  }
  if (Status status = made.index(); !status) {
    return std::move(status).error();
  }
  return made;
}

Status SubwordVocabulary::index() {
  byte_ids_.fill(kNoToken);
  table_.assign(std::bit_ceil(std::max<std::size_t>(total() * 2, 2)), kNoToken);
  const std::size_t mask = table_.size() - 1;
  for (TokenId id = 0; id < total(); ++id) {
    const std::string_view token = text(id);
    if (kinds_[id] == SubwordTokenKind::Control) {
      continue;
    }
    if (token.empty()) {
      return bad_token(id, "has no bytes");
    }
    if (kinds_[id] == SubwordTokenKind::Byte) {
      if (token.size() != 1) {
        return bad_token(id, "is a byte of " + std::to_string(token.size()) + " bytes");
      }
      TokenId& slot = byte_ids_[static_cast<std::uint8_t>(token[0])];
      if (slot != kNoToken) {
        return bad_token(id, "is the same byte as tokens[" + std::to_string(slot) + "]");
      }
      slot = id;
      continue;
    }
    std::size_t slot = hash_of(token) & mask;
    for (; table_[slot] != kNoToken; slot = (slot + 1) & mask) {
      if (text(table_[slot]) == token) {
        return bad_token(id, "has the same bytes as tokens[" + std::to_string(table_[slot]) + "]");
      }
    }
    table_[slot] = id;
  }
  for (TokenId id = 0; id < total(); ++id) {
    if (kinds_[id] == SubwordTokenKind::Normal && text(id).size() == 1) {
      TokenId& slot = byte_ids_[static_cast<std::uint8_t>(text(id)[0])];
      slot = slot == kNoToken ? id : slot;
    }
  }
  sort_rows();
  return {};
}

void SubwordVocabulary::sort_rows() {
  // The first eight bytes as a number decide nearly always; comparing texts costs two cache misses.
  struct Row {
    std::uint64_t front;
    TokenId id;
  };
  std::vector<Row> order;
  order.reserve(rows_);
  for (TokenId id = 0; id < rows_; ++id) {
    const std::string_view token = text(id);
    if (kinds_[id] == SubwordTokenKind::Normal ||
        (kinds_[id] == SubwordTokenKind::Byte && find_row(token) == id)) {
      std::uint64_t front = 0;
      for (std::size_t i = 0; i < sizeof(front); ++i) {
        front = front << 8 | (i < token.size() ? static_cast<std::uint8_t>(token[i]) : 0u);
      }
      order.push_back({front, id});
    }
  }
  std::sort(order.begin(), order.end(), [this](const Row& a, const Row& b) {
    return a.front != b.front ? a.front < b.front : text(a.id) < text(b.id);
  });
  sorted_.reserve(order.size());
  for (const Row& row : order) {
    sorted_.push_back(row.id);
  }
}

TokenId SubwordVocabulary::find(std::string_view bytes) const {
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = hash_of(bytes) & mask;
  for (; table_[slot] != kNoToken; slot = (slot + 1) & mask) {
    if (text(table_[slot]) == bytes) {
      return table_[slot];
    }
  }
  return kNoToken;
}

TokenId SubwordVocabulary::find_row(std::string_view bytes) const {
  TokenId id = find(bytes);
  if (id >= rows_ && bytes.size() == 1) {
    id = byte_ids_[static_cast<std::uint8_t>(bytes[0])];
  }
  return id < rows_ ? id : kNoToken;
}

std::span<const TokenId> SubwordVocabulary::with_prefix(std::string_view prefix) const {
  const auto first =
      std::lower_bound(sorted_.begin(), sorted_.end(), prefix,
                       [this](TokenId id, std::string_view key) { return text(id) < key; });
  const auto last = std::partition_point(first, sorted_.end(),
                                         [&](TokenId id) { return text(id).starts_with(prefix); });
  return {first, last};
}

std::size_t SubwordVocabulary::size_bytes() const {
  return bytes_.size() + offsets_.size() * sizeof(std::uint32_t) + kinds_.size() * 2 +
         (table_.size() + sorted_.size()) * sizeof(TokenId);
}

}  // namespace laya::text
