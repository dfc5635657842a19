#include "predict/offers/edit_noise.h"

#include <algorithm>
#include <array>

namespace laya::predict {
namespace {

constexpr std::array<std::string_view, 3> kRows = {"qwertyuiop", "asdfghjkl", "zxcvbnm"};
// How far each row begins to the right of the one above it, in keys.
constexpr std::array<float, 3> kOffsets = {0.0F, 0.25F, 0.75F};
constexpr float kTouching = 1.3F;  // of distances between the middles of two keys

constexpr std::string_view kVowels = "aeiouy";
// Letters that stand for the same sound often enough.
constexpr std::array<std::string_view, 14> kAlike = {"cs", "ck", "sz", "fv", "gj", "ei", "td",
                                                     "mn", "qk", "xs", "wu", "pb", "iy", "cq"};

struct Keyboard {
  // [a] bit b: the keys of letters a and b touch
  std::array<std::uint32_t, 26> touching{};
  std::array<std::uint32_t, 26> alike{};

  constexpr Keyboard() {
    for (std::size_t r = 0; r < kRows.size(); ++r) {
      for (std::size_t i = 0; i < kRows[r].size(); ++i) {
        for (std::size_t s = 0; s < kRows.size(); ++s) {
          for (std::size_t j = 0; j < kRows[s].size(); ++j) {
            const float x =
                (static_cast<float>(i) + kOffsets[r]) - (static_cast<float>(j) + kOffsets[s]);
            const float y = static_cast<float>(r) - static_cast<float>(s);
            if (kRows[r][i] != kRows[s][j] && x * x + y * y < kTouching * kTouching) {
              touching[static_cast<std::size_t>(kRows[r][i] - 'a')] |=
                  1u << static_cast<unsigned>(kRows[s][j] - 'a');
            }
          }
        }
      }
    }
    for (const std::string_view pair : kAlike) {
      alike[static_cast<std::size_t>(pair[0] - 'a')] |= 1u << static_cast<unsigned>(pair[1] - 'a');
      alike[static_cast<std::size_t>(pair[1] - 'a')] |= 1u << static_cast<unsigned>(pair[0] - 'a');
    }
  }
};
constexpr Keyboard kKeyboard;

constexpr bool is_letter(std::uint8_t c) { return c >= 'a' && c <= 'z'; }

bool alike(std::uint8_t a, std::uint8_t b) {
  return is_letter(a) && is_letter(b) &&
         ((kKeyboard.alike[a - std::size_t{'a'}] >> (b - 'a')) & 1u) != 0;
}

}  // namespace

// Chosen by coordinate descent on dev: half of a list of misspellings, simulated slips
// in dev mails and messages (right among three), less flags in clean dev text. Half a nat either
// way changes little.
const NoiseCosts& noise_costs() {
  static constexpr NoiseCosts kCosts = {.neighbour = 7.0F,
                                        .vowel = 5.75F,
                                        .alike = 7.0F,
                                        .other = 8.5F,
                                        .swap = 5.0F,
                                        .omit = 5.0F,
                                        .omit_vowel = 4.3F,
                                        .omit_double = 2.75F,
                                        .omit_apostrophe = 3.0F,
                                        .insert = 8.75F,
                                        .insert_double = 5.0F,
                                        .insert_neighbour = 7.0F,
                                        .insert_apostrophe = 5.0F,
                                        .first = 1.5F,
                                        .split = 7.0F,
                                        .join = 7.0F};
  return kCosts;
}

bool are_neighbours(std::uint8_t a, std::uint8_t b) {
  return is_letter(a) && is_letter(b) &&
         ((kKeyboard.touching[a - std::size_t{'a'}] >> (b - 'a')) & 1u) != 0;
}

bool is_vowel(std::uint8_t letter) {
  return kVowels.find(static_cast<char>(letter)) != std::string_view::npos;
}

float substitution_cost(const NoiseCosts& costs, std::uint8_t meant, std::uint8_t typed) {
  if (meant == typed) {
    return 0;
  }
  float cost = costs.other;
  if (are_neighbours(meant, typed)) {
    cost = std::min(cost, costs.neighbour);
  }
  if (is_vowel(meant) && is_vowel(typed)) {
    cost = std::min(cost, costs.vowel);
  }
  if (alike(meant, typed)) {
    cost = std::min(cost, costs.alike);
  }
  return cost;
}

float omission_cost(const NoiseCosts& costs, std::uint8_t meant, std::uint8_t previous,
                    std::uint8_t next) {
  if (meant == '\'') {
    return costs.omit_apostrophe;
  }
  if (meant == previous || meant == next) {
    return costs.omit_double;
  }
  return is_vowel(meant) ? costs.omit_vowel : costs.omit;
}

float insertion_cost(const NoiseCosts& costs, std::uint8_t typed, std::uint8_t previous,
                     std::uint8_t next) {
  if (typed == '\'') {
    return costs.insert_apostrophe;
  }
  if (typed == previous || typed == next) {
    return costs.insert_double;
  }
  return are_neighbours(typed, previous) || are_neighbours(typed, next) ? costs.insert_neighbour
                                                                        : costs.insert;
}

}  // namespace laya::predict
