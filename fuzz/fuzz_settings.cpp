// parse_settings on any bytes: an error that names the file, or settings that are within limits.
#include <string_view>

#include "fuzz_target.h"
#include "setup/settings.h"

using laya::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto settings = laya::setup::parse_settings(text, "laya.toml");
  if (!settings) {
    require(settings.error().message.starts_with("laya.toml: "));
    return 0;
  }
  const auto& remote = settings->remote;
  require(remote.time_limit.count() >= 1 && remote.time_limit.count() <= 60'000);
  require(remote.tokens >= 1 && remote.tokens <= 64);
  require(remote.candidates >= 1 && remote.candidates <= 10);
  require(!remote.is_on() || remote.url.starts_with("http"));
  return 0;
}
