// How far a long task is, told to whoever shows it: a room of libraries prints nothing itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace laya::setup {

class Progress {
 public:
  virtual ~Progress() = default;

  /// `stage` is at `done` of 1 (a negative number: nobody knows); `note` says more. Called often:
  /// what is shown, and when, is the callee's affair.
  virtual void show(std::string_view stage, double done, std::string_view note = {}) = 0;
  /// Something else is about to be said: what is shown goes.
  virtual void clear() = 0;
};

/// "98.4 MB": powers of ten, as packages and disks are sold.
std::string megabytes_text(std::uint64_t bytes);

}  // namespace laya::setup
