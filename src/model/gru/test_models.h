// What this room's tests share: the tiny model in every form, and running a model over tokens.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "format/model_file.h"
#include "model/gru/golden_vectors.h"
#include "model/gru/model_loading.h"

namespace laya::model {

inline std::string testdata(const std::string& name) {
  return std::string(LAYA_SOURCE_DIR) + "/testdata/model/" + name;
}

inline format::ModelFile tiny_file() {
  auto file = format::ModelFile::open(testdata("tiny.laya"), format::Verify::Full);
  EXPECT_TRUE(file) << file.error().message;
  return std::move(*file);
}

inline GoldenTensors golden() {
  auto text = base::read_file(testdata("tiny.golden"), 1U << 20);
  EXPECT_TRUE(text) << text.error().message;
  auto tensors = read_golden(*text);
  EXPECT_TRUE(tensors) << tensors.error().message;
  return std::move(*tensors);
}

/// The state after `tokens`.
inline State run(const LanguageModel& model, Workspace& workspace,
                 const std::vector<TokenId>& tokens) {
  State state(model.config());
  for (const TokenId token : tokens) {
    const Status status = model.advance(workspace, state, token);
    EXPECT_TRUE(status) << status.error().message;
  }
  return state;
}

}  // namespace laya::model
