// SessionId: names a session to the engine that it uses. Given once, never again.
#pragma once

#include <cstdint>

namespace laya::predict {

using SessionId = std::uint64_t;
inline constexpr SessionId kNoSession = 0;

}  // namespace laya::predict
