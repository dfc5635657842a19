// Where text may be cut before it is tokenised. A piece never crosses a chunk, so an edit touches
// only the chunks around it.
//
// A chunk is, from left to right:
//   "\n" alone, or one other blank control (tab, carriage return, …) alone;
//   one Han character or CJK punctuation mark, with the ONE space behind it if there is one;
//   a run of other characters that are not spaces, with the ONE space behind it if there is one (a
//     run is cut after kMaxRunBytes, so that pasted text without spaces cannot make an edit slow);
//   a space that stands behind none of these.
// Cutting looks at nothing left of the chunk's start and at most one character right of its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace laya::text {

inline constexpr std::size_t kMaxRunBytes =
    256;  // longest word in the training text: 64; one chunk encodes in ~5 µs
inline constexpr std::size_t kMaxChunkBytes = kMaxRunBytes + 1;  // and the space

enum class ChunkKind : std::uint8_t {
  Run,          ///< letters, digits, signs: an English word, an emoji, …
  Ideograph,    ///< one Han character
  Punctuation,  ///< one CJK punctuation mark
  Space,        ///< a space of its own
  Control,      ///< one tab, carriage return or other control character of its own
  Newline,
};

struct Chunk {
  std::uint32_t length;  ///< bytes, the trailing space included
  ChunkKind kind;
  bool ends_in_space;
};

/// The chunk at the front of `text`, which must not be empty. Any bytes are accepted; ill-formed
/// ones belong to a run.
Chunk next_chunk(std::string_view text);

/// Whether `chunk`, standing last in the text, is still being typed: a run that no space has
/// closed. Every other chunk keeps its first tokens whatever is typed next (a space behind it can
/// only merge with a punctuation mark: "，" → "， ").
constexpr bool is_open(const Chunk& chunk) {
  return chunk.kind == ChunkKind::Run && !chunk.ends_in_space;
}

}  // namespace laya::text
