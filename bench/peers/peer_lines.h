// The driver's side of the peers' protocol: one JSON object a line in, one a line out.
#pragma once

#include <exception>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace laya::peers {

using Json = nlohmann::json;

/// Says who answers, then answers every line of standard input until its end. Exit code for main:
/// 1 where a line is no JSON object or `answer` throws.
inline int serve(const Json& who, const std::function<Json(const Json&)>& answer) {
  std::cout << who.dump() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    try {
      const Json command = Json::parse(line);
      std::cout << answer(command).dump(-1, ' ', false, Json::error_handler_t::replace)
                << std::endl;
    } catch (const std::exception& error) {
      std::cerr << "peer: " << error.what() << std::endl;
      return 1;
    }
  }
  return 0;
}

}  // namespace laya::peers
