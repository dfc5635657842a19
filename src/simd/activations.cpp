#include "simd/activations.h"

#include <cassert>
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
  for (std::size_t c = 0; c < columns; ++c) {
    kernels.quantize_column(x.data() + c * stride, length, group, columns, codes_ + c * kQuad,
                            scales_ + c, sums_ + c);
  }
  const std::size_t entries = (length + group - 1) / group * columns;
  for (std::size_t i = 0; i < entries; ++i) {
    weighted_sums_[i] = scales_[i] * static_cast<float>(sums_[i]);
  }
  if (columns >= kernels.row_codes_from) {
    set_row_codes(round_up(length, group));
  }
}

void Activations::set_row_codes(std::size_t padded) {
  const std::size_t columns = view_.columns;
  for (std::size_t quad = 0; quad < padded / kQuad; ++quad) {
    for (std::size_t c = 0; c < columns; ++c) {
      std::memcpy(row_codes_ + c * padded + quad * kQuad, codes_ + (quad * columns + c) * kQuad,
                  kQuad);
    }
  }
  view_.row_codes = row_codes_;
  view_.row_stride = padded;
}

}  // namespace laya::simd
