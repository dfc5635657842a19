// The engine as it ships: network, table, and what lies beside them. For tests of what a user sees.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "predict/engine/engine.h"

namespace laya::predict {

inline EnginePaths shipped_paths() {
  const std::string models = std::string(LAYA_SOURCE_DIR) + "/models/";
  EnginePaths paths;
  paths.network_path = models + "instant/gru.laya";
  paths.ngram_path = models + "instant/ngram.laya";
  paths.block_list_path = models + "block";
  paths.emoji_path = models + "emoji/emoji.tsv";
  for (const auto& [name, path] : {std::pair{"lexicon/en.laya", &paths.lexicon_path},
                                   std::pair{"ranker/ranker.laya", &paths.ranker_path}}) {
    if (std::filesystem::exists(models + name)) {
      *path = models + name;
    }
  }
  return paths;
}

inline std::shared_ptr<const Engine> open_or_fail(const EnginePaths& paths) {
  auto engine = Engine::open(paths, {});
  if (!engine) {
    ADD_FAILURE() << engine.error().message;
    std::abort();
  }
  return *engine;
}

inline const Engine& shipped_engine() {
  static const auto engine = open_or_fail(shipped_paths());
  return *engine;
}

/// The same without the network, for tests that type much.
inline const Engine& shipped_table_engine() {
  static const auto engine = [] {
    EnginePaths paths = shipped_paths();
    paths.network_path.clear();
    paths.ranker_path.clear();
    return open_or_fail(paths);
  }();
  return *engine;
}

}  // namespace laya::predict
