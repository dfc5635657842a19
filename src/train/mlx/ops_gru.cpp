// gru_sequence: each thread walks all time steps of its own share of the batch, so that there is no
// barrier inside; the recurrent product of a share is a one-thread oneDNN call with w_hh packed
// once. For the backward pass the gates are kept (in operand precision).
#include <algorithm>
#include <cstring>

#include "train/mlx/fused_op.h"
#include "train/mlx/operand.h"
#include "train/mlx/ops.h"

namespace laya::train {
namespace {

struct Sizes {
  std::size_t steps, batch, d;
  Precision precision;
};

GemmShape recurrent_product(const Sizes& s, std::size_t rows, std::size_t n, std::size_t k,
                            Accumulate accumulate) {
  GemmShape shape;
  shape.accumulate = accumulate;
  shape.m = static_cast<std::int64_t>(rows);
  shape.n = static_cast<std::int64_t>(n);
  shape.k = static_cast<std::int64_t>(k);
  shape.precision = s.precision;
  shape.threads = GemmThreads::One;
  return shape;
}

// Shares differ by one row at most: products of both heights are compiled before the threads start.
struct Shares {
  Shares(const Sizes& s, std::size_t n, std::size_t k, const void* weight, Layout layout,
         Accumulate accumulate) {
    const std::size_t threads = parallel_threads();
    for (const std::size_t rows : {s.batch / threads, s.batch / threads + 1}) {
      const bool used = rows > 0 && (rows == s.batch / threads || s.batch % threads != 0);
      products.push_back(used ? &gemm(recurrent_product(s, rows, n, k, accumulate)) : nullptr);
      packed.push_back(used ? PackedOperand(*products.back(), weight, layout) : PackedOperand());
    }
    smallest = s.batch / threads;
  }
  void run(std::size_t rows, const void* a, float* c) const {
    const std::size_t i = rows - smallest;
    products[i]->run(a, packed[i].data(), c);
  }
  std::vector<const Gemm*> products;
  std::vector<PackedOperand> packed;
  std::size_t smallest = 0;
};

// The h that step t starts from: h0 or the step before, zero where reset.
const float* previous_row(const Sizes& s, const float* h0, const float* h,
                          const std::uint8_t* reset, const float* zeros, std::size_t t,
                          std::size_t b) {
  if (reset[t * s.batch + b] != 0) return zeros;
  return t == 0 ? h0 + b * s.d : h + ((t - 1) * s.batch + b) * s.d;
}

template <typename T>
void forward(const Sizes& s, const std::vector<const void*>& in, const std::vector<void*>& out) {
  const auto* gates_x = in_as<float>(in, 0);
  const auto* h0 = in_as<float>(in, 1);
  const auto* bias = in_as<float>(in, 3);
  const auto* reset = in_as<std::uint8_t>(in, 4);
  auto* h = out_as<float>(out, 0);
  auto* saved = out_as<T>(out, 1);
  auto* starts = out_as<T>(out, 2);  // the h that each step starts from, as an operand
  const std::size_t d = s.d;
  const Operand weight(in_as<float>(in, 2), 3 * d * d, s.precision);
  const Shares shares(s, 3 * d, d, weight.data(), Layout::Transposed, Accumulate::No);
  const AlignedBuffer<float> zeros = [&] {
    AlignedBuffer<float> row(d);
    std::fill_n(row.data(), d, 0.0F);
    return row;
  }();
  const auto& kernel = kernels().of<T>();
  parallel_ranges(s.batch, 1, [&](std::size_t begin, std::size_t end, std::size_t) {
    const std::size_t rows = end - begin;
    AlignedBuffer<float> gh(rows * 3 * d);
    AlignedBuffer<T> last(rows * d);  // there is no next step to start from the last h
    kernel.convert(h0 + begin * d, starts + begin * d, rows * d);
    for (std::size_t t = 0; t < s.steps; ++t) {
      T* start = starts + (t * s.batch + begin) * d;
      T* next = t + 1 < s.steps ? start + s.batch * d : last.data();
      for (std::size_t b = begin; b < end; ++b) {
        if (reset[t * s.batch + b] != 0) std::memset(start + (b - begin) * d, 0, d * sizeof(T));
      }
      shares.run(rows, start, gh.data());
      for (std::size_t b = begin; b < end; ++b) {
        const std::size_t token = t * s.batch + b;
        kernel.gru_forward(gates_x + token * 3 * d, gh.data() + (b - begin) * 3 * d, bias,
                           previous_row(s, h0, h, reset, zeros.data(), t, b), d, h + token * d,
                           next + (b - begin) * d, saved + token * 4 * d);
      }
    }
  });
}

// in: dh [T,B,d], h0, w_hh, reset, h, saved, starts; out: dgates_x, dh0, dw_hh, db_hh
template <typename T>
void backward(const Sizes& s, const std::vector<const void*>& in, const std::vector<void*>& out) {
  const auto* dh = in_as<float>(in, 0);
  const auto* h0 = in_as<float>(in, 1);
  const auto* reset = in_as<std::uint8_t>(in, 3);
  const auto* h = in_as<float>(in, 4);
  const auto* saved = in_as<T>(in, 5);
  auto* dgates = out_as<float>(out, 0);
  auto* dh0 = out_as<float>(out, 1);
  const std::size_t d = s.d;
  const std::size_t tokens = s.steps * s.batch;
  const Operand weight(in_as<float>(in, 2), 3 * d * d, s.precision);
  const Shares shares(s, d, 3 * d, weight.data(), Layout::Normal, Accumulate::Yes);
  AlignedBuffer<T> dgh(tokens * 3 * d);
  AlignedBuffer<float> zeros(d);
  std::fill_n(zeros.data(), d, 0.0F);
  const std::size_t threads = parallel_threads();
  AlignedBuffer<float> dbias(threads * 3 * d);
  std::fill_n(dbias.data(), threads * 3 * d, 0.0F);
  const auto& kernel = kernels().of<T>();
  parallel_ranges(s.batch, 1, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    const std::size_t rows = end - begin;
    float* carry =
        dh0 + begin * d;  // dL/dh from the steps after the one at hand; at the end, from all
    std::fill_n(carry, rows * d, 0.0F);
    for (std::size_t t = s.steps; t-- > 0;) {
      for (std::size_t b = begin; b < end; ++b) {
        const std::size_t token = t * s.batch + b;
        kernel.gru_backward(dh + token * d, saved + token * 4 * d,
                            previous_row(s, h0, h, reset, zeros.data(), t, b), d,
                            dgates + token * 3 * d, dgh.data() + token * 3 * d,
                            carry + (b - begin) * d, dbias.data() + thread * 3 * d);
      }
      shares.run(rows, dgh.data() + (t * s.batch + begin) * 3 * d, carry);
      for (std::size_t b = begin; b < end; ++b) {
        if (reset[t * s.batch + b] != 0) std::fill_n(carry + (b - begin) * d, d, 0.0F);
      }
    }
  });
  auto* db = out_as<float>(out, 3);
  std::fill_n(db, 3 * d, 0.0F);
  for (std::size_t t = 0; t < threads; ++t) kernels().add(db, dbias.data() + t * 3 * d, 3 * d, db);
  GemmShape shape = recurrent_product(s, 3 * d, d, tokens, Accumulate::No);
  shape.a = Layout::Transposed;
  shape.threads = GemmThreads::All;
  const Gemm& multiply = gemm(shape);
  const PackedOperand packed(multiply, in[6], Layout::Normal);
  multiply.run(dgh.data(), packed.data(), out_as<float>(out, 2));
}

}  // namespace

mx::array gru_sequence(const mx::array& gates_x, const mx::array& h0, const mx::array& w_hh,
                       const mx::array& b_hh, const mx::array& reset, Precision precision) {
  constexpr const char* kOp = "gru_sequence";
  require(gates_x.ndim() == 3 && gates_x.size() > 0 && h0.ndim() == 2, kOp,
          "gates_x [T,B,3d] and h0 [B,d] needed");
  const int d = h0.shape(1);
  const mx::Shape whole{gates_x.shape(0), gates_x.shape(1), d};
  require(d % 16 == 0 && gates_x.shape(2) == 3 * d && h0.shape(0) == gates_x.shape(1), kOp,
          "d a multiple of 16, same B needed");
  require(w_hh.shape() == mx::Shape{3 * d, d} && b_hh.shape() == mx::Shape{3 * d}, kOp,
          "w_hh [3d,d] and b_hh [3d] needed");
  require(reset.shape() == mx::Shape{whole[0], whole[1]} && reset.dtype() == mx::uint8, kOp,
          "reset uint8 [T,B] needed");
  for (const auto* x : {&gates_x, &h0, &w_hh, &b_hh})
    require(x->dtype() == mx::float32, kOp, "float32 needed");
  const Sizes s{static_cast<std::size_t>(whole[0]), static_cast<std::size_t>(whole[1]),
                static_cast<std::size_t>(d), precision};
  const mx::Dtype kept = precision == Precision::Bf16 ? mx::bfloat16 : mx::float32;
  return fused_op(
      "GruSequence", {gates_x, h0, w_hh, b_hh, reset}, {whole, {whole[0], whole[1], 4 * d}, whole},
      {mx::float32, kept, kept},
      [s](const auto& in, const auto& out) {
        with_operand_type(s.precision, [&](auto type) { forward<decltype(type)>(s, in, out); });
      },
      [s](const auto& inputs, const auto& cotangents, const auto& outputs) {
        auto back = fused_op(
            "GruSequenceBackward",
            {cotangents[0], inputs[1], inputs[2], inputs[4], outputs[0], outputs[1], outputs[2]},
            {inputs[0].shape(), inputs[1].shape(), inputs[2].shape(), inputs[3].shape()},
            {mx::float32, mx::float32, mx::float32, mx::float32},
            [s](const auto& in, const auto& out) {
              with_operand_type(s.precision,
                                [&](auto type) { backward<decltype(type)>(s, in, out); });
            },
            nullptr);
        back.push_back(inputs[4]);
        return back;
      })[0];
}

}  // namespace laya::train
