#include "convert/convert_forward.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/core/aligned_bytes.h"
#include "simd/activations.h"
#include "simd/dispatch.h"
#include "simd/ops.h"
#include "simd/packing.h"

namespace laya::convert {
namespace {

using model::DecoderConfig;

constexpr std::size_t kHeadRows = 4096;  // of the head at a time: 10 MB at 640 columns

float activate(model::Activation activation, float x) {
  if (activation == model::Activation::SiLU) return x / (1.0F + std::exp(-x));
  const float inner = 0.7978845608F * (x + 0.044715F * x * x * x);  // sqrt(2 / pi)
  return 0.5F * x * (1.0F + std::tanh(inner));
}

void rms_norm(std::span<const float> x, std::span<const float> weight, float eps,
              std::span<float> y) {
  double sum = 0;
  for (const float value : x) sum += static_cast<double>(value) * value;
  const float scale =
      static_cast<float>(1.0 / std::sqrt(sum / static_cast<double>(x.size()) + eps));
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * scale * weight[i];
}

}  // namespace

std::vector<std::uint32_t> row_order(const SourcePart& part, const DecoderConfig& config,
                                     std::span<const TokenId> kept) {
  const bool by_token = part.name == "embedding.weight" || part.name == "head.weight";
  if (by_token && !kept.empty()) return {kept.begin(), kept.end()};
  std::vector<std::uint32_t> rows(part.role == SourceRole::Matrix ? part.tensor->rows()
                                                                  : part.tensor->elements());
  std::iota(rows.begin(), rows.end(), 0u);
  if (part.heads > 0) {
    for (std::uint32_t& row : rows) row = interleaved_row(row, config.head_dim);
  }
  return rows;
}

Result<std::vector<float>> read_vector(const SourceModel& source, const SourcePart& part) {
  std::vector<float> stored(part.tensor->elements());
  if (auto status = format::read_rows(*part.tensor, 0, 1, stored); !status) return status.error();
  const std::vector<std::uint32_t> rows = row_order(part, source.config, {});
  std::vector<float> values(stored.size());
  const bool less_one = part.role == SourceRole::Norm && source.norm_stored == NormStored::LessOne;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = stored[rows[i]] + (less_one ? 1.0F : 0.0F);
    if (!std::isfinite(values[i])) {
      return Error{ErrorCode::Corrupt, "a weight is NaN or infinite"};
    }
  }
  return values;
}

Status read_matrix(const SourceModel& source, const SourcePart& part, std::span<float> out) {
  const std::size_t cols = part.tensor->columns();
  const std::vector<std::uint32_t> rows = row_order(part, source.config, {});
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (auto status = format::read_rows(*part.tensor, rows[r], 1, out.subspan(r * cols, cols));
        !status) {
      return status;
    }
  }
  if (!simd::all_finite(simd::best_kernels(), out)) {
    return Error{ErrorCode::Corrupt, "a weight is NaN or infinite"};
  }
  return {};
}

SourcePass::SourcePass(const SourceModel& source, std::span<const std::vector<TokenId>> sequences)
    : source_(source),
      sequences_(sequences),
      rope_(source.config),
      pool_(std::make_unique<simd::ThreadPool>(2)) {
  for (const auto& sequence : sequences) tokens_ += sequence.size();
}

const SourcePart& SourcePass::part(std::size_t l, const char* name) const {
  return *source_.find("layers." + std::to_string(l) + "." + name);
}

Status SourcePass::embed() {
  const DecoderConfig& c = source_.config;
  const SourcePart& embedding = *source_.find("embedding.weight");
  stream_.resize(tokens_ * c.hidden_dim);
  std::size_t at = 0;
  for (const auto& sequence : sequences_) {
    for (const TokenId token : sequence) {
      if (token >= c.vocabulary_size) {
        return Error{ErrorCode::BadArgument, "token " + std::to_string(token) +
                                                 " is outside the vocabulary of " +
                                                 std::to_string(c.vocabulary_size)};
      }
      const std::span<float> row = std::span(stream_).subspan(at++ * c.hidden_dim, c.hidden_dim);
      if (auto status = format::read_rows(*embedding.tensor, token, 1, row); !status) {
        return status;
      }
      for (float& value : row) value *= c.embedding_scale;
    }
  }
  return {};
}

void SourcePass::multiply_rows(std::span<const float> weights, std::size_t rows, std::size_t cols,
                               std::span<const float> x, std::size_t count, std::span<float> out,
                               std::size_t stride) {
  const simd::Kernels& kernels = simd::best_kernels();
  const simd::PackedShape shape{rows, cols, simd::WeightType::Fp32, 0, simd::Minima::None};
  model::AlignedBytes packed(simd::packed_size_bytes(shape));
  // Shapes and finiteness were checked by the callers: neither call can fail.
  if (!simd::pack(shape, weights, packed.bytes())) return;
  const auto view = simd::view_packed(shape, std::as_const(packed).bytes());
  if (!view) return;
  simd::Activations activations(cols, simd::kMaxColumns);
  for (std::size_t first = 0; first < count; first += simd::kMaxColumns) {
    const std::size_t n = std::min(simd::kMaxColumns, count - first);
    activations.set(kernels, x.subspan(first * cols, n * cols), cols, n, cols, 0);
    const simd::MatmulJob job{
        &*view, &activations, {}, out.subspan(first * stride, (n - 1) * stride + rows), stride};
    simd::matmul(kernels, *pool_, std::span(&job, 1));
  }
}

Status SourcePass::multiply(const SourcePart& part, std::span<const float> x,
                            const MatrixReader& read, std::vector<float>& y) {
  const std::size_t rows = part.tensor->rows(), cols = part.tensor->columns();
  weights_.resize(rows * cols);
  if (auto status = read(part, x, weights_); !status) {
    return Error{status.error().code,
                 "tensor " + part.tensor->name + ": " + status.error().message};
  }
  y.resize(tokens_ * rows);
  multiply_rows(weights_, rows, cols, x, tokens_, y, rows);
  return {};
}

Status SourcePass::add_bias(std::size_t l, const char* name, std::vector<float>& y) {
  const SourcePart* found = source_.find("layers." + std::to_string(l) + "." + name);
  if (found == nullptr) return {};
  auto bias = read_vector(source_, *found);
  if (!bias) return bias.error();
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += (*bias)[i % bias->size()];
  return {};
}

Status SourcePass::norm(const std::string& name, std::span<const float> x, std::vector<float>& y) {
  auto weight = read_vector(source_, *source_.find(name));
  if (!weight) return Error{weight.error().code, name + ": " + weight.error().message};
  const std::size_t d = weight->size();
  y.resize(x.size());
  for (std::size_t first = 0; first < x.size(); first += d) {
    rms_norm(x.subspan(first, d), *weight, source_.config.norm_eps, std::span(y).subspan(first, d));
  }
  return {};
}

Status SourcePass::rotate_heads(std::size_t l, const char* norm_name, std::size_t heads,
                                std::vector<float>& x) {
  const DecoderConfig& c = source_.config;
  if (c.qk_norm) {
    if (auto status = norm("layers." + std::to_string(l) + "." + norm_name, x, x); !status) {
      return status;
    }
  }
  const std::size_t half = c.head_dim / 2;
  std::vector<float> cosines(half), sines(half);
  std::size_t at = 0;
  for (const auto& sequence : sequences_) {
    for (std::size_t position = 0; position < sequence.size(); ++position) {
      rope_.angles(position, c.slides(l), cosines, sines);
      for (std::size_t h = 0; h < heads; ++h, at += c.head_dim) {
        for (std::size_t i = 0; i < half; ++i) {
          const float a = x[at + i], b = x[at + half + i];
          x[at + i] = a * cosines[i] - b * sines[i];
          x[at + half + i] = b * cosines[i] + a * sines[i];
        }
      }
    }
  }
  return {};
}

void SourcePass::attend(std::size_t l) {
  const DecoderConfig& c = source_.config;
  const std::size_t window = c.slides(l) ? c.sliding_window : tokens_;
  const std::size_t hd = c.head_dim, per_kv = c.heads / c.kv_heads;
  attended_.assign(tokens_ * c.q_dim(), 0.0F);
  std::vector<float> weights;
  std::size_t start = 0;
  for (const auto& sequence : sequences_) {
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      const std::size_t oldest = i + 1 > window ? i + 1 - window : 0;
      for (std::size_t h = 0; h < c.heads; ++h) {
        const float* query = &q_[(start + i) * c.q_dim() + h * hd];
        const std::size_t kv = h / per_kv * hd;
        weights.resize(i - oldest + 1);
        for (std::size_t j = oldest; j <= i; ++j) {
          const float* key = &k_[(start + j) * c.kv_dim() + kv];
          float dot = 0;
          for (std::size_t e = 0; e < hd; ++e) dot += query[e] * key[e];
          weights[j - oldest] = dot * c.attention_scale;
        }
        simd::softmax(simd::best_kernels(), weights, weights);
        float* out = &attended_[(start + i) * c.q_dim() + h * hd];
        for (std::size_t j = oldest; j <= i; ++j) {
          const float* value = &v_[(start + j) * c.kv_dim() + kv];
          for (std::size_t e = 0; e < hd; ++e) out[e] += weights[j - oldest] * value[e];
        }
      }
    }
    start += sequence.size();
  }
}

Status SourcePass::layer(std::size_t l, const MatrixReader& read) {
  const DecoderConfig& c = source_.config;
  const std::string prefix = "layers." + std::to_string(l) + ".";
  const auto add_to_stream = [&](const char* post_norm) -> Status {
    if (c.post_norms) {
      if (auto status = norm(prefix + post_norm, y_, y_); !status) return status;
    }
    for (std::size_t i = 0; i < stream_.size(); ++i) stream_[i] += y_[i];
    return {};
  };
  Status status = norm(prefix + "attn_norm.weight", stream_, normed_);
  if (status) status = multiply(part(l, "attn.q.weight"), normed_, read, q_);
  if (status) status = multiply(part(l, "attn.k.weight"), normed_, read, k_);
  if (status) status = multiply(part(l, "attn.v.weight"), normed_, read, v_);
  if (status) status = add_bias(l, "attn.q.bias", q_);
  if (status) status = add_bias(l, "attn.k.bias", k_);
  if (status) status = add_bias(l, "attn.v.bias", v_);
  if (status) status = rotate_heads(l, "attn.q_norm.weight", c.heads, q_);
  if (status) status = rotate_heads(l, "attn.k_norm.weight", c.kv_heads, k_);
  if (!status) return status;
  attend(l);
  status = multiply(part(l, "attn.o.weight"), attended_, read, y_);
  if (status) status = add_to_stream("attn_post_norm.weight");
  if (status) status = norm(prefix + "ffn_norm.weight", stream_, normed_);
  if (status) status = multiply(part(l, "ffn.gate.weight"), normed_, read, gate_);
  if (status) status = multiply(part(l, "ffn.up.weight"), normed_, read, up_);
  if (!status) return status;
  for (std::size_t i = 0; i < gate_.size(); ++i)
    gate_[i] = activate(c.activation, gate_[i]) * up_[i];
  status = multiply(part(l, "ffn.down.weight"), gate_, read, y_);
  if (status) status = add_to_stream("ffn_post_norm.weight");
  return status;
}

Status SourcePass::final_inputs(std::vector<float>& out) {
  return norm("final_norm.weight", stream_, out);
}

Status SourcePass::scores(std::span<const std::size_t> chosen, std::size_t rows,
                          const RowReader& read, std::vector<float>& out) {
  const DecoderConfig& c = source_.config;
  const std::size_t d = c.hidden_dim;
  std::vector<float> picked(chosen.size() * d);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    std::copy_n(stream_.begin() + static_cast<std::ptrdiff_t>(chosen[i] * d), d,
                picked.begin() + static_cast<std::ptrdiff_t>(i * d));
  }
  if (auto status = norm("final_norm.weight", picked, normed_); !status) return status;
  out.resize(chosen.size() * rows);
  for (std::size_t first = 0; first < rows; first += kHeadRows) {
    const std::size_t count = std::min(kHeadRows, rows - first);
    weights_.resize(count * d);
    for (std::size_t r = 0; r < count; ++r) {
      if (auto status = read(first + r, std::span(weights_).subspan(r * d, d)); !status) {
        return status;
      }
    }
    if (!simd::all_finite(simd::best_kernels(), weights_)) {
      return Error{ErrorCode::Corrupt, "the head: a weight is NaN or infinite"};
    }
    multiply_rows(weights_, count, d, normed_, chosen.size(), std::span(out).subspan(first), rows);
  }
  if (c.logit_soft_cap > 0) {
    for (float& score : out) score = c.logit_soft_cap * std::tanh(score / c.logit_soft_cap);
  }
  return {};
}

}  // namespace laya::convert
