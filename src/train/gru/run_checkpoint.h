// A training run on disk: everything it needs to go on exactly as if it had never stopped, in one
// `.laya` file.
//
// The weights stand under their usual names, so that a checkpoint can be loaded as a model;
// moments, carried states and the position are extra entries. Written to a temporary file and
// renamed; the last two are kept. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "train/gru/gru_carry.h"
#include "train/gru/gru_parameters.h"
#include "train/gru/train_options.h"
#include "train/text/batcher.h"

namespace laya::train {

/// One dev evaluation: mean bits per character after so many tokens.
struct DevPoint {
  std::uint64_t tokens = 0;
  double bits_per_character = 0.0;
};

/// What changes from step to step, besides parameters and carry.
struct TrainProgress {
  std::uint64_t tokens = 0;  ///< seen so far
  std::uint64_t step = 0;    ///< updates made
  double progress = 0.0;     ///< 0…1, see run_progress()
  double seconds = 0.0;      ///< of training, over all processes
  double best_dev = 0.0;     ///< lowest mean dev bits per character; 0: none yet
  std::uint32_t evals_since_best = 0;
  std::uint64_t next_eval = 0;  ///< tokens at which dev is evaluated next
  std::vector<DevPoint> curve;  ///< all dev evaluations so far
};

/// What a text was when the run started; a resumed run refuses another.
struct SourceRecord {
  std::string name;
  std::uint64_t checksum = 0;  ///< Corpus::checksum
};

struct RunCheckpoint {
  TrainOptions options;
  TrainProgress progress;
  BatchPosition position;
  std::vector<SourceRecord> sources;
  GruCarry carry;
  GruParameters parameters;
};

/// What the model file says about itself; the same for checkpoints and exports.
struct ModelRecord {
  std::span<const std::byte> vocabulary;  ///< text::Vocabulary::serialize()
  std::string licence;
  std::string training_json;  ///< an object: sources, tokens seen, dev curve, …
};

/// Writes `checkpoint` as run_dir/checkpoint-<tokens, 12 digits>.laya and removes all but the last
/// two. Returns its path. Error Io (disk full): the older checkpoints are untouched.
Result<std::filesystem::path> save_checkpoint(const RunCheckpoint& checkpoint,
                                              const ModelRecord& record);

/// The checkpoints of `run_dir`, newest first.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& run_dir);

/// Reads one, all checksums verified. Corrupt, Version or Io name the file and the field.
Result<RunCheckpoint> load_checkpoint(const std::filesystem::path& file);

/// The newest checkpoint of `run_dir` that is whole; a damaged one is passed over. Io: there is
/// none.
Result<RunCheckpoint> load_newest_checkpoint(const std::filesystem::path& run_dir);

/// Writes only what a model needs: fp32 weights, config, vocabulary, licence, training record.
Status export_model(const GruParameters& parameters, const ModelRecord& record,
                    const std::filesystem::path& file);

/// The same from a checkpoint file (its weights, record and vocabulary), without the moments.
Status export_checkpoint(const std::filesystem::path& checkpoint,
                         const std::filesystem::path& file);

}  // namespace laya::train
