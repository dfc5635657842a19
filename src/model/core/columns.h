// Scratch vectors of a pass over several columns.
#pragma once

#include <cstddef>
#include <span>

#include "model/core/aligned_bytes.h"
#include "model/core/workspace.h"

namespace laya::model {

/// Vectors of up to kMaxColumns columns, [column][length].
class Columns {
 public:
  explicit Columns(std::size_t length)
      : length_(length), memory_(kMaxColumns * length * sizeof(float)) {}

  std::size_t length() const { return length_; }
  std::span<float> all(std::size_t columns) { return memory_.floats().first(columns * length_); }
  std::span<float> operator[](std::size_t column) {
    return memory_.floats().subspan(column * length_, length_);
  }

 private:
  std::size_t length_;
  AlignedBytes memory_;
};

}  // namespace laya::model
