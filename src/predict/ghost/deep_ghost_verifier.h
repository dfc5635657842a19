// Greedy decoding, several tokens a pass: somebody guesses what the decoder will say (drafts), one
// pass over the weights checks up to 16 guesses at once, and whatever the decoder would have said
// anyway stays. The text is that of plain greedy decoding, token for token, whatever the guesses
// are; they only decide how many passes it takes. (Leviathan et al. 2023 with a tree of drafts, as
// in Miao et al. 2024, for greedy decoding.)
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/cancel_flag.h"
#include "base/result.h"
#include "base/token_id.h"
#include "model/decoder/decoder.h"
#include "predict/source/token_trie.h"

namespace laya::predict {

/// The decoder's distribution behind some tokens: probabilities, or scores and what they sum to.
class TokenRow {
 public:
  static TokenRow of_logits(std::span<const float> logits, float log_z) {
    return TokenRow(logits, log_z, false);
  }
  static TokenRow of_probs(std::span<const float> probs) { return TokenRow(probs, 0, true); }

  std::size_t size() const { return values_.size(); }
  float log_prob(TokenId token) const;
  /// Σ p over `tokens`.
  float mass(std::span<const TokenId> tokens) const;
  /// The likeliest, the smaller id of equals.
  TokenId best() const;

 private:
  TokenRow(std::span<const float> values, float log_z, bool probs)
      : values_(values), log_z_(log_z), probs_(probs) {}
  std::span<const float> values_;
  float log_z_;
  bool probs_;
};

/// Nodes of the cache's tree that somebody else has computed already.
class KnownNodes {
 public:
  virtual ~KnownNodes() = default;
  struct Known {
    model::KvNodeId node = model::kRoot;
    std::span<const float> probs = {};  ///< [V] behind it; empty: not known
  };
  virtual Known find(model::KvNodeId parent, TokenId token) const = 0;
};

/// What the verifier asks while it works. All calls come from run(), on its thread.
class GhostGuide {
 public:
  virtual ~GhostGuide() = default;

  /// Guesses: adds to `drafts` (empty) paths of tokens that may follow `tokens` (all tokens so far
  /// behind the main sequence, the last not read yet), at most `columns` nodes. More are cut.
  virtual void draft(std::span<const TokenId> tokens, std::size_t columns, TokenTrie& drafts) = 0;

  /// The distribution behind `tokens` is known. Called once for each position, in order; not for
  /// the main sequence's own end.
  virtual void read(std::span<const TokenId> tokens, const TokenRow& row) = 0;

  /// What the decoder would say behind `path`, the last tokens (at most kPath) of the phrase or of
  /// a guess: told for every column of a pass, also where the guess was wrong. For guessing better.
  virtual void learn(std::span<const TokenId> path, TokenId next) = 0;
  static constexpr std::size_t kPath = 3;

  /// The decoder's next token behind `tokens`, and its ln p. False: it ends the phrase and is not
  /// part of it.
  virtual bool accept(std::span<const TokenId> tokens, TokenId next, float log_prob) = 0;
};

/// Scratch for one decoder; one thread at a time. Holds 16 rows of logits.
class DraftVerifier {
 public:
  explicit DraftVerifier(const model::Decoder& decoder);

  struct Request {
    std::span<const float> root_probs;  ///< [V] p(token | main sequence); any monotone scale of it
                                        ///< if `given` is empty or its first log_prob is not needed
    std::span<const TokenId> given = {};  ///< what the phrase begins with, whatever is likely
    std::size_t max_tokens = 8;           ///< given ones not counted; then it ends
    const KnownNodes* known = nullptr;    ///< saves passes
    const base::CancelFlag* cancel = nullptr;
  };

  /// Reads `given`, then goes on greedily (largest, ties by the smaller id). Nodes are added to
  /// `cache`'s tree and left there; those of tokens() can be committed. Errors of Decoder::grow;
  /// what was found so far stays.
  Status run(model::Workspace& workspace, model::KvCache& cache, GhostGuide& guide,
             const Request& request);

  /// The phrase: given tokens, then the decoder's.
  std::span<const TokenId> tokens() const { return tokens_; }
  /// ln p(token | what is before it), for each of tokens().
  std::span<const float> log_probs() const { return log_probs_; }
  /// Tokens of the front that stand in the cache's tree, and the last one's node (kRoot: none).
  std::size_t tokens_read() const { return read_; }
  model::KvNodeId last_node() const { return node_; }
  /// Passes over the weights that the last run() took; columns in them; drafted columns, and those
  /// of them that the decoder agreed with.
  std::size_t passes() const { return passes_; }
  std::size_t columns() const { return columns_; }
  std::size_t drafted() const { return drafted_; }
  std::size_t agreed() const { return agreed_; }

 private:
  bool take(GhostGuide& guide, TokenId token, float log_prob);
  void teach(GhostGuide& guide, std::size_t unread, std::size_t count);
  bool use_known(GhostGuide& guide, const Request& request, std::size_t most);

  const model::Decoder* decoder_;
  std::vector<float> hidden_;  // [16, d]
  std::vector<float> logits_;  // [16, V]
  std::array<TokenId, model::kMaxColumns> best_;
  TokenTrie drafts_;
  std::vector<TokenId> tokens_;
  std::vector<float> log_probs_;
  std::size_t read_ = 0;
  model::KvNodeId node_ = model::kRoot;
  std::size_t passes_ = 0;
  std::size_t columns_ = 0;
  std::size_t drafted_ = 0;
  std::size_t agreed_ = 0;
};

/// Index of the largest, the first of equals; 0 for an empty span.
std::size_t largest(std::span<const float> values);

}  // namespace laya::predict
