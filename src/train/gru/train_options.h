// Everything that a training run of the network can be told, as one value that goes into each
// checkpoint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/gru/gru_config.h"

namespace laya::train {

/// How the learning rate falls after the warm-up; progress runs from 0 to 1 over the run (see
/// learning_rate()).
enum class Decay {
  Linear,     ///< straight to zero
  Cosine,     ///< half a cosine to zero
  Trapezoid,  ///< constant until `decay_from`, then straight to zero: a run may be prolonged from
              ///< before that point
};

struct TrainOptions {
  // What. Paths as given; relative ones are relative to the working directory.
  std::filesystem::path mixture;    ///< TOML, see mixture.h
  std::filesystem::path data_root;  ///< what the mixture's paths are relative to
  std::filesystem::path
      vocabulary;  ///< the blob (vocabulary.bin), or a sentencepiece model ending in .model
  std::filesystem::path run_dir;    ///< checkpoints, best model, log.jsonl
  std::filesystem::path cache_dir;  ///< tokenised texts
  std::filesystem::path
      start_from;  ///< a model whose weights a new run begins with; empty: random ones
  model::GruConfig config =
      model::default_gru_config();  ///< vocabulary_size is taken from the vocabulary

  // How long.
  std::uint64_t until_tokens = 45'000'000;  ///< total, those before a resume included
  double minutes =
      0.0;  ///< > 0: the run, counted from now, also ends (and decays) by this wall-clock limit
  std::uint32_t patience =
      0;  ///< stop after so many dev evaluations without a better one; 0: never

  // How. A batch is lanes × steps tokens.
  std::uint32_t lanes = 64;
  std::uint32_t steps = 64;
  std::uint64_t seed = 1;
  float learning_rate = 2e-3F;
  float beta1 = 0.9F;
  float beta2 = 0.98F;
  float weight_decay = 0.01F;
  float max_gradient_norm = 1.0F;
  float dropout = 0.1F;
  std::uint64_t warmup_tokens = 500'000;
  Decay decay = Decay::Linear;
  double decay_from = 0.6;          ///< Trapezoid only: progress at which the fall begins
  std::uint32_t candidates = 2048;  ///< classes drawn for the sampled head
  double full_head_from = 0.85;  ///< progress from which the full head is used; 0: always, 1: never

  // How often.
  std::uint64_t eval_every_tokens = 2'000'000;
  std::uint32_t eval_lines = 150;  ///< at most, per source
  double checkpoint_every_s = 240.0;

  /// BadArgument naming the option, its value and its limits.
  Status validate() const;
};

/// Progress from 0 (start) to 1 (end). `wall` is the part of the wall-clock limit that has passed,
/// 0 without one, and `progress_at_start` what the checkpoint said when this process took over.
double run_progress(const TrainOptions& options, std::uint64_t tokens, double wall,
                    double progress_at_start);

/// Linear warm-up over warmup_tokens, then the decay at `progress`.
float learning_rate(const TrainOptions& options, std::uint64_t tokens, double progress);

/// "linear", "cosine", "trapezoid"; BadArgument lists them.
Result<Decay> parse_decay(std::string_view name);
const char* decay_name(Decay decay);

/// For the checkpoint and the training record; the inverse ignores keys it does not know. Corrupt
/// names the key.
std::string options_to_json(const TrainOptions& options);
Result<TrainOptions> options_from_json(std::string_view json);

}  // namespace laya::train
