#include "model/decoder/decoder_inputs.h"

#include <algorithm>

#include "simd/ops.h"

namespace laya::model {

Inputs::Inputs(std::size_t length) : values_(length) {
  for (std::unique_ptr<simd::Activations>& form : by_group_) {
    form = std::make_unique<simd::Activations>(length, kMaxColumns);
  }
}

void Inputs::begin(const simd::Kernels& kernels, std::size_t columns,
                   std::span<const simd::PackedMatrix* const> readers) {
  wanted_ = {};
  step_ = 1;
  for (const simd::PackedMatrix* reader : readers) {
    if (reader == nullptr) {
      continue;
    }
    const std::size_t at = index_of(reader->group);
    wanted_[at] = true;
    step_ = std::max(step_, reader->group);
    by_group_[at]->begin(kernels, values_.all(columns), values_.length(), columns, values_.length(),
                         reader->group);
  }
}

bool Inputs::put(const simd::Kernels& kernels, std::size_t column, std::size_t first,
                 std::span<const float> part) {
  bool finite = true;
  if (wanted_[0]) {
    std::ranges::copy(part, values_[column].subspan(first).begin());
    finite = simd::all_finite(kernels, part);
  }
  for (std::size_t i = 1; i < wanted_.size(); ++i) {
    if (wanted_[i]) {
      finite = by_group_[i]->put(kernels, column, first, part) && finite;
    }
  }
  return finite;
}

}  // namespace laya::model
