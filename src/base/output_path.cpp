#include "base/output_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <system_error>

namespace laya::base {
namespace {

constexpr int kMaxLinks = 40;  // as many as Linux follows

Error io_error(const std::string& path, const std::string& what) {
  return {ErrorCode::Io, path + ": " + what};
}

std::string reason(int code) { return std::generic_category().message(code); }

/// fs.protected_symlinks holds for open(), not for us who read the link: the same rule.
bool may_follow(const std::string& path, const struct stat& link) {
  struct stat folder {};
  if (::stat(folder_of(path).c_str(), &folder) != 0) {
    return false;
  }
  const bool shared = (folder.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
  return !shared || link.st_uid == ::geteuid() || link.st_uid == folder.st_uid;
}

bool lies_in_proc(const struct stat& info) {
  struct stat proc {};
  return ::stat("/proc", &proc) == 0 && proc.st_dev == info.st_dev;
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<OutputPath> resolve_output(const std::string& path) {
  OutputPath out;
  out.path = path;
  for (int links = 0;; ++links) {
    struct stat info {};
    if (::lstat(out.path.c_str(), &info) != 0) {
      if (errno == ENOENT) {
        return out;  // to be made
      }
      return io_error(path, "cannot create: " + reason(errno));
    }
    if (S_ISDIR(info.st_mode)) {
      return io_error(path, "cannot create: a folder is there");
    }
    if (!S_ISLNK(info.st_mode)) {
      out.kind = S_ISREG(info.st_mode) ? OutputPath::Kind::File : OutputPath::Kind::Stream;
      out.mode = info.st_mode & 0777;
      out.owner = info.st_uid;
      out.group = info.st_gid;
      out.is_there = true;
      return out;
    }
    if (lies_in_proc(info)) {  // /dev/stdout: the name is no path, the kernel follows it
      out.kind = OutputPath::Kind::Stream;
      return out;
    }
    if (links == kMaxLinks) {
      return io_error(path, "cannot create: more than " + std::to_string(kMaxLinks) +
                                " symbolic links behind each other; do they form a circle?");
    }
    if (!may_follow(out.path, info)) {
      return io_error(path,
                      "cannot create: another user put a symbolic link there, in a folder that "
                      "everybody may write to; choose another folder");
    }
    std::string target(PATH_MAX, '\0');
    const ssize_t size = ::readlink(out.path.c_str(), target.data(), target.size());
    if (size < 0) {
      return io_error(path, "cannot read a symbolic link: " + reason(errno));
    }
    target.resize(static_cast<std::size_t>(size));
    out.path = target.starts_with('/') ? target : folder_of(out.path) + "/" + target;
  }
}

}  // namespace laya::base
