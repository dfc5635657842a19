// DraftTree: which guesses go into a pass. Two know what may follow: what the decoder said before
// at such a place (said_before.h) and the instant tier's drafts. The likeliest paths by both are
// taken, best first, so that few columns meet most of what the decoder will say.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "predict/ghost/said_before.h"
#include "predict/source/token_trie.h"

namespace laya::predict {

class DraftTree {
 public:
  DraftTree();

  void clear();

  /// The instant tier's: `tokens` are next with probability `prob`. Of paths with a beginning in
  /// common, the likeliest gives its probability.
  void offer(std::span<const TokenId> tokens, float prob);

  /// Adds at most `columns` nodes to `drafts`, behind `tokens`.
  void choose(const SaidBefore& said, std::span<const TokenId> tokens, std::size_t columns,
              TokenTrie& drafts);

 private:
  struct Candidate {
    float prob;           // of the path to it, itself included
    std::int32_t parent;  // in the trie of drafts
    std::int32_t offer;   // in offers_, or TokenTrie::kNone
    TokenId token;
  };
  void expand(const SaidBefore& said, std::span<const TokenId> tokens, const TokenTrie& drafts,
              std::int32_t at, std::int32_t offer, float prob);

  TokenTrie offers_;
  std::vector<float> offer_probs_;  // for each node of offers_
  std::vector<Candidate> candidates_;
};

}  // namespace laya::predict
