// linear: y = x Wᵀ (+ b); dx = dy W, dW = dyᵀ x, db = column sums of dy.
#include <cstring>
#include <optional>

#include "train/mlx/fused_op.h"
#include "train/mlx/operand.h"
#include "train/mlx/ops.h"

namespace laya::train {
namespace {

struct Sizes {
  std::size_t rows, in, out;
  Precision precision;
};

GemmShape product(std::size_t m, std::size_t n, std::size_t k, const Sizes& s) {
  GemmShape shape;
  shape.m = static_cast<std::int64_t>(m);
  shape.n = static_cast<std::int64_t>(n);
  shape.k = static_cast<std::int64_t>(k);
  shape.precision = s.precision;
  return shape;
}

// `kept` [rows, in] gets x as an operand, for the backward pass; null in fp32, where x itself is
// one.
void forward(const Sizes& s, const float* x, const float* weight, const float* bias, float* y,
             BFloat16* kept) {
  GemmShape shape = product(s.rows, s.out, s.in, s);
  if (bias != nullptr) shape.bias = Bias::Yes;
  const Gemm& multiply = gemm(shape);
  if (kept != nullptr) {
    parallel_ranges(s.rows * s.in, 64, [&](std::size_t begin, std::size_t end, std::size_t) {
      kernels().bf16.convert(x + begin, kept + begin, end - begin);
    });
  }
  const Operand operand_w(weight, s.out * s.in, s.precision);
  const PackedOperand packed(multiply, operand_w.data(), Layout::Transposed);
  multiply.run(kept != nullptr ? static_cast<const void*>(kept) : x, packed.data(), y, bias);
}

// dy as an operand, its column sums into dbias when wanted.
template <typename T>
const T* convert_dy(const Sizes& s, const float* dy, AlignedBuffer<T>& buffer, float* dbias) {
  if (std::is_same_v<T, float> && dbias == nullptr) return reinterpret_cast<const T*>(dy);
  buffer = AlignedBuffer<T>(s.rows * s.out);
  const std::size_t threads = parallel_threads();
  AlignedBuffer<float> sums(threads * s.out);
  std::memset(sums.data(), 0, threads * s.out * sizeof(float));
  parallel_ranges(s.rows, 1, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    kernels().of<T>().convert_and_sum(dy + begin * s.out, buffer.data() + begin * s.out,
                                      end - begin, s.out, sums.data() + thread * s.out);
  });
  if (dbias != nullptr) {
    std::memset(dbias, 0, s.out * sizeof(float));
    for (std::size_t t = 0; t < threads; ++t)
      kernels().add(dbias, sums.data() + t * s.out, s.out, dbias);
  }
  return buffer.data();
}

template <typename T>
void backward(const Sizes& s, const void* operand_x, const float* weight, const float* dy,
              float* dx, float* dweight, float* dbias) {
  AlignedBuffer<T> buffer;
  const T* operand_dy = convert_dy<T>(s, dy, buffer, dbias);
  {
    const Gemm& multiply = gemm(product(s.rows, s.in, s.out, s));
    const Operand operand_w(weight, s.out * s.in, s.precision);
    const PackedOperand packed(multiply, operand_w.data(), Layout::Normal);
    multiply.run(operand_dy, packed.data(), dx);
  }
  GemmShape shape = product(s.out, s.in, s.rows, s);
  shape.a = Layout::Transposed;
  const Gemm& multiply = gemm(shape);
  const PackedOperand packed(multiply, operand_x, Layout::Normal);
  multiply.run(operand_dy, packed.data(), dweight);
}

// `operand_x`: x, or the forward pass's rounded copy of it.
std::vector<mx::array> linear_vjp(const Sizes& s, const std::vector<mx::array>& inputs,
                                  const mx::array& operand_x, const mx::array& dy) {
  const bool biased = inputs.size() == 3;
  std::vector<mx::Shape> shapes{inputs[0].shape(), inputs[1].shape()};
  if (biased) shapes.push_back(inputs[2].shape());
  std::vector<mx::Dtype> types(shapes.size(), mx::float32);
  return fused_op(
      "LinearBackward", {operand_x, inputs[1], dy}, std::move(shapes), std::move(types),
      [s, biased](const auto& in, const auto& out) {
        with_operand_type(s.precision, [&](auto type) {
          backward<decltype(type)>(s, in[0], in_as<float>(in, 1), in_as<float>(in, 2),
                                   out_as<float>(out, 0), out_as<float>(out, 1),
                                   biased ? out_as<float>(out, 2) : nullptr);
        });
      },
      nullptr);
}

mx::array linear_op(const mx::array& x, const mx::array& weight, const mx::array* bias,
                    Precision precision) {
  require(weight.ndim() == 2 && x.ndim() >= 1 && x.shape(-1) == weight.shape(1), "linear",
          "x [.., in] and weight [out, in] needed");
  require(x.dtype() == mx::float32 && weight.dtype() == mx::float32, "linear", "float32 needed");
  require(bias == nullptr || (bias->ndim() == 1 && bias->shape(0) == weight.shape(0)), "linear",
          "bias [out] needed");
  require(x.size() > 0, "linear", "at least one row needed");
  const Sizes s{leading(x), static_cast<std::size_t>(weight.shape(1)),
                static_cast<std::size_t>(weight.shape(0)), precision};
  auto shape = x.shape();
  shape[static_cast<int>(shape.size()) - 1] = weight.shape(0);
  std::vector<mx::Shape> shapes{shape};
  std::vector<mx::Dtype> types{mx::float32};
  if (precision == Precision::Bf16) {
    shapes.push_back(x.shape());
    types.push_back(mx::bfloat16);
  }
  std::vector<mx::array> inputs{x, weight};
  if (bias != nullptr) inputs.push_back(*bias);
  return fused_op(
      "Linear", std::move(inputs), std::move(shapes), std::move(types),
      [s](const auto& in, const auto& out) {
        forward(s, in_as<float>(in, 0), in_as<float>(in, 1),
                in.size() == 3 ? in_as<float>(in, 2) : nullptr, out_as<float>(out, 0),
                out.size() == 2 ? out_as<BFloat16>(out, 1) : nullptr);
      },
      [s](const auto& primals, const auto& cotangents, const auto& outputs) {
        return linear_vjp(s, primals, outputs.size() == 2 ? outputs[1] : primals[0], cotangents[0]);
      })[0];
}

}  // namespace

mx::array linear(const mx::array& x, const mx::array& weight, Precision precision) {
  return linear_op(x, weight, nullptr, precision);
}

mx::array linear(const mx::array& x, const mx::array& weight, const mx::array& bias,
                 Precision precision) {
  return linear_op(x, weight, &bias, precision);
}

}  // namespace laya::train
