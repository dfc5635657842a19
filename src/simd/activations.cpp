#include "simd/activations.h"

#include <cassert>
#include <cmath>
#include <cstring>
#include <new>

#include "simd/packing.h"

namespace laya::simd {
namespace {

constexpr std::size_t kLargestGroup = 128;
constexpr std::size_t kSmallestGroup = 32;

constexpr std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

void Activations::Free::operator()(std::byte* memory) const {
  ::operator delete[](memory, std::align_val_t{kPackedAlignment});
}

Activations::Activations(std::size_t max_length, std::size_t max_columns)
    : max_length_(round_up(max_length, kLargestGroup)), max_columns_(max_columns) {
  assert(max_columns >= 1 && max_columns <= kMaxColumns);
  const std::size_t code_bytes = max_length_ * max_columns;  // a multiple of 128
  const std::size_t table_bytes =
      round_up(max_length_ / kSmallestGroup * max_columns * sizeof(float), kPackedAlignment);
  memory_.reset(static_cast<std::byte*>(
      ::operator new[](2 * code_bytes + 3 * table_bytes, std::align_val_t{kPackedAlignment})));
  codes_ = reinterpret_cast<std::int8_t*>(memory_.get());
  scales_ = reinterpret_cast<float*>(memory_.get() + code_bytes);
  sums_ = reinterpret_cast<std::int32_t*>(memory_.get() + code_bytes + table_bytes);
  weighted_sums_ = reinterpret_cast<float*>(memory_.get() + code_bytes + 2 * table_bytes);
  row_codes_ = reinterpret_cast<std::int8_t*>(memory_.get() + code_bytes + 3 * table_bytes);
}

void Activations::set(const Kernels& kernels, std::span<const float> x, std::size_t group) {
  set(kernels, x, x.size(), 1, x.size(), group);
}

void Activations::set(const Kernels& kernels, std::span<const float> x, std::size_t length,
                      std::size_t columns, std::size_t stride, std::size_t group) {
  begin(kernels, x, length, columns, stride, group);
  if (group == 0) return;
  for (std::size_t c = 0; c < columns; ++c) put(kernels, c, 0, x.subspan(c * stride, length));
}

void Activations::begin(const Kernels& kernels, std::span<const float> x, std::size_t length,
                        std::size_t columns, std::size_t stride, std::size_t group) {
  assert(columns >= 1 && columns <= max_columns_ && length <= max_length_);
  assert(columns == 1 || stride >= length);
  assert(x.size() >= length && x.size() - length >= (columns - 1) * stride);
  view_ = {};
  view_.values = x.data();
  view_.value_stride = stride;
  view_.length = length;
  view_.columns = columns;
  view_.group = group;
  if (group == 0) return;
  view_.codes = codes_;
  view_.scales = scales_;
  view_.sums = sums_;
  view_.weighted_sums = weighted_sums_;
  if (columns >= kernels.row_codes_from) {
    view_.row_codes = row_codes_;
    view_.row_stride = round_up(length, group);
  }
}

bool Activations::put(const Kernels& kernels, std::size_t column, std::size_t first,
                      std::span<const float> part) {
  const std::size_t columns = view_.columns, group = view_.group;
  assert(group != 0 && column < columns && first % group == 0);
  assert(part.size() <= view_.length - first);
  assert(part.size() % group == 0 || first + part.size() == view_.length);
  std::int8_t* const codes = codes_ + (first / kQuad * columns + column) * kQuad;
  const std::size_t groups = round_up(part.size(), group) / group;
  const std::size_t at = first / group * columns + column;
  kernels.quantize_column(part.data(), part.size(), group, columns, codes, scales_ + at,
                          sums_ + at);
  bool finite = true;  // what is not spoils its group's scale
  for (std::size_t i = at; i < at + groups * columns; i += columns) {
    weighted_sums_[i] = scales_[i] * static_cast<float>(sums_[i]);
    finite = finite && std::isfinite(scales_[i]);
  }
  if (view_.row_codes == nullptr) return finite;
  std::int8_t* const row = row_codes_ + column * view_.row_stride + first;
  for (std::size_t quad = 0; quad < groups * group / kQuad; ++quad) {
    std::memcpy(row + quad * kQuad, codes + quad * columns * kQuad, kQuad);
  }
  return finite;
}

}  // namespace laya::simd
