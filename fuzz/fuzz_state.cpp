// State::deserialise on any bytes: an error, or a state of finite numbers that is saved again to the
// same bytes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "fuzz_target.h"
#include "model/gru_state.h"
#include "model/random_model.h"

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

/// FNV-1a, as gru_state.cpp ends a saved state: so that mutations get past the checksum.
void seal(std::vector<std::byte>& bytes) {
  if (bytes.size() < sizeof(std::uint64_t)) return;
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const std::size_t body = bytes.size() - sizeof(hash);
  for (std::size_t i = 0; i < body; ++i) {
    hash = (hash ^ static_cast<std::uint64_t>(bytes[i])) * 0x100000001b3ULL;
  }
  std::memcpy(bytes.data() + body, &hash, sizeof(hash));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  parse(bytes);
  std::vector<std::byte> sealed(bytes.begin(), bytes.end());
  seal(sealed);
  parse(sealed);
  return 0;
}
