// Intervals in JSON: [low, high].
#pragma once

#include <nlohmann/json.hpp>

#include "eval/interval.h"

namespace laya::eval {

inline nlohmann::ordered_json to_json(const Interval& interval) {
  return nlohmann::ordered_json::array({interval.low, interval.high});
}

}  // namespace laya::eval
