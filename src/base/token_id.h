// The number of a vocabulary piece, shared by the rooms that tokenise and the rooms that compute.
#pragma once

#include <cstdint>

namespace laya {

/// Index of a piece in the vocabulary, 0…size-1. A plain integer because it indexes rows of
/// matrices everywhere.
using TokenId = std::uint32_t;

/// "None": never a valid piece.
inline constexpr TokenId kNoToken = 0xFFFFFFFFu;

}  // namespace laya
