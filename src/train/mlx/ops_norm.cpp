// rms_norm and add_rms_norm: y = s * weight / sqrt(mean(s²) + eps), s = x (+ delta). The inverse
// root is kept for the backward pass.
#include <cstring>

#include "train/mlx/fused_op.h"
#include "train/mlx/ops.h"
#include "train/mlx/parallel.h"
#include "train/mlx/training_kernels.h"

namespace laya::train {
namespace {

// inputs: dnormed, sum, weight, inverse[, dsum] -> dx, dweight
std::vector<mx::array> norm_backward(std::vector<mx::array> inputs) {
  const std::size_t rows = leading(inputs[1]);
  const auto d = static_cast<std::size_t>(inputs[1].shape(-1));
  std::vector<mx::Shape> shapes{inputs[1].shape(), inputs[2].shape()};
  return fused_op(
      "RmsNormBackward", std::move(inputs), std::move(shapes), {mx::float32, mx::float32},
      [=](const auto& in, const auto& out) {
        const float* dsum = in.size() == 5 ? in_as<float>(in, 4) : nullptr;
        const std::size_t threads = parallel_threads();
        AlignedBuffer<float> partial(threads * d);
        std::memset(partial.data(), 0, threads * d * sizeof(float));
        parallel_ranges(rows, 1, [&](std::size_t begin, std::size_t end, std::size_t thread) {
          for (std::size_t row = begin; row < end; ++row) {
            kernels().rms_norm_backward(
                in_as<float>(in, 0) + row * d, dsum == nullptr ? nullptr : dsum + row * d,
                in_as<float>(in, 1) + row * d, in_as<float>(in, 2), in_as<float>(in, 3)[row], d,
                out_as<float>(out, 0) + row * d, partial.data() + thread * d);
          }
        });
        auto* dweight = out_as<float>(out, 1);
        std::memset(dweight, 0, d * sizeof(float));
        for (std::size_t t = 0; t < threads; ++t)
          kernels().add(dweight, partial.data() + t * d, d, dweight);
      },
      nullptr);
}

void check(const mx::array& x, const mx::array& weight, const char* op) {
  require(x.ndim() >= 1 && weight.ndim() == 1 && x.shape(-1) == weight.shape(0), op,
          "x [.., d] and weight [d] needed");
  require(x.dtype() == mx::float32 && weight.dtype() == mx::float32, op, "float32 needed");
  require(x.shape(-1) % 16 == 0 && x.size() > 0, op, "d must be a multiple of 16");
}

}  // namespace

mx::array rms_norm(const mx::array& x, const mx::array& weight, float eps) {
  check(x, weight, "rms_norm");
  const std::size_t rows = leading(x);
  const auto d = static_cast<std::size_t>(x.shape(-1));
  return fused_op(
      "RmsNorm", {x, weight}, {x.shape(), {static_cast<int>(rows)}}, {mx::float32, mx::float32},
      [=](const auto& in, const auto& out) {
        parallel_ranges(rows, 1, [&](std::size_t begin, std::size_t end, std::size_t) {
          for (std::size_t row = begin; row < end; ++row) {
            out_as<float>(out, 1)[row] =
                kernels().rms_norm(in_as<float>(in, 0) + row * d, nullptr, in_as<float>(in, 1), d,
                                   eps, nullptr, out_as<float>(out, 0) + row * d);
          }
        });
      },
      [](const auto& inputs, const auto& cotangents, const auto& outputs) {
        return norm_backward({cotangents[0], inputs[0], inputs[1], outputs[1]});
      })[0];
}

ResidualNorm add_rms_norm(const mx::array& x, const mx::array& delta, const mx::array& weight,
                          float eps) {
  check(x, weight, "add_rms_norm");
  require(delta.shape() == x.shape() && delta.dtype() == mx::float32, "add_rms_norm",
          "delta of x's shape needed");
  const std::size_t rows = leading(x);
  const auto d = static_cast<std::size_t>(x.shape(-1));
  auto outputs = fused_op(
      "AddRmsNorm", {x, delta, weight}, {x.shape(), x.shape(), {static_cast<int>(rows)}},
      {mx::float32, mx::float32, mx::float32},
      [=](const auto& in, const auto& out) {
        parallel_ranges(rows, 1, [&](std::size_t begin, std::size_t end, std::size_t) {
          for (std::size_t row = begin; row < end; ++row) {
            out_as<float>(out, 2)[row] = kernels().rms_norm(
                in_as<float>(in, 0) + row * d, in_as<float>(in, 1) + row * d, in_as<float>(in, 2),
                d, eps, out_as<float>(out, 0) + row * d, out_as<float>(out, 1) + row * d);
          }
        });
      },
      [](const auto& inputs, const auto& cotangents, const auto& results) {
        const auto back =
            norm_backward({cotangents[1], results[0], inputs[2], results[2], cotangents[0]});
        return std::vector<mx::array>{back[0], back[0], back[1]};
      });
  return {outputs[0], outputs[1]};
}

}  // namespace laya::train
