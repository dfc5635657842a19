// The pieces that text is cut into: what each piece's bytes are, how likely it is, what it is for.
//
// Made once by sentencepiece (vocabulary_import.h); stored as a small blob of our own
// inside every `.laya` file and in models/instant/vocabulary.bin, so that nothing of sentencepiece
// is needed to type. The layout of the blob is at the top of vocabulary.cpp. Immutable after
// construction and safe to share between threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"

namespace laya::text {

/// What a piece stands for.
enum class PieceType : std::uint8_t {
  Normal = 0,   ///< some text; English words carry the space behind them: "the " is the whole word,
                ///< "the" goes on
  Unknown = 1,  ///< reserved by the trainer; never produced, stands for no bytes
  Begin = 2,    ///< start of a sequence (BOS); stands for no bytes
  Newline = 3,  ///< "\n": end of a line or an utterance
  Symbol = 4,   ///< stands for a class of things in anonymised text: <EMAIL>, <URL>, <NUM>
  Byte = 5,     ///< one byte of a character that has no piece of its own
};

/// One piece as the importer gives it. `text` is the bytes it decodes to (a space is a space, not
/// U+2581).
struct Piece {
  std::string text;
  float score;  ///< log-probability (natural, unigram model); 0 where the type is not Normal
  PieceType type;
};

class Vocabulary {
 public:
  /// Limits that parse() and create() enforce.
  static constexpr std::size_t kMaxPieces = 1u << 20;
  static constexpr std::size_t kMaxPieceBytes = 255;

  /// Checks and indexes `pieces` (their order gives the ids). BadArgument, naming the piece by
  /// number, unless there are exactly one Begin and one Newline, all 256 Byte pieces, finite scores
  /// ≤ 0 and no text twice among Normal and Symbol pieces.
  static Result<Vocabulary> create(const std::vector<Piece>& pieces);

  /// Reads what serialize() wrote. Corrupt, Version or TooLarge for anything else, naming the
  /// field. The bytes are copied.
  static Result<Vocabulary> parse(std::span<const std::byte> blob);
  std::vector<std::byte> serialize() const;

  std::size_t size() const { return entries_.size(); }

  /// The bytes `id` decodes to: empty for Unknown and Begin. `id` < size(). The view lives as long
  /// as the vocabulary.
  std::string_view text(TokenId id) const {
    return {bytes_.data() + entries_[id].offset, entries_[id].length};
  }
  float score(TokenId id) const { return entries_[id].score; }
  PieceType type(TokenId id) const { return entries_[id].type; }

  TokenId begin_id() const { return begin_id_; }
  TokenId newline_id() const { return newline_id_; }
  TokenId byte_id(std::uint8_t byte) const { return byte_ids_[byte]; }

  /// The Normal or Symbol piece that is exactly `text`, or kNoToken. O(log size).
  TokenId find(std::string_view text) const;

  /// Ids of the Normal pieces whose text starts with `prefix` (the prefix itself included), ordered
  /// by their bytes; the rows of the output matrix that can match a typed prefix. All Normal pieces
  /// for "". O(log size); lives as long as the vocabulary.
  std::span<const TokenId> with_prefix(std::string_view prefix) const;

  /// Normal pieces ordered by their bytes, and Symbols likewise. For building indexes (trie.h).
  std::span<const TokenId> sorted_normal() const { return sorted_; }
  std::span<const TokenId> sorted_symbols() const { return symbols_; }

  /// The lowest score of a Normal piece; what a byte costs is derived from it.
  float lowest_score() const { return lowest_score_; }

  /// Same pieces, same order. Two files with equal fingerprints can exchange token ids (FNV-1a over
  /// the blob).
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  struct Entry {
    std::uint32_t offset;  // into bytes_
    std::uint8_t length;
    PieceType type;
    float score;
  };

  Vocabulary() = default;
  Status index();  // fills everything below entries_ and bytes_

  std::string bytes_;
  std::vector<Entry> entries_;
  std::vector<TokenId> sorted_;
  std::vector<TokenId> symbols_;
  std::array<TokenId, 256> byte_ids_{};
  TokenId begin_id_ = kNoToken;
  TokenId newline_id_ = kNoToken;
  float lowest_score_ = 0;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace laya::text
