// State::deserialise on any bytes: an error, or a state of finite numbers that is saved again to
// the same bytes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "fuzz_target.h"
#include "model/bench/random_model.h"
#include "model/gru/gru_state.h"
#include "sealed.h"

using laya::fuzz::require;
using laya::model::State;

namespace {

void parse(std::span<const std::byte> bytes) {
  const auto state = State::deserialise(bytes, laya::model::tiny_gru_config());
  if (!state) {
    require(state.error().message.starts_with("saved state: "));
    return;
  }
  require(std::ranges::all_of(state->numbers(), [](float x) { return std::isfinite(x); }));
  require(std::ranges::equal(state->serialise(), bytes));
  // Whatever position it claims, its ring can be addressed.
  laya::model::StateHistory history(state->config(), 3);
  require(history.reset(*state).has_value());
  State copy(state->config());
  require(history.truncate(0, copy).has_value() && copy.position() == state->position());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  laya::fuzz::parse_raw_and_sealed(std::as_bytes(std::span(data, size)), parse);
  return 0;
}
