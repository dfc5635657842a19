// How a lexicon lies in a `.laya` file: shared by its reader (lexicon.cpp) and its writer
// (lexicon_builder.cpp).
//
// A trie over the words' lower-case bytes, level by level: the children of one node stand side by
// side, sorted by byte, and the children of node n + 1 follow those of node n. So a node needs no
// pointer: three bits say whether it has children, whether it is its parent's last child and
// whether a word ends there, and every 64 nodes one block says where counting begins. Node 0 is the
// root.
//
// Blobs, little-endian:
//   lexicon.header    LexiconHeader
//   lexicon.labels    u8[node_count]     the byte that leads to a node; of the root 0
//   lexicon.best      u8[node_count]     the least code of the words at and below it
//   lexicon.blocks    LexiconBlock[(node_count + 63) / 64]
//   lexicon.codes     u8[word_count]     ln p(word) = -code * code_step; words numbered by node
//   lexicon.forms     u8[word_count]     LexiconForm, and flags
//   lexicon.written   u32[written_count] ascending: words whose form is Written
//   lexicon.written_offsets u32[written_count + 1]  into written_text
//   lexicon.written_text    bytes
//   lexicon.letters   u8[28^3]           -ln p(c | a b) / kLetterStep: how words are spelt; see
//                                        letter_index()
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace laya::predict {

inline constexpr std::array<char, 8> kLexiconMagic = {'L', 'A', 'Y', 'A', 'L', 'E', 'X', 'I'};
inline constexpr std::uint32_t kLexiconVersion = 1;
inline constexpr std::uint32_t kLexiconMaxNodes = 1u << 24;
inline constexpr std::size_t kLexiconMaxWordBytes = 40;
inline constexpr std::size_t kLexiconBlockNodes = 64;

struct LexiconHeader {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t node_count;
  std::uint32_t word_count;
  std::uint32_t written_count;
  float code_step;    ///< nats a code
  float log_unknown;  ///< ln p(a word is none of these)
};
static_assert(sizeof(LexiconHeader) == 32 && std::is_trivially_copyable_v<LexiconHeader>);

/// 64 nodes; bit i is of node 64 * block + i.
struct LexiconBlock {
  std::uint64_t parent;       ///< has children
  std::uint64_t last;         ///< is its parent's last child
  std::uint64_t word;         ///< a word ends here
  std::uint32_t first_child;  ///< of the block's first parent
  std::uint32_t first_word;   ///< words before the block
};
static_assert(sizeof(LexiconBlock) == 32 && std::is_trivially_copyable_v<LexiconBlock>);

/// How a word is written inside a sentence.
enum class LexiconForm : std::uint8_t {
  Lower = 0,
  Title = 1,    ///< first letter raised
  Upper = 2,    ///< all letters raised
  Written = 3,  ///< as lexicon.written says
};
inline constexpr std::uint8_t kLexiconFormMask = 3;
/// Known, so that it is no mistake, but never offered (obscure, coarse).
inline constexpr std::uint8_t kLexiconSilent = 4;

/// Letters of the spelling model: a…z, the apostrophe, and the word's edge (or any other byte).
inline constexpr std::size_t kLetterKinds = 28;
inline constexpr std::size_t kLetterEdge = 27;
inline constexpr float kLetterStep = 1.0F / 16.0F;
constexpr std::size_t letter_kind(unsigned char byte) {
  return byte >= 'a' && byte <= 'z' ? byte - std::size_t{'a'}
                                    : (byte == '\'' ? std::size_t{26} : kLetterEdge);
}
constexpr std::size_t letter_index(std::size_t a, std::size_t b, std::size_t c) {
  return (a * kLetterKinds + b) * kLetterKinds + c;
}

}  // namespace laya::predict
