#include "text/chunk.h"

#include "base/utf8.h"
#include "text/script.h"

namespace laya::text {
namespace {

// ASCII goes through a table-free fast path: it is most of what runs are made of.
ChunkKind kind_of(char32_t code_point) {
  if (code_point > 0x20 && code_point < 0x2E80 && code_point != 0x7F) {
    return ChunkKind::Run;
  }
  if (code_point == ' ') {
    return ChunkKind::Space;
  }
  if (code_point == '\n') {
    return ChunkKind::Newline;
  }
  if (code_point < 0x20 || code_point == 0x7F) {
    return ChunkKind::Control;
  }
  if (is_han(code_point)) {
    return ChunkKind::Ideograph;
  }
  if (is_cjk_punctuation(code_point)) {
    return ChunkKind::Punctuation;
  }
  return ChunkKind::Run;
}

struct Character {
  ChunkKind kind;
  std::uint32_t length;
};

Character character_at(std::string_view text, std::size_t offset) {
  const auto byte = static_cast<std::uint8_t>(text[offset]);
  if (byte < 0x80) {
    return {kind_of(byte), 1};
  }
  const base::Decoded decoded = base::decode_utf8(text.substr(offset));
  if (decoded.status != base::Utf8Status::Valid) {
    return {ChunkKind::Run,
            1};  // one ill-formed byte at a time, so that cutting depends on no later bytes
  }
  return {kind_of(decoded.code_point), decoded.length};
}

}  // namespace

Chunk next_chunk(std::string_view text) {
  const Character first = character_at(text, 0);
  std::uint32_t length = first.length;
  if (first.kind == ChunkKind::Run) {
    while (length < text.size()) {
      const Character next = character_at(text, length);
      if (next.kind != ChunkKind::Run || length + next.length > kMaxRunBytes) {
        break;
      }
      length += next.length;
    }
  }
  Chunk chunk{length, first.kind, first.kind == ChunkKind::Space};
  const bool takes_space = first.kind == ChunkKind::Run || first.kind == ChunkKind::Ideograph ||
                           first.kind == ChunkKind::Punctuation;
  if (takes_space && length < text.size() && text[length] == ' ') {
    ++chunk.length;
    chunk.ends_in_space = true;
  }
  return chunk;
}

}  // namespace laya::text
