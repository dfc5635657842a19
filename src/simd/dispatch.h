// Choosing the kernels at run time.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"
#include "simd/kernels.h"

namespace laya::simd {

/// The plain, readable ones: the specification that every other table is tested against.
const Kernels& scalar_kernels();

/// $LAYA_KERNELS as it was at the first call, or "": the name of the fastest kernels that may be
/// used, so that a large CPU can be tested as a smaller one.
std::string_view kernels_setting();

/// How many of `tables`, slowest first, remain when `name` is the fastest: all of them for "".
/// BadArgument names what there is where none is called so.
Result<std::size_t> tables_up_to(std::span<const Kernels* const> tables, std::string_view name);

/// BadArgument where $LAYA_KERNELS names no kernels of this CPU; it is then as if it were not set.
/// For programs to ask before they begin.
Status check_kernels_setting();

/// Every table this CPU can run and $LAYA_KERNELS allows, slowest first; element 0 is scalar. The
/// span lives as long as the program.
std::span<const Kernels* const> available_kernels();

/// The fastest of available_kernels(). Decided once; the same reference every time.
const Kernels& best_kernels();

/// The available table called `name` ("avx2"), or nullptr.
const Kernels* find_kernels(std::string_view name);

}  // namespace laya::simd
