// parse_results on any bytes: an error that names the line, or figures of which a page can be made.
#include <string_view>

#include "eval/report_page.h"
#include "fuzz_target.h"

using laya::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto got = laya::eval::parse_results({reinterpret_cast<const char*>(data), size});
  if (!got) {
    require(got.error().message.starts_with("line "));
    return 0;
  }
  const std::string page = laya::eval::report_page(*got, *got);
  require(page.ends_with("</html>\n"));
  return 0;
}
