// Result<T> and Error: how every room reports what went wrong. Nothing here prints, aborts or
// throws. Modelled on std::expected (C++23), which g++ 12 in C++20 mode does not have.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace laya {

/// Why an operation failed. Closed set; the message carries the details.
enum class ErrorCode {
  Io,       ///< the operating system refused (open, read, write, mmap, disk full)
  Corrupt,  ///< bytes that cannot be what they claim to be (checksum, offset, field out of range)
  Version,  ///< a well-formed file or message of a version that this build does not read
  BadArgument,  ///< the caller's value is outside the documented range
  TooLarge,     ///< a size beyond the documented limit
  Unsupported,  ///< valid, but this build or this machine cannot do it
  Timeout,      ///< the time allowed ran out
  Cancelled,    ///< the caller asked for it to stop (base/cancel_flag.h)
  Internal,     ///< a bug of ours; please report
};

/// Short lower-case name of `code` ("corrupt"), for messages and JSON.
constexpr const char* error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::Io:
      return "io";
    case ErrorCode::Corrupt:
      return "corrupt";
    case ErrorCode::Version:
      return "version";
    case ErrorCode::BadArgument:
      return "bad-argument";
    case ErrorCode::TooLarge:
      return "too-large";
    case ErrorCode::Unsupported:
      return "unsupported";
    case ErrorCode::Timeout:
      return "timeout";
    case ErrorCode::Cancelled:
      return "cancelled";
    case ErrorCode::Internal:
      return "internal";
  }
  return "internal";
}

/// `message` names the file or field, the value, the limit and the remedy. It never holds typed
/// text.
struct Error {
  ErrorCode code;
  std::string message;
};

/// A value or an Error. `value()`, `operator*` and `operator->` require has_value(); `error()`
/// requires the opposite.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {
  }  // NOLINT(google-explicit-constructor): as std::expected
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

/// A Result without a value: `return {};` is success.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error)
      : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor): as std::expected

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  const Error& error() const& { return std::get<Error>(state_); }
  Error&& error() && { return std::get<Error>(std::move(state_)); }

 private:
  std::variant<std::monostate, Error> state_;
};

using Status = Result<void>;

}  // namespace laya
