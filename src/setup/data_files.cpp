#include "setup/data_files.h"

#include <system_error>

namespace laya::setup {

namespace fs = std::filesystem;

std::vector<fs::path> data_roots() {
  constexpr int kFoldersUp = 4;
  std::vector<fs::path> roots;
  std::error_code error;
  const fs::path binary = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    fs::path folder = binary.parent_path();
    for (int up = 0; up <= kFoldersUp && folder != folder.root_path(); ++up) {
      roots.push_back(folder);
      folder = folder.parent_path();
    }
  }
  roots.emplace_back(LAYA_SOURCE_DIR);
  roots.emplace_back("/usr/share/laya");
  return roots;
}

Result<std::string> find_data_file(std::string_view relative) {
  for (const fs::path& root : data_roots()) {
    std::error_code ignored;
    if (fs::exists(root / relative, ignored)) {
      return (root / relative).string();
    }
  }
  return Error{ErrorCode::BadArgument,
               std::string(relative) + ": found nowhere beside the program; name the file"};
}

}  // namespace laya::setup
