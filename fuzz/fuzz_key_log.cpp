// parse_key_log on any bytes: an error that names the line, or sessions that play, are written and
// read back the same, and give pairs.
#include <string>
#include <string_view>

#include "eval/key_log.h"
#include "eval/key_log_pairs.h"
#include "fuzz_target.h"

using laya::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto got = laya::eval::parse_key_log({reinterpret_cast<const char*>(data), size});
  if (!got) {
    require(got.error().message.starts_with("line "));
    return 0;
  }
  for (const laya::eval::KeySession& session : *got) {
    laya::eval::PlayedField field(session);
    for (const laya::eval::KeyEvent& event : session.events)
      require(field.apply(event).has_value());
    std::string log;
    laya::eval::append_key_log(session, &log);
    const auto again = laya::eval::parse_key_log(log);
    require(again && again->size() == 1);
    require(again->front().events == session.events);
    std::string lines;
    for (const auto& pair : laya::eval::typing_pairs(session)) {
      laya::eval::append_pair(pair, &lines);
    }
  }
  return 0;
}
