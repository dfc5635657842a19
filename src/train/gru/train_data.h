// The texts of a training run, opened and checked: everything that does not change while it runs.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer.h"
#include "train/gru/run_checkpoint.h"
#include "train/gru/train_options.h"
#include "train/text/corpus.h"
#include "train/text/dev_set.h"
#include "train/text/mixture.h"

namespace laya::train {

/// Movable. Vectors are by mixture.sources' order.
struct TrainData {
  Mixture mixture;
  std::vector<Corpus> corpora;
  std::vector<double> shares;         ///< of all tokens; sum to 1
  std::vector<double> unigram;        ///< [V] probability of each piece in the mixture
  double characters_per_token = 1.0;  ///< of the mixture
  DevSet dev;
  std::vector<SourceRecord> records;
};

/// Where progress is told, one line at a time.
using NoteSink = std::function<void(std::string_view)>;

/// Reads the mixture, refuses texts that overlap dev or test (overlap.h), opens or makes the token
/// caches, samples dev lines. Errors: those of mixture, overlap and corpus.
Result<TrainData> open_train_data(const TrainOptions& options, const text::Tokenizer& tokenizer,
                                  const NoteSink& note);

}  // namespace laya::train
