// DeepHan: the next Han character and what follows it, from a DeepTree.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "predict/deep/deep_paths.h"

namespace laya::predict {

class DeepHan {
 public:
  /// `characters`: PieceIndex::han().size().
  DeepHan(const DeepPaths& paths, std::size_t characters) : paths_(paths), probs_(characters) {}

  /// Call when the text, the tree's root or its nodes have changed; `tail`: the open text.
  void set_tail(std::string_view tail);
  std::span<const float> probs() const { return probs_; }
  /// ln p(`character` | text + `word`); `unknown` where nothing tells it.
  float log_after(std::string_view word, std::string_view character, float unknown);

 private:
  void add(int node, std::string_view rest, float weight);

  DeepPaths paths_;
  std::string tail_;
  std::vector<float> probs_;
};

}  // namespace laya::predict
