#include "setup/progress.h"

#include <array>
#include <cstdio>

namespace laya::setup {

std::string megabytes_text(std::uint64_t bytes) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.1f MB", static_cast<double>(bytes) / 1e6);
  return text.data();
}

}  // namespace laya::setup
