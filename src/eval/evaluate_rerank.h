// How much better an input method's sentences become when they are put in the decoder's order:
// `laya eval rerank`. Reads n-best lists (bench/peers/libime_nbest writes them), scores each list
// as a tree (sentence_scorer.h), and mixes that with the input method's own score and with the
// instant tier's. Weights are learnt on one half of the sentences and reported on the other, both
// ways round, so that every sentence is reported by weights that have not seen it.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eval/evaluate.h"
#include "predict/engine/engine.h"

namespace laya::eval {

struct NbestSentence {
  struct Candidate {
    std::string text;
    double score = 0;  ///< the input method's own, log10; the higher the better
  };
  std::string typed;                  ///< pinyin
  std::string expected;               ///< what was meant
  std::string before;                 ///< text left of the caret; mostly empty
  std::vector<Candidate> candidates;  ///< as given, best first
};

/// Lines `typed<TAB>expected{<TAB>candidate<TAB>score}`; a line `#before<TAB>text` gives the text
/// that the next sentence follows; other lines that begin with # are left out. BadArgument names
/// the line and what is wrong with it. Empty lines are skipped.
Result<std::vector<NbestSentence>> parse_nbest(std::string_view text);

struct RerankOptions {
  std::size_t max_sentences = 0;    ///< 0: all
  std::size_t max_candidates = 50;  ///< of each list
  Progress progress = {};
};

struct RerankResult {
  /// One way to order the lists.
  struct Order {
    std::string name;  ///< "as given", "decoder", …
    double first = 0;  ///< share of sentences whose first candidate is right
    double first_five = 0;
    double characters = 0;  ///< share of the meant characters that the first candidate has in place
    std::array<double, 2> given_weight{};    ///< learnt on the other half: of the given score
    std::array<double, 2> instant_weight{};  ///< of the instant tier's
  };
  std::size_t sentences = 0;
  double holds = 0;  ///< share of sentences whose list holds the right one at all
  std::vector<Order> orders;
  double ms_p50 = 0;  ///< scoring one list with the decoder
  double ms_p99 = 0;
  double candidates = 0;  ///< a sentence, mean
  double columns = 0;     ///< tokens computed a sentence, mean
  double passes = 0;      ///< over the weights a sentence, mean
};

/// Needs an engine with a decoder (BadArgument without); network or table for the instant tier.
Result<RerankResult> evaluate_rerank(const predict::Engine& engine,
                                     const std::vector<NbestSentence>& sentences,
                                     const RerankOptions& options);

/// {"sentences":…,"holds":…,"orders":[{"name":"as given","first":0.62,…},…],"ms_p50":…} on one
/// line.
std::string to_json(const RerankResult& result);

}  // namespace laya::eval
