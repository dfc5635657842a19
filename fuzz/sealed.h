// Inputs of the parsers whose bytes end in a checksum: tried as they are, and once more with a
// checksum that fits, so that mutations get past it.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "base/fnv1a.h"

namespace laya::fuzz {

/// Calls parse(bytes) twice: raw, then with the last eight bytes replaced by the FNV-1a of the
/// rest.
template <typename Parse>
void parse_raw_and_sealed(std::span<const std::byte> bytes, const Parse& parse) {
  parse(bytes);
  std::vector<std::byte> sealed(bytes.begin(), bytes.end());
  if (sealed.size() >= sizeof(std::uint64_t)) {
    const std::size_t body = sealed.size() - sizeof(std::uint64_t);
    const std::uint64_t hash = base::fnv1a_64(std::span(sealed).first(body));
    std::memcpy(sealed.data() + body, &hash, sizeof(hash));
  }
  parse(sealed);
}

}  // namespace laya::fuzz
