// How the n-gram table lies in a `.laya` file: shared by its reader (ngram.cpp) and its writer
// (src/train/ngram/ngram_writer.cpp).
//
// A forward trie. Level k holds the n-grams of k units; the children of one node stand side by
// side, sorted by unit, so that the words that begin with a prefix are one range of a list (ids are
// alphabetical) and its best are found by scanning one byte each.
//
// Ids: 0…5 fixed | symbols | Han |
// common words | rare words; each class is sorted bytewise by key. Common units (id < common_count
// ≤ 65,536) stand in n-grams with 16 bits; rare words have a unigram only: p(rare | c) = p(unknown
// | c) * p(rare | unknown).
//
// Blobs, little-endian:
//   ngram.header            NgramHeader
//   ngram.lexicon_offsets   u32[unit_count - 6 + 1]   into lexicon_text, keys of ids 6…
//   ngram.lexicon_text      bytes
//   ngram.display_ids       u32[display_count]        ascending; units not displayed as their key
//   ngram.display_offsets   u32[display_count + 1]    into display_text
//   ngram.display_text      bytes
//   ngram.unigram           f32[unit_count]           ln p(unit); a rare word: ln p(word | unknown)
//   ngram.1.begin           u32[common_count + 1]     children of each unit, into level 2
//   ngram.1.backoff         u8[common_count]          codes into backoff_table[0]
//   and for each level k = 2…order:
//   ngram.<k>.words         u16[entries]
//   ngram.<k>.probs         u8[entries]               codes into prob_table[k - 1]
//   for k < order, of the entries that have children ("contexts", numbered in order):
//   ngram.<k>.parents       u64[(entries + 63) / 64]  bit i: entry i has children
//   ngram.<k>.ranks         u32[parents words]        contexts before each word of bits
//   ngram.<k>.begin         u32[contexts + 1]         into level k + 1
//   ngram.<k>.backoff       u8[contexts]
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace laya::model {

inline constexpr std::uint32_t kNgramMaxOrder = 6;
inline constexpr std::uint32_t kNgramVersion = 1;
inline constexpr std::uint32_t kNgramMaxUnits = 1u << 20;
inline constexpr std::uint32_t kNgramMaxCommon = 1u << 16;
inline constexpr std::array<char, 8> kNgramMagic = {'L', 'A', 'Y', 'A', 'N', 'G', 'R', 'M'};

struct NgramHeader {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t order;         ///< 1…kNgramMaxOrder
  std::uint32_t unit_count;    ///< ids are [0, unit_count)
  std::uint32_t han_begin;     ///< symbols are [6, han_begin)
  std::uint32_t word_begin;    ///< Han characters are [han_begin, word_begin)
  std::uint32_t common_count;  ///< common words are [word_begin, common_count), rare words
                               ///< [common_count, unit_count)
  std::uint32_t display_count;
  std::uint32_t reserved;
  std::array<std::uint32_t, kNgramMaxOrder>
      entries;  ///< [k - 1]: n-grams of level k; [0] = common_count
  std::array<std::uint32_t, kNgramMaxOrder>
      contexts;  ///< [k - 1]: those of level k with children; [0] = common_count
  std::array<std::array<float, 256>, kNgramMaxOrder> prob_table;  ///< ascending, ≤ 0; [0] unused
  std::array<std::array<float, 256>, kNgramMaxOrder> backoff_table;  ///< finite
};
static_assert(std::is_trivially_copyable_v<NgramHeader> &&
              sizeof(NgramHeader) == 40 + 48 + 2 * 6 * 1024);

}  // namespace laya::model
