// The checksum of `.laya` files: XXH3, 64 bits, seed 0. It finds accidents, not forgeries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace laya::format {

std::uint64_t checksum(std::span<const std::byte> bytes);

}  // namespace laya::format
