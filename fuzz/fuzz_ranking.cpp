// A ranking file from any bytes: an error that names the source, or decisions that hold together
// and come back from the writer's text.
#include <cmath>
#include <string_view>

#include "fuzz_target.h"
#include "train/decision/ranking_file.h"

using laya::fuzz::require;
using laya::train::kMaxRankingCandidates;
using laya::train::kNoneRight;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto groups = laya::train::parse_ranking(text, "input");
  if (!groups) {
    require(groups.error().message.starts_with("input: line "));
    return 0;
  }
  require(groups->size() > 0 && groups->first_row.size() == groups->size() + 1);
  require(groups->values.size() == groups->first_row.back() * groups->features.size());
  for (std::size_t g = 0; g < groups->size(); ++g) {
    const std::size_t rows = groups->rows(g);
    require(rows >= 1 && rows <= kMaxRankingCandidates);
    require(groups->right[g] >= kNoneRight && groups->right[g] < static_cast<std::int32_t>(rows));
    for (const float value : groups->rows_of(g)) require(std::isfinite(value));
  }
  const auto last = groups->part(groups->size() - 1, groups->size());
  require(last.size() == 1 && last.right[0] == groups->right.back());
  return 0;
}
