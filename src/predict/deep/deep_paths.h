// Text as paths of tokens: how probable it is that the text goes on with given bytes, whatever
// tokens spell them. Sums over the nodes of a DeepTree that were looked into (deep_source.h has the
// formula); what lies below others is not counted.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "predict/deep/deep_tree.h"
#include "text/subword_tokenizer.h"

namespace laya::predict {

struct DeepPaths {
  const text::SubwordTokenizer* tokenizer;
  const DeepIndex* index;
  const DeepTree* tree;

  /// M(x | node): p(what follows begins with x).
  float mass(int node, std::string_view x) const;
  /// Σ p(token | node) over the tokens that begin with x.
  float mass_of_tokens(int node, std::string_view x) const;
  /// How much of mass() hangs on one token that ends where x does and was not looked into.
  float mass_of_unseen_end(int node, std::string_view x) const;

  /// p(`token` follows `node` and the word is over behind it). `prior`: how likely it is over,
  /// where that was not looked into.
  float word_end(int node, TokenId token, float prior) const;
  /// p(letters `x` follow `node`, inside a word, and then it is over), all spellings.
  float rest_of_word(int node, std::string_view x) const;
};

/// A token worth looking into, and why.
struct DeepWish {
  int node;
  TokenId token;
  float weight;      ///< probability that hangs on it
  float shared = 0;  ///< scratch: of the words that share it
};

/// Wishes for the tokens that `rest`, bytes of the text that follow `node`, may hide: those that
/// equal it or a front of it. `weight`: p(node | root) / p(rest). Tokens of less than `least` are
/// left out.
void wish_for_rest(const DeepPaths& paths, int node, std::string_view rest, float weight,
                   float least, std::vector<DeepWish>* wishes);

}  // namespace laya::predict
