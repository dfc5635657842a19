// Where models and downloads lie on this machine (XDG base directory specification 0.8), and what a
// model may be called.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace laya::catalog {

struct Folders {
  std::string models;     ///< $XDG_DATA_HOME/laya/models, by default ~/.local/share/laya/models
  std::string downloads;  ///< $XDG_CACHE_HOME/laya/downloads, by default ~/.cache/laya/downloads
};

/// From the environment; nothing is created. A relative $XDG_… is ignored, as the specification
/// asks. Error Unsupported without an absolute $HOME where one is needed.
Result<Folders> user_folders();

/// A name becomes a file name: 1…64 of a-z, 0-9, '.', '_', '-', beginning with a letter or digit,
/// without "..".
bool valid_name(std::string_view name);

/// BadArgument that says the rule, unless valid_name(name).
Status check_name(std::string_view name);

}  // namespace laya::catalog
