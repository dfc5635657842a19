#include "common/training_probe.h"

#include <nlohmann/json.hpp>

namespace laya::apps {

std::string to_line(const TrainingProbe& probe) {
  const nlohmann::ordered_json json = {{"has_mlx", probe.has_mlx},
                                       {"mlx_version", probe.mlx_version},
                                       {"mlx_gflops", probe.mlx_gflops},
                                       {"onednn_fp32_gflops", probe.onednn_fp32_gflops},
                                       {"onednn_bf16_gflops", probe.onednn_bf16_gflops}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

TrainingProbe parse_training_probe(std::string_view output) {
  TrainingProbe probe;
  const std::size_t begin = output.rfind("{\"has_mlx\"");
  const auto json =
      begin == std::string_view::npos
          ? nlohmann::json()
          : nlohmann::json::parse(output.substr(begin, output.find('\n', begin) - begin), nullptr,
                                  false);
  if (!json.is_object()) {
    probe.is_installed = false;
    return probe;
  }
  const auto number = [&](const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_number() ? found->get<double>() : 0.0;
  };
  const auto has_mlx = json.find("has_mlx");
  probe.has_mlx = has_mlx->is_boolean() && has_mlx->get<bool>();
  if (const auto version = json.find("mlx_version"); version != json.end() && version->is_string())
    probe.mlx_version = version->get<std::string>();
  probe.mlx_gflops = number("mlx_gflops");
  probe.onednn_fp32_gflops = number("onednn_fp32_gflops");
  probe.onednn_bf16_gflops = number("onednn_bf16_gflops");
  return probe;
}

}  // namespace laya::apps
