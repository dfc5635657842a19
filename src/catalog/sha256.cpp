#include "catalog/sha256.h"

#include <fcntl.h>
#include <sodium/utils.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/unique_fd.h"

namespace laya::catalog {

Sha256::Sha256() { crypto_hash_sha256_init(&state_); }

void Sha256::update(std::span<const std::byte> bytes) {
  crypto_hash_sha256_update(&state_, reinterpret_cast<const unsigned char*>(bytes.data()),
                            bytes.size());
}

std::string Sha256::hex() {
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest;
  crypto_hash_sha256_final(&state_, digest.data());
  std::string text(2 * digest.size() + 1, '\0');  // libsodium ends it with a NUL
  sodium_bin2hex(text.data(), text.size(), digest.data(), digest.size());
  text.pop_back();
  return text;
}

Result<std::string> sha256_of_file(const std::string& path,
                                   const std::function<void(std::uint64_t)>& progress) {
  constexpr std::size_t kPiece = 1u << 20;
  const auto failed = [&] { return Error{ErrorCode::Io, path + ": " + std::strerror(errno)}; };
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    return failed();
  }
  Sha256 hash;
  std::vector<std::byte> piece(kPiece);
  std::uint64_t done = 0;
  for (;;) {
    const ssize_t got = ::read(fd.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed();
    if (got == 0) return hash.hex();
    hash.update(std::span(piece).first(static_cast<std::size_t>(got)));
    done += static_cast<std::uint64_t>(got);
    if (progress) progress(done);
  }
}

}  // namespace laya::catalog
