// The one question dispatch asks the platform file.
#pragma once

#include <cstddef>
#include <span>

#include "simd/impl/tables.h"

namespace laya::simd {

inline constexpr std::size_t kMaxTables = 8;

/// Writes the tables this CPU can run, slowest first, without scalar; returns how many.
/// tables.size() >= kMaxTables - 1.
std::size_t collect_tables(std::span<const Kernels*> tables);

}  // namespace laya::simd
