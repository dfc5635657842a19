// Where bytes that are meant for a path really go: through symbolic links, into devices. Internal
// to AtomicFile.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace laya::base {

struct OutputPath {
  enum class Kind : std::uint8_t {
    File,    ///< a regular file, or nothing yet: replaced in one step
    Stream,  ///< a device, a FIFO, or an open file's name under /proc: written through
  };
  Kind kind = Kind::File;
  std::string path;  ///< of the file itself: no link
  mode_t mode = 0;   ///< File that is there: its permissions
  uid_t owner = 0;   ///< as are its owner and group
  gid_t group = 0;
  bool is_there = false;
};

/// Follows `path`. Io: a folder, a chain of links without end, a link that another user put into a
/// folder that everybody may write to.
Result<OutputPath> resolve_output(const std::string& path);

/// The folder that `path` lies in.
std::string folder_of(const std::string& path);

}  // namespace laya::base
