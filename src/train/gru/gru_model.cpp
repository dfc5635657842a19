#include "train/gru/gru_model.h"

#include <algorithm>
#include <exception>

#include "mlx/array.h"
#include "mlx/ops.h"
#include "mlx/transforms.h"
#include "train/mlx/ops.h"

namespace laya::train {
namespace {

// A view of memory that we own: MLX neither copies nor frees it. The caller keeps the array itself
// alive until eval is over, so that MLX cannot take it for a buffer it may overwrite.
mx::array view(const std::vector<float>& values, mx::Shape shape) {
  return mx::array(const_cast<float*>(values.data()), std::move(shape), mx::float32, [](void*) {});
}

mx::Shape mlx_shape(const std::vector<std::uint32_t>& shape) {
  mx::Shape out;
  for (std::uint32_t n : shape) out.push_back(static_cast<int>(n));
  return out;
}

std::vector<mx::array> parameter_views(const GruParameters& parameters) {
  std::vector<mx::array> views;
  for (const Parameter& tensor : parameters.tensors())
    views.push_back(view(tensor.value, mlx_shape(tensor.shape)));
  return views;
}

template <typename T>
void copy_out(const mx::array& array, std::vector<T>& out) {
  const mx::array rows = array.flags().row_contiguous ? array : mx::contiguous(array);
  mx::array evaluated = rows;
  evaluated.eval();
  out.assign(evaluated.data<T>(), evaluated.data<T>() + evaluated.size());
}

// The arrays that enter the graph besides the parameters.
struct Inputs {
  mx::array ids;                                    // int32 [T, B]
  mx::array reset;                                  // uint8 [T, B]
  std::vector<mx::array> hidden, past_kv, history;  // one a layer
};

Inputs make_inputs(const model::GruConfig& config, const Batch& batch, const GruCarry& carry) {
  const int steps = static_cast<int>(batch.steps);
  const int lanes = static_cast<int>(batch.lanes);
  std::vector<std::uint8_t> reset(batch.inputs.size());
  for (std::size_t i = 0; i < reset.size(); ++i)
    reset[i] = batch.inputs[i] == static_cast<std::int32_t>(kBeginId);
  Inputs inputs{mx::array(batch.inputs.begin(), {steps, lanes}, mx::int32),
                mx::array(reset.begin(), {steps, lanes}, mx::uint8),
                {},
                {},
                {}};
  const int past = static_cast<int>(config.past_tokens());
  for (const GruCarry::Layer& layer : carry.layers) {
    inputs.hidden.push_back(
        mx::array(layer.hidden.begin(), {lanes, static_cast<int>(config.hidden_dim)}, mx::float32));
    inputs.past_kv.push_back(mx::array(layer.past_kv.begin(),
                                       {past, lanes, 2 * static_cast<int>(config.attention_dim())},
                                       mx::float32));
    inputs.history.push_back(mx::array(layer.history.begin(), {lanes}, mx::int32));
  }
  return inputs;
}

struct Forward {
  mx::array output;             // y [T·B, e]
  std::vector<mx::array> next;  // per layer: h [B, d], past_kv, history
};

Forward forward(const GruParameters& parameters, const std::vector<mx::array>& w,
                const Inputs& inputs, const StepOptions& options) {
  const model::GruConfig& config = parameters.config();
  const GruIndex& at = parameters.index();
  const Precision precision = options.precision;
  const int steps = inputs.ids.shape(0);
  const int lanes = inputs.ids.shape(1);
  std::uint64_t place = 0;
  const auto drop = [&](const mx::array& x) {
    return dropout(x, options.dropout, Random::derive(options.seed, 7, place++));
  };

  Forward out{inputs.ids, {}};
  mx::array x =
      drop(linear(embedding_lookup(w[at.embedding], inputs.ids), w[at.in_proj], precision));
  mx::array normed = rms_norm(x, w[at.layers[0].gru_norm], config.norm_eps);
  for (std::size_t l = 0; l < config.layers; ++l) {
    const GruLayerIndex& layer = at.layers[l];
    const mx::array gates = linear(normed, w[layer.w_ih], w[layer.b_ih], precision);
    const mx::array h = gru_sequence(gates, inputs.hidden[l], w[layer.w_hh], w[layer.b_hh],
                                     inputs.reset, precision);
    const ResidualNorm after_gru = add_rms_norm(x, drop(h), w[layer.attn_norm], config.norm_eps);
    const mx::array qkv = linear(after_gru.normed, w[layer.w_qkv], precision);
    const LocalAttention attention =
        local_attention(qkv, inputs.past_kv[l], inputs.history[l], inputs.reset, w[layer.rel_bias]);
    const mx::array mixed = linear(attention.out, w[layer.w_o], precision);
    const std::size_t next_norm = l + 1 < config.layers ? at.layers[l + 1].gru_norm : at.final_norm;
    const ResidualNorm after_attention =
        add_rms_norm(after_gru.sum, drop(mixed), w[next_norm], config.norm_eps);
    x = after_attention.sum;
    normed = after_attention.normed;
    const int d = static_cast<int>(config.hidden_dim);
    out.next.push_back(mx::stop_gradient(
        mx::reshape(mx::slice(h, {steps - 1, 0, 0}, {steps, lanes, d}), {lanes, d})));
    out.next.push_back(attention.next_kv);
    out.next.push_back(attention.next_history);
  }
  const mx::array y = linear(normed, w[at.out_proj], precision);
  out.output = mx::reshape(y, {steps * lanes, static_cast<int>(config.embedding_dim)});
  return out;
}

HeadLoss head(const GruParameters& parameters, const std::vector<mx::array>& w, const mx::array& y,
              const mx::array& targets, const mx::array& weights, const CandidateSet* candidates,
              const StepOptions& options, HeadPass pass) {
  const GruIndex& at = parameters.index();
  if (candidates == nullptr) {
    return softmax_cross_entropy(y, w[at.embedding], w[at.out_bias], targets, weights, pass,
                                 options.precision);
  }
  const int size = static_cast<int>(candidates->ids.size());
  return sampled_softmax_cross_entropy(
      y, w[at.embedding], w[at.out_bias], targets, weights,
      mx::array(candidates->ids.begin(), {size}, mx::int32),
      mx::array(candidates->log_inclusion.begin(), {size}, mx::float32), options.precision);
}

Status step(const GruParameters& parameters, const Batch& batch, const StepOptions& options,
            GruCarry& carry, StepResult& result) {
  const std::vector<mx::array> views = parameter_views(parameters);
  const Inputs inputs = make_inputs(parameters.config(), batch, carry);
  const int tokens = static_cast<int>(batch.targets.size());
  const mx::array targets(batch.targets.begin(), {tokens}, mx::int32);
  const std::vector<float> ones(batch.targets.size(), 1.0F);
  const mx::array weights(ones.begin(), {tokens}, mx::float32);
  CandidateSet candidates;
  if (options.head == HeadKind::Sampled)
    candidates = options.sampler->sample(batch.targets, Random::derive(options.seed, 8, 0));
  const CandidateSet* set = options.head == HeadKind::Sampled ? &candidates : nullptr;

  std::vector<int> argnums(views.size());
  for (std::size_t i = 0; i < argnums.size(); ++i) argnums[i] = static_cast<int>(i);
  const auto loss_of = [&](const std::vector<mx::array>& w) {
    Forward out = forward(parameters, w, inputs, options);
    std::vector<mx::array> values = {
        head(parameters, w, out.output, targets, weights, set, options, HeadPass::Train).loss};
    values.insert(values.end(), out.next.begin(), out.next.end());
    return values;
  };
  auto [values, gradients] = mx::value_and_grad(loss_of, argnums)(views);
  std::vector<mx::array> all = values;
  all.insert(all.end(), gradients.begin(), gradients.end());
  mx::eval(all);

  result.loss = static_cast<double>(values[0].item<float>());
  result.gradients.resize(gradients.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) copy_out(gradients[i], result.gradients[i]);
  for (std::size_t l = 0; l < carry.layers.size(); ++l) {
    copy_out(values[1 + 3 * l], carry.layers[l].hidden);
    copy_out(values[2 + 3 * l], carry.layers[l].past_kv);
    copy_out(values[3 + 3 * l], carry.layers[l].history);
  }
  return {};
}

}  // namespace

Status gru_step(const GruParameters& parameters, const Batch& batch, const StepOptions& options,
                GruCarry& carry, StepResult& result) {
  if (options.head == HeadKind::Sampled && options.sampler == nullptr) {
    return Error{ErrorCode::BadArgument, "train: a sampled head needs a sampler"};
  }
  try {
    return step(parameters, batch, options, carry, result);
  } catch (const std::exception& error) {
    return Error{ErrorCode::Internal, std::string("train: MLX: ") + error.what()};
  }
}

Result<std::vector<float>> gru_evaluate(const GruParameters& parameters, const Batch& batch,
                                        Precision precision) {
  try {
    const std::vector<mx::array> views = parameter_views(parameters);
    const GruCarry carry = GruCarry::zero(parameters.config(), batch.lanes);
    StepOptions options;
    options.precision = precision;
    const Forward out =
        forward(parameters, views, make_inputs(parameters.config(), batch, carry), options);
    const int tokens = static_cast<int>(batch.targets.size());
    std::vector<std::int32_t> targets(batch.targets);
    std::vector<float> weights(targets.size(), 1.0F);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (targets[i] < 0) {
        targets[i] = 0;
        weights[i] = 0.0F;
      }
    }
    const HeadLoss loss = head(
        parameters, views, out.output, mx::array(targets.begin(), {tokens}, mx::int32),
        mx::array(weights.begin(), {tokens}, mx::float32), nullptr, options, HeadPass::Evaluate);
    std::vector<float> nll;
    copy_out(loss.token_nll, nll);
    return nll;
  } catch (const std::exception& error) {
    return Error{ErrorCode::Internal, std::string("train: MLX: ") + error.what()};
  }
}

}  // namespace laya::train
