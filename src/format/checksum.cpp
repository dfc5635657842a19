#include "format/checksum.h"

#include <xxhash.h>

namespace laya::format {

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace laya::format
