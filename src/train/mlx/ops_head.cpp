// softmax_cross_entropy and its sampled form as MLX operations. In a training pass the gradients
// are computed with the loss, so that no logit is computed twice; the backward step only multiplies
// them by the loss's cotangent.
#include <cstring>

#include "mlx/ops.h"
#include "train/mlx/fused_op.h"
#include "train/mlx/operand.h"
#include "train/mlx/ops.h"
#include "train/mlx/softmax_head.h"

namespace laya::train {
namespace {

struct Sizes {
  std::size_t tokens, width, vocabulary;
  Precision precision;
};

HeadInput head_input(const Sizes& s, const std::vector<const void*>& in) {
  HeadInput head;
  head.tokens = s.tokens;
  head.width = s.width;
  head.classes = s.vocabulary;
  head.hidden = in_as<float>(in, 0);
  head.embedding = in_as<float>(in, 1);
  head.bias = {in_as<float>(in, 2), s.vocabulary};
  head.targets = {in_as<std::int32_t>(in, 3), s.tokens};
  head.weights = {in_as<float>(in, 4), s.tokens};
  head.precision = s.precision;
  return head;
}

HeadOutput head_output(const std::vector<void*>& out) {
  HeadOutput result;
  result.loss = out_as<float>(out, 0);
  result.token_nll = out_as<float>(out, 1);
  if (out.size() == 5) {
    result.dhidden = out_as<float>(out, 2);
    result.dembedding = out_as<float>(out, 3);
    result.dbias = out_as<float>(out, 4);
  }
  return result;
}

Sizes checked(const char* op, const mx::array& hidden, const mx::array& embedding,
              const mx::array& bias, const mx::array& targets, const mx::array& weights,
              Precision precision) {
  require(hidden.ndim() == 2 && embedding.ndim() == 2 && hidden.shape(1) == embedding.shape(1) &&
              hidden.size() > 0,
          op, "hidden [N,e] and embedding [V,e] needed");
  const mx::Shape tokens{hidden.shape(0)};
  require(bias.shape() == mx::Shape{embedding.shape(0)} && targets.shape() == tokens &&
              weights.shape() == tokens,
          op, "bias [V], targets [N] and weights [N] needed");
  require(targets.dtype() == mx::int32, op, "int32 targets needed");
  for (const auto* x : {&hidden, &embedding, &bias, &weights})
    require(x->dtype() == mx::float32, op, "float32 needed");
  return {static_cast<std::size_t>(hidden.shape(0)), static_cast<std::size_t>(hidden.shape(1)),
          static_cast<std::size_t>(embedding.shape(0)), precision};
}

std::vector<mx::array> scaled_gradients(const std::vector<mx::array>& inputs,
                                        const std::vector<mx::array>& cotangents,
                                        const std::vector<mx::array>& outputs) {
  auto gradients = inputs;
  for (std::size_t i = 0; i < 3; ++i) gradients[i] = scale_by(outputs[i + 2], cotangents[0]);
  return gradients;
}

// The candidates' rows gathered, the head on them, and the result spread over the whole vocabulary
// again.
void sampled(const Sizes& s, std::size_t slots, const std::vector<const void*>& in,
             const std::vector<void*>& out) {
  const auto* ids = in_as<std::int32_t>(in, 5);
  const auto* log_inclusion = in_as<float>(in, 6);
  HeadInput head = head_input(s, in);
  HeadOutput result = head_output(out);
  constexpr std::int32_t kAbsent = -1;
  std::vector<std::int32_t> position(s.vocabulary, kAbsent);
  AlignedBuffer<float> embedding(slots * s.width);
  AlignedBuffer<float> bias(slots);
  AlignedBuffer<float> own(slots);
  for (std::size_t c = 0; c < slots; ++c) {
    const bool real = ids[c] >= 0 && static_cast<std::size_t>(ids[c]) < s.vocabulary;
    bias[c] = real ? head.bias[static_cast<std::size_t>(ids[c])] - log_inclusion[c] : -1.0e30F;
    own[c] = real ? log_inclusion[c] : 0.0F;
    if (real) position[static_cast<std::size_t>(ids[c])] = static_cast<std::int32_t>(c);
  }
  const auto row_of = [&](std::size_t c) -> std::ptrdiff_t {
    const bool real = ids[c] >= 0 && static_cast<std::size_t>(ids[c]) < s.vocabulary;
    return real ? static_cast<std::ptrdiff_t>(ids[c]) : -1;
  };
  parallel_ranges(slots, 1, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t c = begin; c < end; ++c) {
      float* row = embedding.data() + c * s.width;
      if (row_of(c) < 0) {
        std::fill_n(row, s.width, 0.0F);
      } else {
        std::memcpy(row, head.embedding + row_of(c) * static_cast<std::ptrdiff_t>(s.width),
                    s.width * sizeof(float));
      }
    }
  });
  std::vector<std::int32_t> targets(s.tokens, kAbsent);
  for (std::size_t n = 0; n < s.tokens; ++n) {
    const std::int32_t id = head.targets[n];
    if (id >= 0 && static_cast<std::size_t>(id) < s.vocabulary)
      targets[n] = position[static_cast<std::size_t>(id)];
  }
  AlignedBuffer<float> dembedding(slots * s.width);
  AlignedBuffer<float> dbias(slots);
  float* whole_dembedding = result.dembedding;
  float* whole_dbias = result.dbias;
  head.classes = slots;
  head.embedding = embedding.data();
  head.bias = bias.span();
  head.own = own.span();
  head.targets = targets;
  result.dembedding = dembedding.data();
  result.dbias = dbias.data();
  softmax_head(head, result);
  std::fill_n(whole_dbias, s.vocabulary, 0.0F);
  parallel_ranges(s.vocabulary, 1, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t id = begin; id < end; ++id) {
      float* row = whole_dembedding + id * s.width;
      const std::int32_t c = position[id];
      if (c == kAbsent) {
        std::fill_n(row, s.width, 0.0F);
        continue;
      }
      std::memcpy(row, dembedding.data() + static_cast<std::size_t>(c) * s.width,
                  s.width * sizeof(float));
      whole_dbias[id] = dbias[static_cast<std::size_t>(c)];
    }
  });
}

}  // namespace

HeadLoss softmax_cross_entropy(const mx::array& hidden, const mx::array& embedding,
                               const mx::array& bias, const mx::array& targets,
                               const mx::array& weights, HeadPass pass, Precision precision) {
  const Sizes s =
      checked("softmax_cross_entropy", hidden, embedding, bias, targets, weights, precision);
  std::vector<mx::Shape> shapes{mx::Shape{}, targets.shape()};
  if (pass == HeadPass::Train)
    shapes.insert(shapes.end(), {hidden.shape(), embedding.shape(), bias.shape()});
  std::vector<mx::Dtype> types(shapes.size(), mx::float32);
  const FusedVjp vjp = pass == HeadPass::Train ? FusedVjp(scaled_gradients) : nullptr;
  const auto outputs = fused_op(
      "SoftmaxCrossEntropy", {hidden, embedding, bias, targets, weights}, std::move(shapes),
      std::move(types),
      [s](const auto& in, const auto& out) { softmax_head(head_input(s, in), head_output(out)); },
      vjp);
  return {outputs[0], outputs[1]};
}

HeadLoss sampled_softmax_cross_entropy(const mx::array& hidden, const mx::array& embedding,
                                       const mx::array& bias, const mx::array& targets,
                                       const mx::array& weights, const mx::array& candidates,
                                       const mx::array& log_inclusion, Precision precision) {
  constexpr const char* kOp = "sampled_softmax_cross_entropy";
  const Sizes s = checked(kOp, hidden, embedding, bias, targets, weights, precision);
  require(candidates.ndim() == 1 && candidates.size() > 0 && candidates.dtype() == mx::int32, kOp,
          "int32 candidates [C] needed");
  require(log_inclusion.shape() == candidates.shape() && log_inclusion.dtype() == mx::float32, kOp,
          "float32 log_inclusion [C] needed");
  const std::size_t slots = candidates.size();
  const auto outputs = fused_op(
      "SampledSoftmaxCrossEntropy",
      {hidden, embedding, bias, targets, weights, candidates, log_inclusion},
      {mx::Shape{}, targets.shape(), hidden.shape(), embedding.shape(), bias.shape()},
      std::vector<mx::Dtype>(5, mx::float32),
      [s, slots](const auto& in, const auto& out) { sampled(s, slots, in, out); },
      scaled_gradients);
  return {outputs[0], outputs[1]};
}

}  // namespace laya::train
