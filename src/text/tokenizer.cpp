#include "text/tokenizer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/utf8.h"
#include "text/chunk.h"

namespace laya::text {
namespace {

constexpr float kUnknownPenalty = 10;  // sentencepiece, unigram_model.cc, kUnkPenalty

/// The best way to reach a byte of the chunk.
struct Step {
  float score;
  std::uint16_t from;  // byte where the last piece starts
  TokenId piece;       // kNoToken: a character without a piece, to be written as bytes
};

}  // namespace

Tokenizer::Tokenizer(Vocabulary vocabulary)
    : vocabulary_(std::move(vocabulary)),
      trie_(vocabulary_),
      unknown_score_(vocabulary_.lowest_score() - kUnknownPenalty) {}

std::vector<TokenId> Tokenizer::encode(std::string_view text) const {
  std::vector<TokenId> ids;
  encode(text, ids);
  return ids;
}

namespace {

/// Cuts one chunk and calls emit(id, end byte) for each token.
template <typename Emit>
void cut(const Vocabulary& vocabulary, const Trie& trie, float unknown_score,
         std::string_view chunk, Emit emit) {
  if (chunk == "\n") {
    emit(vocabulary.newline_id(), 1u);
    return;
  }
  std::array<Step, kMaxChunkBytes + 1> best;
  const std::size_t size = std::min(chunk.size(), kMaxChunkBytes);
  for (std::size_t i = 1; i <= size; ++i) {
    best[i].score = -std::numeric_limits<float>::infinity();
  }
  best[0] = {0, 0, kNoToken};
  for (std::size_t at = 0; at < size;) {
    const auto first = static_cast<std::uint8_t>(chunk[at]);
    std::size_t character = 1;
    if (first >= 0x80) {
      const base::Decoded decoded = base::decode_utf8(chunk.substr(at));
      character = decoded.status == base::Utf8Status::Valid ? decoded.length : 1;
    }
    const float here = best[at].score;
    bool has_character = false;
    Trie::Node node = Trie::kRoot;
    for (std::size_t end = at; end < size;) {
      node = trie.child(node, static_cast<std::uint8_t>(chunk[end]));
      if (node == Trie::kNone) {
        break;
      }
      ++end;
      const TokenId piece = trie.piece(node);
      if (piece == kNoToken) {
        continue;
      }
      has_character = has_character || end - at == character;
      const float score = here + trie.score(node);
      if (score > best[end].score) {
        best[end] = {score, static_cast<std::uint16_t>(at), piece};
      }
    }
    if (!has_character && here + unknown_score > best[at + character].score) {
      best[at + character] = {here + unknown_score, static_cast<std::uint16_t>(at), kNoToken};
    }
    at += character;
  }

  // Back from the end, then forward: the ends of the pieces on the best path.
  std::array<std::uint16_t, kMaxChunkBytes + 1> path;
  std::size_t pieces = 0;
  for (std::size_t end = size; end > 0; end = best[end].from) {
    path[pieces++] = static_cast<std::uint16_t>(end);
  }
  while (pieces > 0) {
    const std::size_t end = path[--pieces];
    const Step& step = best[end];
    if (step.piece != kNoToken) {
      emit(step.piece, static_cast<std::uint32_t>(end));
      continue;
    }
    for (std::size_t i = step.from; i < end; ++i) {
      emit(vocabulary.byte_id(static_cast<std::uint8_t>(chunk[i])),
           static_cast<std::uint32_t>(i + 1));
    }
  }
}

}  // namespace

void Tokenizer::encode(std::string_view text, std::vector<TokenId>& ids) const {
  while (!text.empty()) {
    const Chunk chunk = next_chunk(text);
    cut(vocabulary_, trie_, unknown_score_, text.substr(0, chunk.length),
        [&](TokenId id, std::uint32_t) { ids.push_back(id); });
    text.remove_prefix(chunk.length);
  }
}

void Tokenizer::encode(std::string_view text, Tokens& out, std::uint32_t base_offset) const {
  while (!text.empty()) {
    const Chunk chunk = next_chunk(text);
    encode_chunk(text.substr(0, chunk.length), out, base_offset);
    text.remove_prefix(chunk.length);
    base_offset += chunk.length;
  }
}

void Tokenizer::encode_chunk(std::string_view chunk, Tokens& out, std::uint32_t base_offset) const {
  cut(vocabulary_, trie_, unknown_score_, chunk, [&](TokenId id, std::uint32_t end) {
    out.ids.push_back(id);
    out.ends.push_back(base_offset + end);
  });
}

std::string Tokenizer::decode(std::span<const TokenId> ids) const {
  std::string out;
  decode(ids, out);
  return out;
}

void Tokenizer::decode(std::span<const TokenId> ids, std::string& out) const {
  for (const TokenId id : ids) {
    if (id < vocabulary_.size()) {
      out += vocabulary_.text(id);
    }
  }
}

}  // namespace laya::text
