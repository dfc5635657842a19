// What every reader of foreign checkpoints promises of its tensors, asked of all of them.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "format/source_tensor.h"
#include "fuzz_target.h"

namespace laya::fuzz {

/// `part` lies inside `whole`.
inline bool is_inside(std::span<const std::byte> part, std::span<const std::byte> whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

/// Names, places and shapes hold, and every row and group can be read.
inline void check_tensors(std::span<const format::SourceTensor> tensors,
                          std::span<const std::byte> bytes) {
  for (const format::SourceTensor& tensor : tensors) {
    require(!tensor.name.empty() && tensor.name.size() <= format::kMaxSourceNameBytes);
    require(is_inside(tensor.bytes, bytes) && is_inside(tensor.scales, bytes) &&
            is_inside(tensor.minima, bytes));
    require(std::ranges::none_of(tensor.shape, [](std::uint64_t d) { return d == 0; }));
    require(tensor.elements() <= 2 * bytes.size());  // 4 bits at least
    const bool is_weight =
        format::group_scheme(tensor).has_value() || tensor.type <= format::SourceType::F64;
    std::vector<float> values(tensor.elements());
    require(format::read_rows(tensor, 0, tensor.rows(), values).has_value() == is_weight);
    require(
        !format::read_rows(tensor, tensor.rows(), 1, std::span(values).first(tensor.columns())));
    if (const auto scheme = format::group_scheme(tensor)) {
      std::vector<std::uint8_t> codes(tensor.columns());
      std::vector<float> scales(tensor.columns() / scheme->group);
      std::vector<float> minima(scheme->has_minima ? scales.size() : 0);
      require(format::read_groups(tensor, tensor.rows() - 1, codes, scales, minima).has_value());
    }
  }
}

}  // namespace laya::fuzz
