// The models installed on this machine: one .laya file each, NAME.laya, in one folder.
//
// A file appears under its name only when it is complete and verified (Staging), so whoever opens
// one while another is installed sees the old or the new.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace laya::catalog {

struct Installed {
  std::string name;
  std::string path;
  std::uint64_t bytes = 0;
  std::string architecture = {};  ///< of its metadata ("decoder"), as are title and licence
  std::string title = {};
  std::string licence = {};
  std::string problem = {};  ///< why it cannot be opened; empty: its structure is sound
};

class Store {
 public:
  explicit Store(std::string folder) : folder_(std::move(folder)) {}

  const std::string& folder() const { return folder_; }

  /// Where `name` is or would be. `name` must be a valid_name().
  std::string path_of(std::string_view name) const;
  /// Where the licence texts of `name` are kept.
  std::string licence_folder_of(std::string_view name) const;

  /// All, by name; a folder that is not there holds none. Error Io when it cannot be read.
  Result<std::vector<Installed>> list() const;

  /// BadArgument that lists what is installed, when `name` is not.
  Result<Installed> find(std::string_view name) const;
  bool has(std::string_view name) const;

  /// Reads all of the file and compares every checksum. BadArgument: not installed; Corrupt, Io,
  /// Version: what is wrong, and the remedy.
  Status verify(std::string_view name) const;

  /// Deletes the file and its licence texts. BadArgument: not installed.
  Status remove(std::string_view name) const;

 private:
  std::string folder_;
};

/// A model on its way in: a file beside the others under a name that no command takes for a model.
/// Whoever makes it writes to path(); commit() checks it and gives it its name. Without commit() it
/// goes away with the object; what a killed process left is removed by the next create().
class Staging {
 public:
  /// Makes the folder where it is missing. BadArgument: `name` is not valid; Io.
  static Result<Staging> create(const Store& store, std::string_view name);

  Staging(Staging&& other) noexcept;
  Staging& operator=(Staging&&) = delete;
  ~Staging();

  const std::string& path() const { return path_; }

  /// Opens the file with every checksum (Corrupt and its kin: not installed), flushes it to the
  /// disk and renames it over `name`, in one step.
  Status commit();

 private:
  Staging(std::string path, std::string target);
  std::string path_;
  std::string target_;
};

}  // namespace laya::catalog
