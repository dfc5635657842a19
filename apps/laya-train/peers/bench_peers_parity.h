// Do our decoder and llama.cpp write the same greedy text from the same weights, and where they do
// not, who is right? Both round activations to 8 bits, each in its own way. The judge is our
// reference backend: the same weights unpacked to fp32, activations never rounded.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/model_file.h"
#include "laya-train/peers/peer_process.h"
#include "model/decoder/decoder.h"
#include "text/subword_tokenizer.h"

namespace laya::apps {

/// A converted model and what its rows were called.
struct ConvertedModel {
  format::ModelFile file;
  std::unique_ptr<model::Decoder> decoder;
  text::SubwordTokenizer tokenizer;
  bool pruned;
};

Result<ConvertedModel> open_converted(const std::string& path);

/// Runs a decoder a token at a time; the decoder must outlive it. One thread at a time.
class GreedyReader {
 public:
  GreedyReader(const model::Decoder& decoder, model::Threads threads);

  void clear() { cache_.truncate(0); }
  Status read(std::span<const TokenId> tokens);
  std::span<const float> logits() const { return logits_; }  ///< [V] behind what was read
  TokenId best() const;
  float gap(TokenId a, TokenId b) const { return logits_[a] - logits_[b]; }

 private:
  const model::Decoder& decoder_;
  std::unique_ptr<model::Workspace> workspace_;
  model::KvCache cache_;
  std::vector<float> hidden_;
  std::vector<float> logits_;
};

/// A place where the two choose different tokens after the same text. Gaps are between logits; 0: a
/// tie.
struct Difference {
  std::size_t prompt = 0;
  std::size_t position = 0;
  std::string ours, theirs, exact;  ///< what each would say, and what fp32 says
  double our_gap = 0;               ///< our logit of our choice less that of theirs
  double their_gap = 0;             ///< their logit of their choice less that of ours
  double exact_gap = 0;  ///< fp32's logit of our choice less that of theirs; > 0: nearer to ours
};

/// How far a program's gap between fp32's two likeliest tokens is from fp32's, over all places.
struct GapNoise {
  double ours_rms = 0;
  double theirs_rms = 0;
  std::size_t places = 0;
};

struct Parity {
  std::size_t prompts = 0;
  std::size_t equal_prompts = 0;  ///< whole continuations without a difference
  std::size_t positions = 0;
  std::vector<Difference> differences;
  GapNoise noise;

  /// A gap of fp32's below which the two roundings decide, not the weights: three times their
  /// common deviation.
  double tie_bar() const;
  bool is_near_tie(const Difference& difference) const;
};

/// Continues `prompts` of our twenty (at most all) by `tokens` tokens each. `progress` may be
/// empty. Takes about as long as reading them once in fp32: minutes. Errors: Io (the other side
/// failed), Corrupt (another vocabulary), those of loading.
Result<Parity> compare_greedy_text(
    const ConvertedModel& ours, PeerProcess& peer, std::size_t prompts, std::size_t tokens,
    const std::function<void(const std::string& stage, std::size_t done, std::size_t total)>&
        progress);

}  // namespace laya::apps
