// The engine of tests that type: the small table of testdata/predict, no network.
#pragma once

#include <string>

#include "predict/engine/engine.h"

namespace laya::apps {

inline const predict::Engine& test_engine() {
  static const auto engine = [] {
    predict::EnginePaths paths;
    paths.ngram_path = std::string(LAYA_SOURCE_DIR) + "/testdata/predict/ngram.laya";
    return predict::Engine::open(paths, {}).value();
  }();
  return *engine;
}

}  // namespace laya::apps
