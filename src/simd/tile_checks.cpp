#include "simd/impl/tile_checks.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "simd/activations.h"
#include "simd/packing.h"

namespace laya::simd {
namespace {

constexpr std::size_t kRows = 80;  // four blocks at once, and one alone
constexpr std::size_t kCols = 128;

// Values in [-1, 1) without a pattern (Knuth's multiplier).
std::vector<float> values(std::size_t n) {
  std::vector<float> out(n);
  std::uint32_t state = 1;
  for (float& value : out) {
    state = state * 2654435761u + 12345u;
    value = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31f;
  }
  return out;
}

struct alignas(kPackedAlignment) Line {
  std::array<std::byte, kPackedAlignment> bytes;
};

}  // namespace

bool same_wide_products(const Kernels& a, const Kernels& b) {
  const std::vector<float> weights = values(kRows * kCols);
  const std::vector<float> x = values(kMaxColumns * kCols);
  for (const WeightType type : {WeightType::Int8, WeightType::Int4}) {
    const PackedShape shape{kRows, kCols, type, 32, Minima::PerGroup};
    std::vector<Line> memory(packed_size_bytes(shape) / sizeof(Line));
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(memory));
    if (!pack(shape, weights, bytes)) return false;
    const auto view = view_packed(shape, bytes);
    if (!view) return false;
    std::vector<float> found[2];
    for (int i = 0; i < 2; ++i) {
      const Kernels& kernels = i == 0 ? a : b;
      Activations activations(kCols, kMaxColumns);
      activations.set(kernels, x, kCols, kMaxColumns, kCols, 32);
      found[i].resize(kMaxColumns * kRows);
      kernels.matmul_blocks({*view, activations.view(), nullptr, found[i].data(), kRows}, 0,
                            view->blocks);
    }
    if (std::memcmp(found[0].data(), found[1].data(), found[0].size() * sizeof(float)) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace laya::simd
