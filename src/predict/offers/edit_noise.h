// How fingers and memory go wrong: ln p(typed | meant), letter by letter.
//
// A noisy channel (Kernighan, Church & Gale 1990) with a handful of kinds instead of full confusion
// tables: keys that lie beside each other, letters that sound alike, doubled letters, neighbours
// that change places, apostrophes. The costs were chosen on dev (edit_noise.cpp says how). Letters
// are lower-case ASCII; anything else only matches itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace laya::predict {

/// Costs in nats, each −ln p of one such slip.
struct NoiseCosts {
  float neighbour;         ///< a key beside the right one
  float vowel;             ///< another vowel: seperate
  float alike;             ///< consonants that sound alike: c/s, c/k, s/z, f/v, …
  float other;             ///< any other letter
  float swap;              ///< two letters changed places: teh
  float omit;              ///< a letter left out
  float omit_vowel;        ///< a vowel left out
  float omit_double;       ///< one of two equal letters left out: adress
  float omit_apostrophe;   ///< dont
  float insert;            ///< a letter too many
  float insert_double;     ///< a letter twice: untill
  float insert_neighbour;  ///< the key beside the one before or after it was hit as well
  float insert_apostrophe;
  float first;  ///< added where the word's first letter is concerned
  float split;  ///< a space left out between two words: alot
  float join;   ///< a space inside a word: to gether
};

/// The shipped costs.
const NoiseCosts& noise_costs();

/// Whether two keys touch on a QWERTY keyboard.
bool are_neighbours(std::uint8_t a, std::uint8_t b);
bool is_vowel(std::uint8_t letter);

/// −ln p: `typed` stands where `meant` was. 0 where they are the same.
float substitution_cost(const NoiseCosts& costs, std::uint8_t meant, std::uint8_t typed);
/// −ln p: `meant` was left out; `previous` is the letter of the word before it (0: none), `next`
/// the letter typed after it (0: none).
float omission_cost(const NoiseCosts& costs, std::uint8_t meant, std::uint8_t previous,
                    std::uint8_t next);
/// −ln p: `typed` is too many; `previous` and `next` are what was typed around it (0: none).
float insertion_cost(const NoiseCosts& costs, std::uint8_t typed, std::uint8_t previous,
                     std::uint8_t next);

}  // namespace laya::predict
