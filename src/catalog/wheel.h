// Reads single entries out of a wheel (a zip file, PyPA binary distribution format), by libzip.
// Nothing is unpacked beside what is asked for, so no path inside a wheel is ever followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

struct zip;  // libzip's

namespace laya::catalog {

/// An open wheel. Move-only, one thread.
class Wheel {
 public:
  /// Error Corrupt: not a zip file, or cut off (its directory stands at the end); Io.
  static Result<Wheel> open(const std::string& path);

  Wheel(Wheel&&) noexcept = default;
  Wheel& operator=(Wheel&&) noexcept = default;

  /// Size of an entry when unpacked. BadArgument: no such entry.
  Result<std::uint64_t> size_of(std::string_view entry) const;

  using Sink = std::function<Status(std::span<const std::byte>)>;
  /// Hands the entry's bytes on, in order, and checks their CRC-32 at the end. Corrupt: other bytes
  /// than the directory states, or not exactly `bytes` of them; what `sink` returns ends it.
  Status read(std::string_view entry, std::uint64_t bytes, const Sink& sink) const;

 private:
  struct Close {
    void operator()(zip* archive) const;
  };
  Wheel(std::string path, zip* archive) : path_(std::move(path)), archive_(archive) {}
  std::string path_;
  std::unique_ptr<zip, Close> archive_;
};

}  // namespace laya::catalog
