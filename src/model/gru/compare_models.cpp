#include "model/gru/compare_models.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "model/gru/gru_cpu_backend.h"
#include "simd/dispatch.h"
#include "simd/ops.h"

namespace laya::model {
namespace {

struct Position {
  std::size_t sequence;
  std::size_t token;  ///< its index in the sequence; scored by what precedes it
};

std::size_t scored_tokens(const MeasuringText& text) {
  std::size_t count = 0;
  for (const auto& sequence : text.sequences) {
    count += sequence.empty() ? 0 : sequence.size() - 1;
  }
  return count;
}

/// Runs `model` over all sequences, up to kMaxColumns at a time so that weights are read once for
/// all of them, and calls visit(position, scores [V]) before each scored token. The order depends
/// on the text only.
template <typename Visit>
Status run_over(const LanguageModel& model, const MeasuringText& text, Visit&& visit) {
  const auto workspace = model.make_workspace(Threads::One);
  const std::size_t e = model.config().embedding_dim, v = model.config().vocabulary_size;
  std::vector<State> states(kMaxColumns, State(model.config()));
  std::vector<float> hidden(kMaxColumns * e), scores(kMaxColumns * v);
  std::array<Position, kMaxColumns> at{};
  std::size_t next_sequence = 0, active = 0;
  while (true) {
    while (active < kMaxColumns &&
           next_sequence < text.sequences.size()) {  // fill columns that are free
      if (text.sequences[next_sequence].size() > 1) {
        states[active].reset();
        at[active++] = {next_sequence, 0};
      }
      ++next_sequence;
    }
    if (active == 0) {
      return {};
    }
    std::array<State*, kMaxColumns> pointers{};
    std::array<TokenId, kMaxColumns> tokens{};
    for (std::size_t c = 0; c < active; ++c) {
      pointers[c] = &states[c];
      tokens[c] = text.sequences[at[c].sequence][at[c].token];
    }
    const std::span<float> y = std::span(hidden).first(active * e);
    const std::span<float> rows = std::span(scores).first(active * v);
    if (auto status = model.advance(*workspace, std::span(pointers).first(active),
                                    std::span(tokens).first(active), y);
        !status) {
      return status;
    }
    if (auto status = model.logits(*workspace, y, active, rows); !status) {
      return status;
    }
    for (std::size_t c = 0; c < active; ++c) {
      ++at[c].token;
      visit(at[c], std::span<const float>(rows.subspan(c * v, v)));
    }
    for (std::size_t c = active;
         c-- > 0;) {  // finished sequences make room; the last column moves into their place
      if (at[c].token + 1 >= text.sequences[at[c].sequence].size()) {
        --active;
        std::swap(states[c], states[active]);
        std::swap(at[c], at[active]);
      }
    }
  }
}

double bits_of(std::span<const float> scores, TokenId token) {
  return (static_cast<double>(log_sum_exp(scores)) - scores[token]) * std::numbers::log2e;
}

using Candidates = std::array<std::uint32_t, kCandidates>;

Candidates best_of(std::span<const float> scores) {
  Candidates ids{};
  std::array<float, kCandidates> values{};
  simd::top_k(simd::best_kernels(), scores, ids, values);
  return ids;
}

}  // namespace

Result<ExactAnswers> ExactAnswers::compute(const LanguageModel& exact, const MeasuringText& text,
                                           std::size_t max_contexts) {
  ExactAnswers answers;
  answers.text_ = &text;
  answers.tokens_ = scored_tokens(text);
  if (answers.tokens_ == 0 || max_contexts == 0) {
    return Error{ErrorCode::BadArgument,
                 "measuring text: no token to score; it needs at least two a sequence"};
  }
  answers.stride_ = (answers.tokens_ + max_contexts - 1) / max_contexts;
  std::size_t seen = 0;
  auto status = run_over(exact, text, [&](const Position& p, std::span<const float> scores) {
    answers.bits_ += bits_of(scores, text.sequences[p.sequence][p.token]);
    if (seen++ % answers.stride_ == 0) {
      const Candidates best = best_of(scores);
      answers.candidates_.insert(answers.candidates_.end(), best.begin(), best.end());
    }
  });
  if (!status) {
    return status.error();
  }
  return answers;
}

Result<Comparison> ExactAnswers::compare(const LanguageModel& model) const {
  Comparison result;
  result.tokens = tokens_;
  result.exact_bits = bits_;
  std::size_t seen = 0, common = 0, first = 0;
  auto status = run_over(model, *text_, [&](const Position& p, std::span<const float> scores) {
    result.quantised_bits += bits_of(scores, text_->sequences[p.sequence][p.token]);
    if (seen++ % stride_ == 0) {
      const auto exact =
          std::span(candidates_).subspan(result.contexts++ * kCandidates, kCandidates);
      const Candidates best = best_of(scores);
      first += best[0] == exact[0] ? 1 : 0;
      for (const std::uint32_t candidate : best) {
        common += std::ranges::find(exact, candidate) != exact.end() ? 1 : 0;
      }
    }
  });
  if (!status) {
    return status.error();
  }
  const auto contexts = static_cast<double>(result.contexts);
  result.overlap = static_cast<double>(common) / (contexts * static_cast<double>(kCandidates));
  result.same_first = static_cast<double>(first) / contexts;
  return result;
}

Result<std::vector<Sensitivity>> measure_sensitivity(const GruConfig& config,
                                                     const FloatWeights& weights,
                                                     const QuantizeRecipe& recipe,
                                                     const ExactAnswers& answers) {
  std::vector<Sensitivity> found;
  for (const TensorSpec& spec : tensor_specs(config)) {
    if (spec.role != TensorRole::Matrix) {
      continue;
    }
    QuantizeRecipe alone;
    alone.standard = {simd::WeightType::Fp32, 64, simd::Minima::None};
    alone.exceptions[spec.name] = recipe.of(spec.name);
    auto packed = quantize_weights(config, weights, alone);
    if (!packed) {
      return packed.error();
    }
    auto comparison =
        answers.compare(*make_cpu_model(config, std::move(*packed), simd::best_kernels()));
    if (!comparison) {
      return comparison.error();
    }
    found.push_back({spec.name, recipe.of(spec.name), *comparison});
  }
  std::ranges::stable_sort(found, [](const Sensitivity& a, const Sensitivity& b) {
    return a.comparison.overlap < b.comparison.overlap;
  });
  return found;
}

Precision raised(const Precision& precision) {
  Precision better = precision;
  switch (precision.type) {
    case simd::WeightType::Int4:
      better.type = simd::WeightType::Int8;
      break;
    case simd::WeightType::Int8:
      if (better.group > 32) {
        better.group = 32;
      } else {
        better.type = simd::WeightType::Fp16;
      }
      break;
    default:
      better.type = simd::WeightType::Fp32;
      break;
  }
  if (better.type == simd::WeightType::Fp16 || better.type == simd::WeightType::Fp32) {
    better.minima = simd::Minima::None;
  }
  return better;
}

}  // namespace laya::model
