// The vectors that a decoder's products read, prepared in parts: whoever computed some rows of all
// columns makes them ready for the next product at once, while they are in its cache. Only int8
// codes then travel between threads.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "model/core/aligned_bytes.h"
#include "model/core/columns.h"
#include "model/core/workspace.h"
#include "simd/activations.h"

namespace laya::model {

/// One input of up to kMaxColumns columns, in every form that its readers ask for.
class Inputs {
 public:
  explicit Inputs(std::size_t length);

  /// What comes will be read by `readers` (null ones are skipped). One thread, before put().
  void begin(const simd::Kernels& kernels, std::size_t columns,
             std::span<const simd::PackedMatrix* const> readers);

  /// Parts begin and end at multiples of this, but for the end of the vector.
  std::size_t step() const { return step_; }

  /// Elements [first, first + part.size()) of a column. Disjoint parts may come from different
  /// threads. False if one of them is NaN or infinite.
  bool put(const simd::Kernels& kernels, std::size_t column, std::size_t first,
           std::span<const float> part);

  /// For a reader named in begin(), once everything is put.
  const simd::Activations& of(const simd::PackedMatrix& reader) const {
    return *by_group_[index_of(reader.group)];
  }

 private:
  /// Groups 0 (fp16 and fp32 matrices), 32, 64, 128.
  static std::size_t index_of(std::size_t group) {
    return group == 0 ? 0 : group == 32 ? 1 : group == 64 ? 2 : 3;
  }

  Columns values_;
  std::array<std::unique_ptr<simd::Activations>, 4> by_group_;
  std::array<bool, 4> wanted_{};
  std::size_t step_ = 1;
};

}  // namespace laya::model
