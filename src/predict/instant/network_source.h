// The network as a source. It follows the text token by token, and knows every word that one piece
// spells from a single pass; words spelled by several pieces are looked into a few at a time,
// likeliest first.
//
// A word's probability: p("w ") + κ p("w"), all case variants summed; "w" without the space means
// that punctuation, a line end or a suffix follows, and κ is the share in which it is not a suffix.
// Words of several pieces: the product along the tokeniser's own cut, which is the only cut the
// network was taught.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/gru/language_model.h"
#include "predict/instant/network_tree.h"
#include "predict/source/source.h"
#include "text/incremental.h"
#include "text/tokenizer.h"

namespace laya::predict {

/// Where the network stands in a text: enough to go on there, though not to go back.
struct NetworkPlace {
  model::State state;
  std::vector<TokenId> read;  ///< tokens that `state` has read, as far as they are remembered

  std::size_t size_bytes() const {
    return sizeof(NetworkPlace) + state.numbers().size_bytes() + read.size() * sizeof(TokenId);
  }
  void wipe() {
    state.reset();
    std::fill(read.begin(), read.end(), TokenId{0});
  }
};

class NetworkSource : public Source {
 public:
  /// All must outlive the source. `ngrams` may be nullptr (it gives written forms of words).
  NetworkSource(const model::LanguageModel& network, const text::Tokenizer& tokenizer,
                const PieceIndex& index, const model::NgramModel* ngrams, model::Threads threads);

  void follow(const TypedText& text, const TypedText::Delta& delta) override;
  void clear() override;
  void propose(const TypedText& text, const WordQuery& query, WordPool* pool) override;
  void score(const TypedText& text, const WordQuery& query, WordPool* pool) override;

  /// Where the states are; nothing before the first prepare().
  std::optional<NetworkPlace> place() const;
  /// Goes on at `place`, which an earlier text of the same network has left. After clear().
  void resume(const NetworkPlace& place);

  /// Brings states up to the open word: truncates, advances, computes the next piece's
  /// distribution. False if the network could not (damaged weights); the source is then silent.
  bool prepare(const TypedText& text);

  /// After prepare(): where words and phrases are looked up.
  NetworkTree& tree() { return tree_; }
  /// After prepare(): p(group | text) and ln p(token | text).
  std::span<const float> group_probs() const { return group_probs_; }
  /// The most probable written form of a group's word here ("Monday", "the"), as a piece.
  TokenId likeliest_piece(std::uint32_t group) const;

  /// The pieces of "word " as usually written lower case, if they are few; empty otherwise. Lives
  /// until the next call.
  std::span<const TokenId> pieces_of(model::WordId word, std::string_view key, std::uint32_t group);

  std::uint64_t passes() const { return tree_.passes(); }

 private:
  static constexpr std::size_t kMaxPieces = 8;  // of one word; longer words are not looked into
  static constexpr std::size_t kVariants = 2;   // lower case; as usually written, or with a capital
  static constexpr std::size_t kSpellings = 1024;

  struct Spelling {
    model::WordId word = model::kUnknownWord;
    std::array<std::uint8_t, kVariants> lengths{};
    std::array<std::array<TokenId, kMaxPieces>, kVariants> pieces{};
  };
  struct Missing {
    NodeId parent;
    TokenId token;
    float weight;  ///< probability that hangs on it
    float ngram_mass;
  };

  bool move_to_wanted();
  bool restart(std::size_t first);
  bool read_ahead();
  void compute_group_probs();
  const Spelling& spelling(model::WordId word, std::string_view key);
  void spell(std::string_view written, std::size_t variant, Spelling* spelling);
  bool begins_as(const std::array<TokenId, kMaxPieces>& pieces, std::size_t length,
                 std::string_view typed) const;
  float walk(std::span<const TokenId> pieces, NodeId* parent, TokenId* token);
  Missing& missing_at(NodeId parent, TokenId token);
  float group_prob(const WordQuery& query, PoolWord* word);
  float typed_group_prob(std::uint32_t group, const WordQuery& query) const;
  void score_spelled(const WordQuery& query, WordPool* pool);

  const model::LanguageModel* network_;
  const text::Tokenizer* tokenizer_;
  const PieceIndex* index_;
  const model::NgramModel* ngrams_;
  text::IncrementalTokenizer tokens_;
  std::vector<TokenId> wanted_;  // tokens before the open word
  std::vector<TokenId> fed_;     // tokens the state has read, as far as they are remembered
  model::State state_;
  model::StateHistory history_;
  std::vector<model::State> ahead_;  // scratch of read_ahead()
  NetworkTree tree_;
  std::vector<float> token_probs_;  // [V] p(token | text)
  std::vector<float> group_probs_;  // [groups]
  std::vector<Spelling> spellings_;
  text::Tokens scratch_tokens_;
  std::vector<Missing> missing_;
  TokenId single_piece_ = kNoToken;
  bool stale_ = true;
  bool started_ = false;
};

}  // namespace laya::predict
