// `laya train gru`: the loop that turns a mixture of texts into a GruLocal model.
//
// Reads texts through corpus/mixture/batcher, computes through gru_model, keeps itself on disk
// through checkpoint. Prints nothing: what a person may want to see goes to an observer, what a
// program may want to read to run_dir/log.jsonl. Neither ever holds text.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/vocabulary.h"
#include "train/gru/gru_model.h"
#include "train/gru/train_options.h"
#include "train/text/dev_set.h"

namespace laya::train {

/// After each update.
struct TrainTick {
  std::uint64_t step = 0;
  std::uint64_t tokens = 0;
  std::uint64_t until_tokens = 0;
  double progress = 0.0;  ///< 0…1
  double loss = 0.0;      ///< nats a token, smoothed
  double bits_per_character =
      0.0;  ///< the same over the mixture's characters a token: comparable with dev
  double gradient_norm = 0.0;
  float learning_rate = 0.0F;
  double tokens_per_s = 0.0;  ///< over the last half minute
  double seconds_left = 0.0;
  HeadKind head = HeadKind::Full;
};

/// Called from the training thread, in order; must not throw.
class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  virtual void note(std::string_view line) = 0;  ///< what is being done, in one line
  virtual void tick(const TrainTick& tick) = 0;
  virtual void evaluated(const TrainTick& tick, const DevReport& report, bool best) = 0;
  virtual void saved(const std::filesystem::path& path) = 0;
};

/// Whether to begin or to go on.
enum class Start {
  Fresh,   ///< BadArgument if run_dir already holds a checkpoint: an hour's work is not overwritten
           ///< by a forgotten flag
  Resume,  ///< from the newest whole checkpoint of run_dir
};

struct TrainSummary {
  std::uint64_t tokens = 0;
  std::uint64_t steps = 0;
  double seconds = 0.0;
  double best_dev = 0.0;  ///< mean bits per character; 0 without dev texts
  std::filesystem::path last_checkpoint;
  std::filesystem::path best_model;
};

/// Runs until the budget, the time limit, patience or `stop` (checked once a step; a checkpoint is
/// written then too). The best model so far on dev is run_dir/best.laya, the last one
/// run_dir/final.laya. Resuming with the same mixture, texts, lanes and options repeats bit for bit
/// what an uninterrupted run computes (not with `minutes`, which depends on the clock);
/// until_tokens, learning rate and the like may be changed on resume. Errors: Unsupported (built
/// without MLX); those of mixture, corpus, overlap, checkpoint; Io on a full disk, saying which
/// checkpoint is left; Internal when the loss stops being a number.
Result<TrainSummary> train_gru(const TrainOptions& options, Start start, TrainObserver& observer,
                               const std::atomic<bool>& stop);

/// Reads a vocabulary: a sentencepiece model when the name ends in .model, else the blob.
Result<text::Vocabulary> load_vocabulary(const std::filesystem::path& path);

}  // namespace laya::train
