// Where files that come with Laya are: models, the demo's text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace laya::setup {

/// Folders to look in, in order: the binary's own folder and those above it (build/release/bin is
/// three below the source tree), the source tree it was built from, /usr/share/laya.
std::vector<std::filesystem::path> data_roots();

/// The first `relative` ("testdata/demo.txt") under those; BadArgument when nowhere.
Result<std::string> find_data_file(std::string_view relative);

}  // namespace laya::setup
