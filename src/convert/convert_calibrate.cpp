#include "convert/convert_calibrate.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "convert/convert_forward.h"
#include "convert/convert_quantise.h"
#include "convert/convert_repack.h"
#include "simd/dispatch.h"
#include "simd/ops.h"
#include "simd/packing.h"

namespace laya::convert {
namespace {

using model::Precision;
using simd::WeightType;

constexpr std::size_t kLongestText = 512;
constexpr std::size_t kOutputRows = 64;  // rows and tokens that output errors are measured with
constexpr std::size_t kOutputTokens = 64;

/// ‖x(a − b)‖ / ‖x a‖ over a sample of rows and inputs.
double output_error(std::span<const float> inputs, std::size_t cols, std::span<const float> exact,
                    std::span<const float> ours) {
  const std::size_t rows = exact.size() / cols, tokens = inputs.size() / cols;
  const std::size_t row_step = rows / kOutputRows + 1, token_step = tokens / kOutputTokens + 1;
  double off = 0, size = 0;
  for (std::size_t t = 0; t < tokens; t += token_step) {
    for (std::size_t r = 0; r < rows; r += row_step) {
      double a = 0, b = 0;
      for (std::size_t i = 0; i < cols; ++i) {
        a += static_cast<double>(inputs[t * cols + i]) * exact[r * cols + i];
        b += static_cast<double>(inputs[t * cols + i]) * ours[r * cols + i];
      }
      off += (a - b) * (a - b);
      size += a * a;
    }
  }
  return size > 0 ? std::sqrt(off / size) : 0;
}

/// Matrices of the same site have the same inputs.
std::string input_site(std::string_view name) {
  const std::string layer(name.substr(0, name.find('.', name.find('.') + 1)));
  for (const std::string_view part : {"attn.q.weight", "attn.k.weight", "attn.v.weight"}) {
    if (name.ends_with(part)) return layer + " attention";
  }
  for (const std::string_view part : {"ffn.gate.weight", "ffn.up.weight"}) {
    if (name.ends_with(part)) return layer + " feed-forward";
  }
  return std::string(name);
}

class Calibrator {
 public:
  Calibrator(const SourceModel& source, const CalibrateOptions& options, SourcePass& pass)
      : source_(source), options_(options), pass_(pass) {}

  /// A layer's matrix: quantised where wanted, and given back as it will be.
  Status read(const SourcePart& part, std::span<const float> inputs, std::span<float> out) {
    if (options_.cancel != nullptr && options_.cancel->cancelled()) {
      return Error{ErrorCode::Cancelled, "interrupted"};
    }
    if (auto status = read_matrix(source_, part, out); !status) return status;
    const Precision precision = options_.precision_of(part);
    if (!wanted(part, precision)) return {};
    return quantise(part.name, precision, inputs, out);
  }

  Status quantise(const std::string& name, const Precision& precision,
                  std::span<const float> inputs, std::span<float> weights) {
    const InputMoments& moments = moments_of(name, inputs);
    const std::size_t cols = moments.cols();
    const std::vector<float> exact(weights.begin(), weights.end());
    auto bytes = quantise_for(moments, precision, weights.size() / cols, weights, pass_.pool());
    if (!bytes) return bytes.error();
    CalibratedMatrix done{precision, std::move(*bytes), 0, 0};
    double off = 0, size = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      off += (static_cast<double>(exact[i]) - weights[i]) * (exact[i] - weights[i]);
      size += static_cast<double>(exact[i]) * exact[i];
    }
    done.weight_error = size > 0 ? std::sqrt(off / size) : 0;
    done.output_error = output_error(inputs, cols, exact, weights);
    result.insert_or_assign(name, std::move(done));
    return {};
  }

  /// The chosen rows of the head, some thousands at a time: as fp32 all would be the largest thing
  /// in memory.
  Status quantise_head(const SourcePart& part, std::span<const float> inputs) {
    constexpr std::size_t kRows = 8192;  // a multiple of the 16 rows of a packed block
    const std::size_t d = source_.config.hidden_dim, rows = options_.head_rows.size();
    const Precision& p = options_.head;
    const simd::PackedShape shape{rows, d, p.type, p.group, p.minima};
    if (auto status = simd::check_shape(shape); !status) return status;
    const InputMoments moments(inputs, d, pass_.pool());
    CalibratedMatrix done{p, model::AlignedBytes(simd::packed_size_bytes(shape)), 0, 0};
    double off = 0, size = 0;
    std::size_t at = 0;
    for (std::size_t first = 0; first < rows; first += kRows) {
      const std::size_t count = std::min(kRows, rows - first);
      std::vector<float> weights(count * d);
      for (std::size_t r = 0; r < count; ++r) {
        if (auto status = format::read_rows(*part.tensor, options_.head_rows[first + r], 1,
                                            std::span(weights).subspan(r * d, d));
            !status) {
          return status;
        }
      }
      if (!simd::all_finite(simd::best_kernels(), weights)) {
        return Error{ErrorCode::Corrupt,
                     "tensor " + part.tensor->name + ": a weight is NaN or infinite"};
      }
      const std::vector<float> exact = weights;
      auto bytes = quantise_for(moments, p, count, weights, pass_.pool());
      if (!bytes) return bytes.error();
      std::ranges::copy(bytes->bytes(), done.bytes.bytes().subspan(at).begin());
      at += bytes->bytes().size();
      for (std::size_t i = 0; i < exact.size(); ++i) {
        off += (static_cast<double>(exact[i]) - weights[i]) * (exact[i] - weights[i]);
        size += static_cast<double>(exact[i]) * exact[i];
      }
      done.output_error = std::max(done.output_error, output_error(inputs, d, exact, weights));
      if (options_.progress) {
        options_.progress(0.67 + 0.33 * static_cast<double>(first) / static_cast<double>(rows));
      }
      if (options_.cancel != nullptr && options_.cancel->cancelled()) {
        return Error{ErrorCode::Cancelled, "interrupted"};
      }
    }
    done.weight_error = size > 0 ? std::sqrt(off / size) : 0;
    result.insert_or_assign("head.weight", std::move(done));
    return {};
  }

  /// Whether the matrix is quantised here: to int4, and not by taking over groups as they are.
  static bool wanted(const SourcePart& part, const Precision& precision) {
    return precision.type == WeightType::Int4 && exact_precision(*part.tensor) != precision &&
           part.tensor->columns() % precision.group == 0;
  }

  CalibratedMatrices result;

 private:
  /// q, k and v have the same inputs, gate and up as well: their moments are computed once.
  const InputMoments& moments_of(const std::string& name, std::span<const float> inputs) {
    const std::string site = input_site(name);
    if (site != site_ || moments_ == nullptr) {
      const std::size_t cols = inputs.size() / pass_.tokens();
      moments_ = std::make_unique<InputMoments>(inputs, cols, pass_.pool());
      site_ = site;
    }
    return *moments_;
  }

  const SourceModel& source_;
  const CalibrateOptions& options_;
  SourcePass& pass_;
  std::unique_ptr<InputMoments> moments_;
  std::string site_;
};

}  // namespace

std::vector<std::vector<TokenId>> encode_texts(const text::SubwordTokenizer& tokenizer,
                                               std::span<const std::string_view> texts) {
  std::vector<std::vector<TokenId>> sequences;
  for (const std::string_view text : texts) {
    std::vector<TokenId> tokens;
    if (tokenizer.add_bos()) tokens.push_back(tokenizer.bos());
    tokenizer.encode(text, tokens, nullptr);
    if (tokens.size() > kLongestText) tokens.resize(kLongestText);
    if (tokens.size() >= 2) sequences.push_back(std::move(tokens));
  }
  return sequences;
}

Result<CalibratedMatrices> calibrate(const SourceModel& source,
                                     std::span<const std::vector<TokenId>> sequences,
                                     const CalibrateOptions& options) {
  SourcePass pass(source, sequences);
  Calibrator calibrator(source, options, pass);
  const bool head = !options.head_rows.empty();
  const bool layers = std::ranges::any_of(source.parts, [&](const SourcePart& part) {
    return part.role == SourceRole::Matrix && part.name.starts_with("layers.") &&
           Calibrator::wanted(part, options.precision_of(part));
  });
  if ((!layers && !head) || sequences.empty()) return CalibratedMatrices{};
  if (auto status = pass.embed(); !status) return status.error();
  const std::size_t steps = source.config.layers + (head ? source.config.layers / 2 : 0);
  for (std::size_t l = 0; l < source.config.layers; ++l) {
    if (options.progress) {
      options.progress(static_cast<double>(l) / static_cast<double>(steps));
    }
    const auto status =
        pass.layer(l, [&](const SourcePart& part, std::span<const float> inputs,
                          std::span<float> out) { return calibrator.read(part, inputs, out); });
    if (!status) return status.error();
  }
  if (head) {
    const SourcePart* own = source.find("head.weight");
    const SourcePart& part = own != nullptr ? *own : *source.find("embedding.weight");
    std::vector<float> inputs;
    if (auto status = pass.final_inputs(inputs); !status) return status.error();
    if (auto status = calibrator.quantise_head(part, inputs); !status) return status.error();
  }
  return std::move(calibrator.result);
}

}  // namespace laya::convert
