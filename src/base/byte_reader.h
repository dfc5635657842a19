// Reads little-endian fields from bytes that nobody vouches for (model files, messages, caches).
//
// The first thing that does not fit makes the reader *failed*: it remembers which field it was,
// every later read gives zero or an empty view, and the caller asks once at the end (or before
// trusting a count). So a parser reads like the format it parses. All bounds are tested by
// subtraction (`n > left`), which cannot wrap.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace laya::base {

static_assert(std::endian::native == std::endian::little,
              "the file formats are read in place; a big-endian port must swap");

/// Names of fields are string literals (they are kept, not copied). The reader does not own the
/// bytes.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::size_t position() const { return position_; }
  std::size_t left() const { return bytes_.size() - position_; }
  bool failed() const { return failed_field_ != nullptr; }

  /// The next integer or float, little-endian; 0 when failed.
  template <typename T>
  requires std::is_arithmetic_v<T> T read(const char* field) {
    T value{};
    const std::span<const std::byte> view = bytes(sizeof(T), field);
    if (!view.empty()) {
      std::memcpy(&value, view.data(), sizeof(T));
    }
    return value;
  }
  std::uint8_t u8(const char* field) { return read<std::uint8_t>(field); }
  std::uint16_t u16(const char* field) { return read<std::uint16_t>(field); }
  std::uint32_t u32(const char* field) { return read<std::uint32_t>(field); }
  std::uint64_t u64(const char* field) { return read<std::uint64_t>(field); }
  float f32(const char* field) { return read<float>(field); }

  /// The next `count` bytes as a view into the source; empty when failed.
  std::span<const std::byte> bytes(std::uint64_t count, const char* field) {
    if (failed() || count > left()) {
      fail(field);
      return {};
    }
    const auto view = bytes_.subspan(position_, static_cast<std::size_t>(count));
    position_ += view.size();
    return view;
  }

  /// The next `count` bytes as text; whether it is UTF-8 is the caller's to check.
  std::string_view text(std::uint64_t count, const char* field) {
    const auto view = bytes(count, field);
    return {reinterpret_cast<const char*>(view.data()), view.size()};
  }

  /// Moves to the absolute `offset`, at most to the end.
  void seek(std::uint64_t offset, const char* field) {
    if (failed() || offset > bytes_.size()) {
      fail(field);
      return;
    }
    position_ = static_cast<std::size_t>(offset);
  }

  /// Success, or Corrupt: "<what>: <field> at byte <n> does not fit: <left> bytes left". Only the
  /// first failure is kept.
  Status status(std::string_view what) const {
    if (!failed()) {
      return {};
    }
    return Error{ErrorCode::Corrupt, std::string(what) + ": " + failed_field_ + " at byte " +
                                         std::to_string(position_) + " does not fit: " +
                                         std::to_string(left()) + " bytes left"};
  }

 private:
  void fail(const char* field) {
    if (failed_field_ == nullptr) {
      failed_field_ = field;
    }
  }

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  const char* failed_field_ = nullptr;
};

/// `size` bytes at `offset` lie inside a whole of `total` bytes. Never wraps.
constexpr bool fits(std::uint64_t offset, std::uint64_t size, std::uint64_t total) {
  return offset <= total && size <= total - offset;
}

}  // namespace laya::base
