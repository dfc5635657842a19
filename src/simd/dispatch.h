// Choosing the kernels at run time.
#pragma once

#include <span>
#include <string_view>

#include "simd/kernels.h"

namespace laya::simd {

/// The plain, readable ones: the specification that every other table is tested against.
const Kernels& scalar_kernels();

/// Every table this CPU can run, slowest first; element 0 is scalar. The span lives as long as the
/// program.
std::span<const Kernels* const> available_kernels();

/// The fastest of available_kernels(). Decided once; the same reference every time.
const Kernels& best_kernels();

/// The available table called `name` ("avx2"), or nullptr.
const Kernels* find_kernels(std::string_view name);

}  // namespace laya::simd
