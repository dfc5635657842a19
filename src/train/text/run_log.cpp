#include "train/text/run_log.h"

#include <sys/file.h>

#include <cerrno>
#include <cstring>

namespace laya::train {

Result<RunLog> RunLog::open(const std::filesystem::path& path) {
  RunLog log;
  log.path_ = path;
  log.file_.reset(std::fopen(path.c_str(), "ae"));
  if (!log.file_)
    return Error{ErrorCode::Io, path.string() + ": cannot be opened: " + std::strerror(errno)};
  // Held as long as the file is open, and gone with the process, however that ends.
  if (::flock(::fileno(log.file_.get()), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return Error{ErrorCode::BadArgument,
                 path.string() +
                     ": another training run writes here; wait for its end, or give this one "
                     "another folder"};
  return log;
}

Status RunLog::write(std::string_view json) {
  std::FILE* file = file_.get();
  const bool ok = std::fwrite(json.data(), 1, json.size(), file) == json.size() &&
                  std::fputc('\n', file) != EOF && std::fflush(file) == 0;
  if (!ok)
    return Error{ErrorCode::Io, path_.string() + ": cannot be written: " + std::strerror(errno)};
  return {};
}

}  // namespace laya::train
