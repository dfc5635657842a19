// local_attention: each thread handles its share of the batch columns, so that gradients to earlier
// positions need no locks.
#include <algorithm>
#include <array>
#include <cstring>

#include "train/mlx/fused_op.h"
#include "train/mlx/ops.h"
#include "train/mlx/parallel.h"
#include "train/mlx/training_kernels.h"

namespace laya::train {
namespace {

constexpr std::size_t kMaxWindow = 64;

struct Sizes {
  std::size_t steps, batch, heads, k, window;
  std::size_t width() const { return heads * k; }
};

// Where position t of column b finds its keys, values and their gradients, newest (itself) first.
class Neighbours {
 public:
  Neighbours(const Sizes& s, const float* qkv, const float* past, float* dqkv)
      : s_(s), qkv_(qkv), past_(past), dqkv_(dqkv) {}

  void find(std::size_t t, std::size_t b, std::size_t head, std::size_t count) {
    const std::size_t width = s_.width();
    for (std::size_t j = 0; j < count; ++j) {
      if (j <= t) {
        const std::size_t at = ((t - j) * s_.batch + b) * 3 * width + head * s_.k;
        keys[j] = qkv_ + at + width;
        values[j] = qkv_ + at + 2 * width;
        dkeys[j] = dqkv_ == nullptr ? nullptr : dqkv_ + at + width;
        dvalues[j] = dqkv_ == nullptr ? nullptr : dqkv_ + at + 2 * width;
      } else {
        const std::size_t slot = s_.window - 1 - (j - t);  // newest past entry is slot W-2
        const std::size_t at = (slot * s_.batch + b) * 2 * width + head * s_.k;
        keys[j] = past_ + at;
        values[j] = past_ + at + width;
        dkeys[j] = nullptr;
        dvalues[j] = nullptr;
      }
    }
  }

  std::array<const float*, kMaxWindow> keys{}, values{};
  std::array<float*, kMaxWindow> dkeys{}, dvalues{};

 private:
  const Sizes& s_;
  const float* qkv_;
  const float* past_;
  float* dqkv_;
};

// Positions before this one that belong to the same sequence and to the window.
std::size_t advance_history(const Sizes& s, std::size_t history, std::uint8_t reset) {
  return reset != 0 ? 0 : std::min(history, s.window - 1);
}

// in: qkv, past_kv, history, reset, rel_bias; out: out, next_kv, next_history, probabilities
// [T,B,H,W]
void forward(const Sizes& s, const std::vector<const void*>& in, const std::vector<void*>& out) {
  const auto* qkv = in_as<float>(in, 0);
  const auto* past = in_as<float>(in, 1);
  const auto* history = in_as<std::int32_t>(in, 2);
  const auto* reset = in_as<std::uint8_t>(in, 3);
  const auto* bias = in_as<float>(in, 4);
  const std::size_t width = s.width();
  parallel_ranges(s.batch, 1, [&](std::size_t begin, std::size_t end, std::size_t) {
    Neighbours near(s, qkv, past, nullptr);
    for (std::size_t b = begin; b < end; ++b) {
      auto seen = static_cast<std::size_t>(std::max(history[b], 0));
      for (std::size_t t = 0; t < s.steps; ++t) {
        const std::size_t token = t * s.batch + b;
        seen = advance_history(s, seen, reset[token]);
        for (std::size_t head = 0; head < s.heads; ++head) {
          near.find(t, b, head, seen + 1);
          kernels().attend(qkv + token * 3 * width + head * s.k, near.keys.data(),
                           near.values.data(), bias + head * s.window, seen + 1, s.k,
                           out_as<float>(out, 3) + (token * s.heads + head) * s.window,
                           out_as<float>(out, 0) + token * width + head * s.k);
        }
        ++seen;
      }
      out_as<std::int32_t>(out, 2)[b] = static_cast<std::int32_t>(std::min(seen, s.window - 1));
      for (std::size_t slot = 0; slot + 1 < s.window; ++slot) {
        // Slot i of the next past is position T - (W-1) + i of this chunk, or of the present past
        // where the chunk is shorter.
        float* to = out_as<float>(out, 1) + (slot * s.batch + b) * 2 * width;
        const float* from =
            slot + s.steps >= s.window - 1
                ? qkv + ((slot + s.steps - (s.window - 1)) * s.batch + b) * 3 * width + width
                : past + ((slot + s.steps) * s.batch + b) * 2 * width;
        std::memcpy(to, from, 2 * width * sizeof(float));
      }
    }
  });
}

// in: dout, qkv, past_kv, history, reset, probabilities; out: dqkv, drel_bias
void backward(const Sizes& s, const std::vector<const void*>& in, const std::vector<void*>& out) {
  const auto* dout = in_as<float>(in, 0);
  const auto* qkv = in_as<float>(in, 1);
  const auto* history = in_as<std::int32_t>(in, 3);
  const auto* reset = in_as<std::uint8_t>(in, 4);
  auto* dqkv = out_as<float>(out, 0);
  const std::size_t width = s.width();
  const std::size_t threads = parallel_threads();
  const std::size_t biases = s.heads * s.window;
  AlignedBuffer<float> partial(threads * biases);
  std::fill_n(partial.data(), threads * biases, 0.0F);
  parallel_ranges(s.batch, 1, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    Neighbours near(s, qkv, in_as<float>(in, 2), dqkv);
    for (std::size_t t = 0; t < s.steps; ++t) {
      std::fill_n(dqkv + (t * s.batch + begin) * 3 * width, (end - begin) * 3 * width, 0.0F);
    }
    for (std::size_t b = begin; b < end; ++b) {
      auto seen = static_cast<std::size_t>(std::max(history[b], 0));
      for (std::size_t t = 0; t < s.steps; ++t) {
        const std::size_t token = t * s.batch + b;
        seen = advance_history(s, seen, reset[token]);
        for (std::size_t head = 0; head < s.heads; ++head) {
          near.find(t, b, head, seen + 1);
          const std::size_t at = token * 3 * width + head * s.k;
          kernels().attend_backward(
              dout + token * width + head * s.k, qkv + at, near.keys.data(), near.values.data(),
              in_as<float>(in, 5) + (token * s.heads + head) * s.window, seen + 1, s.k, dqkv + at,
              near.dkeys.data(), near.dvalues.data(),
              partial.data() + thread * biases + head * s.window);
        }
        ++seen;
      }
    }
  });
  auto* dbias = out_as<float>(out, 1);
  std::fill_n(dbias, biases, 0.0F);
  for (std::size_t t = 0; t < threads; ++t)
    kernels().add(dbias, partial.data() + t * biases, biases, dbias);
}

}  // namespace

LocalAttention local_attention(const mx::array& qkv, const mx::array& past_kv,
                               const mx::array& history, const mx::array& reset,
                               const mx::array& rel_bias) {
  constexpr const char* kOp = "local_attention";
  require(qkv.ndim() == 3 && rel_bias.ndim() == 2 && qkv.size() > 0, kOp,
          "qkv [T,B,3Hk] and rel_bias [H,W] needed");
  const int steps = qkv.shape(0);
  const int batch = qkv.shape(1);
  const int heads = rel_bias.shape(0);
  const int window = rel_bias.shape(1);
  require(heads > 0 && window >= 1 && static_cast<std::size_t>(window) <= kMaxWindow, kOp,
          "window 1..64 needed");
  require(qkv.shape(2) % (48 * heads) == 0, kOp, "3Hk with k a multiple of 16 needed");
  const int width = qkv.shape(2) / 3;
  require(past_kv.shape() == mx::Shape{window - 1, batch, 2 * width}, kOp,
          "past_kv [W-1,B,2Hk] needed");
  require(history.shape() == mx::Shape{batch} && history.dtype() == mx::int32, kOp,
          "history int32 [B] needed");
  require(reset.shape() == mx::Shape{steps, batch} && reset.dtype() == mx::uint8, kOp,
          "reset uint8 [T,B] needed");
  for (const auto* x : {&qkv, &past_kv, &rel_bias})
    require(x->dtype() == mx::float32, kOp, "float32 needed");
  const Sizes s{static_cast<std::size_t>(steps), static_cast<std::size_t>(batch),
                static_cast<std::size_t>(heads), static_cast<std::size_t>(width / heads),
                static_cast<std::size_t>(window)};
  auto outputs = fused_op(
      "LocalAttention", {qkv, past_kv, history, reset, rel_bias},
      {{steps, batch, width}, past_kv.shape(), {batch}, {steps, batch, heads, window}},
      {mx::float32, mx::float32, mx::int32, mx::float32},
      [s](const auto& in, const auto& out) { forward(s, in, out); },
      [s](const auto& inputs, const auto& cotangents, const auto& results) {
        auto back = fused_op(
            "LocalAttentionBackward",
            {cotangents[0], inputs[0], inputs[1], inputs[2], inputs[3], results[3]},
            {inputs[0].shape(), inputs[4].shape()}, {mx::float32, mx::float32},
            [s](const auto& in, const auto& out) { backward(s, in, out); }, nullptr);
        return std::vector<mx::array>{back[0], inputs[1], inputs[2], inputs[3], back[1]};
      });
  return {outputs[0], outputs[1], outputs[2]};
}

}  // namespace laya::train
