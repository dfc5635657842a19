// parse_ghost_cases on any bytes: an error that names the line, or cases of valid text.
#include <string_view>

#include "base/utf8.h"
#include "eval/ghost_cases.h"
#include "fuzz_target.h"

using laya::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto got = laya::eval::parse_ghost_cases({reinterpret_cast<const char*>(data), size});
  if (!got) {
    require(got.error().message.starts_with("line "));
    return 0;
  }
  for (const laya::eval::GhostCase& one : *got) {
    require(!one.kind.empty() && laya::base::is_valid_utf8(one.before));
    require(one.wanted.empty() || one.forbidden.empty());
  }
  return 0;
}
