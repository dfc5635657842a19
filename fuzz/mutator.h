// Damages bytes in the ways that break parsers, the same way for the same seed: a poor man's
// libFuzzer for every compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace laya::fuzz {

/// 1…4 changes to `bytes` (bit flips, boundary values at any offset, cuts, repeats, moved chunks),
/// chosen by `seed` alone.
std::vector<std::uint8_t> mutate(std::vector<std::uint8_t> bytes, std::uint64_t seed);

}  // namespace laya::fuzz
