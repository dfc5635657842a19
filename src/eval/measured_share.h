// A figure with its interval, gathered line by line.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "eval/interval_json.h"

namespace laya::eval {

/// A ratio of sums over lines: add() what happens in a line, next_line() behind it.
class MeasuredShare {
 public:
  void add(double above, double below) {
    line_.above += above;
    line_.below += below;
  }
  void next_line() {
    if (line_.below != 0 || line_.above != 0) {
      parts_.push_back(line_);
    }
    line_ = {};
  }
  double value() const { return ratio(parts_); }
  Interval interval() const { return bootstrap(parts_); }
  /// What it was measured on: keys, places, lists.
  double below() const {
    double sum = 0;
    for (const Part& part : parts_) sum += part.below;
    return sum;
  }

 private:
  Part line_;
  std::vector<Part> parts_;
};

/// `json[name]` and `json[name_interval]`.
inline void put_share(nlohmann::ordered_json& json, const std::string& name,
                      const MeasuredShare& share) {
  json[name] = share.value();
  json[name + "_interval"] = to_json(share.interval());
}

}  // namespace laya::eval
