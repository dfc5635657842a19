// FNV-1a, 64 bit (http://www.isthe.com/chongo/tech/comp/fnv/): the checksum of our small blobs.
// Enough against torn or stale bytes; not against an attacker, who could write valid ones anyway.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace laya::base {

constexpr std::uint64_t fnv1a_64(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::byte byte : bytes) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3ULL;
  }
  return hash;
}

}  // namespace laya::base
