// The blob, all little-endian:
//   "LVOC"                u8[4]
//   version               u32     1
//   count                 u32     pieces
//   text_bytes            u32     sum of lengths
//   scores                f32[count]
//   types                 u8[count]      PieceType
//   lengths               u8[count]
//   texts                 u8[text_bytes] one after another, in id order
//   checksum              u64     FNV-1a of all bytes before it
//   (http://www.isthe.com/chongo/tech/comp/fnv/)
#include "text/vocabulary.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/byte_reader.h"
#include "base/fnv1a.h"

namespace laya::text {
namespace {

constexpr std::string_view kMagic = "LVOC";
constexpr std::uint32_t kVersion = 1;
constexpr float kLowestScore = -1000;  // unigram scores of a 16 k vocabulary lie above -20

/// Fills a buffer of known size from its front.
class Writer {
 public:
  explicit Writer(std::vector<std::byte>& out) : out_(out) {}
  void bytes(const void* data, std::size_t size) {
    if (size > 0) {
      std::memcpy(out_.data() + position_, data, size);
      position_ += size;
    }
  }
  template <typename T>
  void put(T value) {
    bytes(&value, sizeof(value));
  }
  std::size_t position() const { return position_; }

 private:
  std::vector<std::byte>& out_;
  std::size_t position_ = 0;
};

Error bad_piece(std::size_t id, const char* what) {
  return {ErrorCode::Corrupt, "vocabulary: piece " + std::to_string(id) + " " + what};
}

}  // namespace

Result<Vocabulary> Vocabulary::create(const std::vector<Piece>& pieces) {
  if (pieces.size() > kMaxPieces) {
    return Error{ErrorCode::TooLarge, "vocabulary: " + std::to_string(pieces.size()) +
                                          " pieces, at most " + std::to_string(kMaxPieces)};
  }
  Vocabulary made;
  made.entries_.reserve(pieces.size());
  for (const Piece& piece : pieces) {
    if (piece.text.size() > kMaxPieceBytes) {
      return Error{ErrorCode::TooLarge, "vocabulary: piece " +
                                            std::to_string(made.entries_.size()) + " has " +
                                            std::to_string(piece.text.size()) + " bytes, at most " +
                                            std::to_string(kMaxPieceBytes)};
    }
    made.entries_.push_back({static_cast<std::uint32_t>(made.bytes_.size()),
                             static_cast<std::uint8_t>(piece.text.size()), piece.type,
                             piece.score});
    made.bytes_ += piece.text;
  }
  if (Status status = made.index(); !status) {
    Error error = std::move(status).error();
    error.code = ErrorCode::BadArgument;
    return error;
  }
  return made;
}

Result<Vocabulary> Vocabulary::parse(std::span<const std::byte> blob) {
  base::ByteReader reader(blob);
  const std::string_view magic = reader.text(kMagic.size(), "magic");
  if (magic != kMagic) {
    return Error{ErrorCode::Corrupt, "vocabulary: does not start with LVOC, so it is none"};
  }
  const std::uint32_t version = reader.u32("version");
  if (!reader.failed() && version != kVersion) {
    return Error{ErrorCode::Version, "vocabulary: version " + std::to_string(version) +
                                         ", this build reads " + std::to_string(kVersion)};
  }
  const std::uint32_t count = reader.u32("count");
  if (count > kMaxPieces) {
    return Error{ErrorCode::TooLarge, "vocabulary: count " + std::to_string(count) + ", at most " +
                                          std::to_string(kMaxPieces)};
  }
  const std::uint32_t text_bytes = reader.u32("text_bytes");
  const auto scores = reader.bytes(std::uint64_t{count} * sizeof(float), "scores");
  const auto types = reader.bytes(count, "types");
  const auto lengths = reader.bytes(count, "lengths");
  const std::string_view texts = reader.text(text_bytes, "texts");
  const std::size_t body_bytes = reader.position();
  const std::uint64_t checksum = reader.u64("checksum");
  if (Status status = reader.status("vocabulary"); !status) {
    return std::move(status).error();
  }
  if (reader.left() != 0) {
    return Error{ErrorCode::Corrupt,
                 "vocabulary: " + std::to_string(reader.left()) + " bytes behind its end"};
  }
  if (checksum != base::fnv1a_64(blob.first(body_bytes))) {
    return Error{ErrorCode::Corrupt, "vocabulary: checksum does not match, the file is damaged"};
  }

  Vocabulary made;
  made.bytes_ = texts;
  made.entries_.resize(count);
  std::uint32_t offset = 0;
  for (std::size_t id = 0; id < count; ++id) {
    Entry& entry = made.entries_[id];
    entry.offset = offset;
    entry.length = std::to_integer<std::uint8_t>(lengths[id]);
    std::memcpy(&entry.score, scores.data() + id * sizeof(float), sizeof(float));
    const auto type = std::to_integer<std::uint8_t>(types[id]);
    if (type > static_cast<std::uint8_t>(PieceType::Byte)) {
      return bad_piece(id, "has an unknown type");
    }
    entry.type = static_cast<PieceType>(type);
    if (entry.length > text_bytes - offset) {
      return bad_piece(id, "reaches beyond text_bytes");
    }
    offset += entry.length;
  }
  if (offset != text_bytes) {
    return Error{ErrorCode::Corrupt, "vocabulary: text_bytes is not the sum of the lengths"};
  }
  if (Status status = made.index(); !status) {
    return std::move(status).error();
  }
  return made;
}

std::vector<std::byte> Vocabulary::serialize() const {
  const std::size_t head = kMagic.size() + 3 * sizeof(std::uint32_t);
  const std::size_t per_piece = sizeof(float) + 2;
  std::vector<std::byte> out(head + entries_.size() * per_piece + bytes_.size() +
                             sizeof(std::uint64_t));
  Writer writer(out);
  writer.bytes(kMagic.data(), kMagic.size());
  writer.put(kVersion);
  writer.put(static_cast<std::uint32_t>(entries_.size()));
  writer.put(static_cast<std::uint32_t>(bytes_.size()));
  for (const Entry& entry : entries_) {
    writer.put(entry.score);
  }
  for (const Entry& entry : entries_) {
    writer.put(static_cast<std::uint8_t>(entry.type));
  }
  for (const Entry& entry : entries_) {
    writer.put(entry.length);
  }
  writer.bytes(bytes_.data(), bytes_.size());
  writer.put(base::fnv1a_64(std::span(out).first(writer.position())));
  return out;
}

Status Vocabulary::index() {
  byte_ids_.fill(kNoToken);
  for (TokenId id = 0; id < entries_.size(); ++id) {
    const Entry& entry = entries_[id];
    // The lower bound keeps sums over a chunk finite.
    if (!std::isfinite(entry.score) || entry.score > 0 || entry.score < kLowestScore) {
      return bad_piece(id, "has a score that is no log-probability");
    }
    const bool has_text = entry.type != PieceType::Unknown && entry.type != PieceType::Begin;
    if (has_text != (entry.length > 0)) {
      return bad_piece(id, has_text ? "has no text" : "must not have text");
    }
    switch (entry.type) {
      case PieceType::Unknown:
        break;
      case PieceType::Begin:
        if (begin_id_ != kNoToken) return bad_piece(id, "is a second Begin");
        begin_id_ = id;
        break;
      case PieceType::Newline:
        if (newline_id_ != kNoToken) return bad_piece(id, "is a second Newline");
        if (text(id) != "\n") return bad_piece(id, "is the Newline but not \"\\n\"");
        newline_id_ = id;
        break;
      case PieceType::Byte: {
        if (entry.length != 1) return bad_piece(id, "is a Byte of another length than 1");
        TokenId& slot = byte_ids_[static_cast<std::uint8_t>(text(id)[0])];
        if (slot != kNoToken) return bad_piece(id, "is a Byte that was there already");
        slot = id;
        break;
      }
      case PieceType::Symbol:
        symbols_.push_back(id);
        break;
      case PieceType::Normal:
        sorted_.push_back(id);
        lowest_score_ = std::min(lowest_score_, entry.score);
        break;
    }
  }
  if (begin_id_ == kNoToken || newline_id_ == kNoToken) {
    return Error{ErrorCode::Corrupt, "vocabulary: has no Begin or no Newline piece"};
  }
  if (const auto* missing = std::find(byte_ids_.begin(), byte_ids_.end(), kNoToken);
      missing != byte_ids_.end()) {
    return Error{ErrorCode::Corrupt, "vocabulary: has no Byte piece for " +
                                         std::to_string(missing - byte_ids_.begin())};
  }
  const auto by_text = [this](TokenId a, TokenId b) { return text(a) < text(b); };
  const auto same_text = [this](TokenId a, TokenId b) { return text(a) == text(b); };
  for (auto* ids : {&sorted_, &symbols_}) {
    std::sort(ids->begin(), ids->end(), by_text);
    if (const auto twice = std::adjacent_find(ids->begin(), ids->end(), same_text);
        twice != ids->end()) {
      return bad_piece(std::max(twice[0], twice[1]), "has the text of another piece");
    }
  }
  for (const TokenId symbol : symbols_) {
    const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), symbol, by_text);
    if (at != sorted_.end() && text(*at) == text(symbol)) {
      return bad_piece(symbol, "has the text of another piece");
    }
  }
  fingerprint_ = base::fnv1a_64(serialize());
  return {};
}

TokenId Vocabulary::find(std::string_view wanted) const {
  for (const auto* ids : {&sorted_, &symbols_}) {
    const auto at =
        std::lower_bound(ids->begin(), ids->end(), wanted,
                         [this](TokenId id, std::string_view key) { return text(id) < key; });
    if (at != ids->end() && text(*at) == wanted) {
      return *at;
    }
  }
  return kNoToken;
}

std::span<const TokenId> Vocabulary::with_prefix(std::string_view prefix) const {
  const auto first =
      std::lower_bound(sorted_.begin(), sorted_.end(), prefix,
                       [this](TokenId id, std::string_view key) { return text(id) < key; });
  const auto last = std::partition_point(first, sorted_.end(), [&](TokenId id) {
    return text(id).substr(0, prefix.size()) == prefix;
  });
  return {first, last};
}

}  // namespace laya::text
