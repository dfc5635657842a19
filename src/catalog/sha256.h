// SHA-256 (FIPS 180-4), by libsodium: what the makers of a checkpoint publish beside it.
#pragma once

#include <sodium/crypto_hash_sha256.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "base/result.h"

namespace laya::catalog {

class Sha256 {
 public:
  Sha256();
  void update(std::span<const std::byte> bytes);
  /// 64 lower-case hexadecimal digits of all bytes so far; the object is spent.
  std::string hex();

 private:
  crypto_hash_sha256_state state_;
};

/// Of a whole file, read in pieces; `progress`, which may be empty, is called with bytes done.
/// Error Io.
Result<std::string> sha256_of_file(const std::string& path,
                                   const std::function<void(std::uint64_t)>& progress = {});

}  // namespace laya::catalog
