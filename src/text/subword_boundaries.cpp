#include "text/subword_boundaries.h"

#include <bit>

#include "base/utf8.h"

namespace laya::text {
namespace {

/// Steele et al. 2014, "Fast splittable pseudorandom number generators": its finaliser.
std::uint64_t hash_pair(char32_t left, char32_t right) {
  std::uint64_t key = (std::uint64_t{left} << 21) | right;
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9ULL;
  key = (key ^ (key >> 27)) * 0x94d049bb133111ebULL;
  return key ^ (key >> 31);
}

std::uint64_t two_bits(std::uint64_t hash) {
  return (std::uint64_t{1} << (hash & 63)) | (std::uint64_t{1} << ((hash >> 6) & 63));
}

constexpr std::size_t kPairsPerWord = 4;  // 8 of 64 bits set: 1.5 % answer "joined" wrongly

}  // namespace

void CharacterPairs::reserve(std::size_t pairs) {
  words_.assign(std::bit_ceil(pairs / kPairsPerWord + 1), 0);
}

void CharacterPairs::add(std::string_view token) {
  char32_t left = 0;
  for (std::size_t at = 0; at < token.size();) {
    auto right = static_cast<char32_t>(static_cast<unsigned char>(token[at]));
    std::size_t length = 1;
    if (right >= 0x80) {
      const base::Decoded decoded = base::decode_utf8(token.substr(at));
      right = decoded.code_point;
      length = decoded.length;
    }
    if (at > 0) {
      const std::uint64_t hash = hash_pair(left, right);
      words_[(hash >> 12) & (words_.size() - 1)] |= two_bits(hash);
    }
    left = right;
    at += length;
  }
}

bool CharacterPairs::joined(char32_t left, char32_t right) const {
  const std::uint64_t hash = hash_pair(left, right);
  const std::uint64_t bits = two_bits(hash);
  return (words_[(hash >> 12) & (words_.size() - 1)] & bits) == bits;
}

UserDefinedTokens::UserDefinedTokens(std::vector<std::uint32_t> ids,
                                     std::vector<std::string_view> tokens)
    : ids_(std::move(ids)) {
  offsets_.push_back(0);
  for (const std::string_view token : tokens) {
    bytes_.insert(bytes_.end(), token.begin(), token.end());
    offsets_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    starts_[static_cast<std::uint8_t>(token[0])] = true;
  }
}

UserDefinedTokens::Match UserDefinedTokens::match(std::string_view text) const {
  Match found{0, 0, false};
  if (text.empty() || !starts_[static_cast<std::uint8_t>(text[0])]) {
    return found;
  }
  const auto token = [this](std::size_t i) {
    return std::string_view(bytes_.data() + offsets_[i], offsets_[i + 1] - offsets_[i]);
  };
  // [low, high): the tokens that begin with the first `depth` bytes of the text, sorted.
  std::size_t low = 0;
  std::size_t high = ids_.size();
  for (std::size_t depth = 0;; ++depth) {
    if (low < high && depth > 0 && token(low).size() == depth) {
      found.bytes = depth;
      found.id = ids_[low];
      ++low;
    }
    if (low == high) {
      return found;
    }
    if (depth == text.size()) {
      found.open = true;
      return found;
    }
    const char byte = text[depth];
    while (low < high && token(low)[depth] != byte) {
      ++low;
    }
    std::size_t behind = low;
    while (behind < high && token(behind)[depth] == byte) {
      ++behind;
    }
    high = behind;
  }
}

}  // namespace laya::text
