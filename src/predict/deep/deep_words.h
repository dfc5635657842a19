// DeepWords: words and their probabilities from a DeepTree, and which tokens are worth looking into
// to know them better.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "predict/deep/deep_model.h"
#include "predict/deep/deep_paths.h"
#include "predict/source/source.h"

namespace laya::predict {

struct DeepOptions;

class DeepWords {
 public:
  DeepWords(const DeepModel& model, const PieceIndex& pieces, const model::NgramModel* ngrams,
            const DeepTree& tree, const DeepOptions& options);

  /// Call when the text, the tree's root or its nodes have changed; `lead`: what of the open tail
  /// lies before the word.
  void set_lead(std::string_view lead);
  /// p(text goes on as `lead`); everything below is divided by it.
  float lead_mass() const { return lead_mass_; }

  void propose(const WordQuery& query, WordPool* pool);
  void score(const WordQuery& query, WordPool* pool);
  /// Adds wishes for this query's words; `pool` holds them, scored. Weights are shares of the mass
  /// that the list is about: 1 is all of it.
  void wish(const WordQuery& query, WordPool* pool, std::vector<DeepWish>* wishes);

 private:
  static constexpr std::size_t kMaxPieces = 8;
  static constexpr std::size_t kVariants = 3;
  static constexpr std::size_t kSpellings = 1024;
  static constexpr std::size_t kKeyBytes = 2048;

  // Where words may begin: behind `node`, a space before the first letter or not.
  struct Origin {
    int node;
    DeepLead lead;
    float weight;
  };
  struct Spelling {
    model::WordId word = model::kUnknownWord;
    DeepLead lead = DeepLead::None;
    std::array<std::uint8_t, 2> lengths{};
    std::array<std::array<TokenId, kMaxPieces>, 2> pieces{};
  };
  using Bytes = std::array<char, 160>;
  // The forms in which a word may be written: lower case, as usual or with a capital, as typed.
  struct Forms {
    std::array<Bytes, kVariants> bytes;
    std::array<std::size_t, kVariants> lengths{};
    std::size_t count = 0;
    std::string_view at(std::size_t i) const { return {bytes[i].data(), lengths[i]}; }
  };

  std::string_view form_of(const DeepEntry& entry) const;
  void find_origins(int node, std::string_view rest, float weight);
  void write_forms(const PoolWord& word, const WordQuery& query, Forms* forms) const;
  float single_tokens(std::uint32_t group, const WordQuery& query) const;
  float several_tokens(int node, std::string_view rest, std::string_view form) const;
  std::size_t spell(const Origin& origin, const PoolWord& word, const Forms& forms,
                    std::size_t variant, std::span<TokenId, kMaxPieces> pieces);
  class WishList;
  void wish_for_end(const PoolWord& word, const WordQuery& query, WishList* list) const;
  void wish_for_stems(const Origin& origin, const WordQuery& query, WishList* list) const;
  void wish_for_short_stems(const Origin& origin, const WordQuery& query, WishList* list) const;
  void wish_for_next_tokens(const WordQuery& query, WishList* list) const;
  const Origin* origin_of(int node, float* reach) const;
  std::string_view spelt_by(int node, int origin, Bytes* buffer) const;
  DeepWish* unseen(const Origin& origin, std::span<const TokenId> pieces, float* reach);
  void propose_composed(const WordQuery& query, float least, WordPool* pool);
  void propose_behind(int node, std::string_view spelt, float reach, const WordQuery& query,
                      float least, WordPool* pool);
  void offer(std::string_view spelt, TokenId token, float p, const WordQuery& query, float least,
             WordPool* pool);

  const DeepModel* model_;
  const text::SubwordTokenizer* tokenizer_;
  const DeepIndex* index_;
  const PieceIndex* pieces_;
  const model::NgramModel* ngrams_;
  const DeepOptions* options_;
  DeepPaths paths_;
  std::string lead_;
  float lead_mass_ = 1;
  std::uint64_t version_ = 0;  // of the tree that the lead was looked up in
  std::vector<Origin> origins_;
  std::vector<float> values_;  // [groups] scratch
  std::vector<Spelling> spellings_;
  std::vector<DeepWish> unseen_;
  std::vector<TokenId> scratch_ids_;
  text::SubwordScratch scratch_;
  std::array<char, kKeyBytes> keys_;  // of words that nobody else knows; until the next propose()
  std::size_t keys_used_ = 0;
};

}  // namespace laya::predict
