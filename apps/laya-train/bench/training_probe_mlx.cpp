#include <mlx/mlx.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <vector>

#include "base/clock.h"
#include "laya-train/bench/training_probe.h"
#include "train/mlx/gemm.h"
#include "train/mlx/precision.h"

namespace laya::apps {
namespace {

constexpr std::int64_t kRows = 512;
constexpr std::int64_t kColumns = 1536;
constexpr std::int64_t kInner = 512;
constexpr double kGflop = 2e-9 * kRows * kColumns * kInner;

/// Best rate of the runs that fit into a moment: on a busy machine most are disturbed. One run
/// decides where it is slow anyhow.
template <typename Product>
double measure(Product product) {
  constexpr int kMaxRuns = 200;
  constexpr double kEnoughSeconds = 0.2;
  double best = 0.0;
  double spent = 0.0;
  for (int i = 0; i < kMaxRuns && spent < kEnoughSeconds; ++i) {
    const std::int64_t start = base::monotonic_ns();
    product();
    const double seconds = static_cast<double>(base::monotonic_ns() - start) * 1e-9;
    best = std::max(best, kGflop / std::max(seconds, 1e-9));
    spent += seconds;
  }
  return best;
}

struct AlignedFree {
  void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t{64}); }
};

double measure_onednn(train::Precision precision) {
  train::GemmShape shape;
  shape.m = kRows;
  shape.n = kColumns;
  shape.k = kInner;
  shape.precision = precision;
  const train::Gemm& gemm = train::gemm(shape);
  // Zeros of the larger type: the time does not depend on the values, and 0 is 0 in both.
  const std::vector<float> a(kRows * kInner);
  const std::vector<float> b(kInner * kColumns);
  std::vector<float> c(kRows * kColumns);
  const std::unique_ptr<std::byte[], AlignedFree> packed(
      static_cast<std::byte*>(::operator new[](gemm.packed_bytes(), std::align_val_t{64})));
  gemm.pack(b.data(), train::Layout::Normal, packed.get());
  return measure([&] { gemm.run(a.data(), packed.get(), c.data()); });
}

double measure_mlx() {
  namespace mx = mlx::core;
  const mx::array a = mx::random::normal({kRows, kInner});
  const mx::array b = mx::random::normal({kInner, kColumns});
  mx::eval(a, b);
  return measure([&] { mx::eval(mx::matmul(a, b)); });
}

}  // namespace

TrainingProbe measure_training() {
  TrainingProbe probe;
  try {  // MLX and oneDNN report through exceptions
    probe.mlx_version = mlx::core::version();
    probe.has_mlx = true;
    probe.mlx_gflops = measure_mlx();
    probe.onednn_fp32_gflops = measure_onednn(train::Precision::Fp32);
    if (train::best_precision() == train::Precision::Bf16) {
      probe.onednn_bf16_gflops = measure_onednn(train::Precision::Bf16);
    }
  } catch (const std::exception&) {
    // What was not measured stays 0, which the doctor shows as missing.
  }
  return probe;
}

}  // namespace laya::apps
