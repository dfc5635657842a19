// ListBuilder: from the sources' words and characters to the list that is shown — gathered, mixed,
// ordered, cased, joined to what is typed.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "predict/list/han_search.h"
#include "predict/list/list_entry.h"
#include "predict/list/ranker.h"
#include "predict/offers/offer.h"
#include "predict/source/block_list.h"
#include "predict/source/casing.h"
#include "predict/source/decide_options.h"
#include "predict/source/field_names.h"
#include "predict/source/source.h"
#include "predict/source/word_query.h"

namespace laya::predict {

inline constexpr std::size_t kMaxCandidateBytes = 192;
inline constexpr std::size_t kMaxGhostBytes = 256;

/// What every list of an engine is made with.
struct ListParts {
  const PieceIndex* index;
  const model::NgramModel* ngrams;  ///< nullptr without a table
  const Ranker* ranker;             ///< nullptr: candidates stay in the order of their scores
};

/// How a list is made.
struct ListOptions {
  ListTaste taste;
  /// Compute the ranker's features although there is no ranker (to learn one).
  Want features = Want::No;
};

/// One reply and all that its views point into. Large; made once.
struct ReplyBuffers {
  ReplyBuffers() { ranked.reserve(WordPool::kCapacity + HanSearch::kPool + OfferList::kCapacity); }
  ReplyBuffers(const ReplyBuffers&) = delete;
  ReplyBuffers& operator=(const ReplyBuffers&) = delete;

  /// ln of the pool's probability; finite for an empty one too.
  float log_mass() const;
  /// Copies a ghost's text; the view lives as long as the buffers.
  std::string_view keep_ghost(std::string_view text);
  /// Forgets the list, and overwrites what was written of it.
  void wipe();

  Reply reply;
  std::array<Candidate, Reply::kMaxCandidates> candidates;
  std::array<Ranked, Reply::kMaxCandidates> shown;  ///< what candidates[i] was made from
  std::size_t count = 0;                            ///< of both
  WordPool pool;                                    ///< every word that was weighed
  float pool_mass = 0;                              ///< its probability
  std::array<HanWord, HanSearch::kPool> han_words;
  std::size_t han_count = 0;
  OfferList offers;  ///< their texts live until the sources are asked again
  PrefixBytes prefix_bytes;
  std::size_t prefix_length = 0;
  std::vector<Ranked> ranked;
  std::array<std::array<char, 64>, CandidateRanker::kMost> keys;  ///< what the ranker looked at
  std::array<std::array<char, kMaxCandidateBytes>, Reply::kMaxCandidates> texts;
  std::array<char, kMaxGhostBytes> ghost_text;
};

class ListBuilder {
 public:
  /// What `parts` point at must outlive the builder.
  explicit ListBuilder(const ListParts& parts);

  /// The list for `text` into `out` (reply.silence, candidates, shown, count, pool, han_words). A
  /// source that is nullptr or not ready is left out, its share goes to the others.
  void build(const SearchSources& sources, const TypedText& text, std::size_t wanted,
             ReplyBuffers* out);

  /// Every Han character that was weighed since the last forget(): for the text as it was then.
  std::span<const HanWord> weighed_han() const { return han_search_.weighed(); }
  void forget_weighed_han() { han_search_.forget(); }
  /// The likeliest next characters alone, into out->han_words and han_count (at most `wanted`).
  void next_han(const SearchSources& sources, const TypedText& text, std::size_t wanted,
                ReplyBuffers* out);

  ListOptions& options() { return options_; }

  /// What the ranker saw at the last build(), in the order by score: features and, of entry i, what
  /// it says (lower case; at most 64 bytes; of a Chinese word its first character).
  const CandidateRanker& ranker() const { return ranker_; }
  std::span<const Ranked> looked_at() const { return std::span(seen_).first(ranker_.count()); }
  std::span<const std::string_view> looked_at_keys() const {
    return std::span(seen_keys_).first(ranker_.count());
  }

 private:
  void gather(const SearchSources& sources, const TypedText& text, const WordQuery& query,
              ReplyBuffers* out);
  void weigh(const SearchSources& sources, const TypedText& text, const WordQuery& query,
             const Shares& shares, ReplyBuffers* out);
  void order(const SearchSources& sources, const TypedText& text, const WordQuery& query,
             std::size_t han_shown, ReplyBuffers* out);
  enum class Reorder : std::uint8_t { No, Yes };
  void rank(const SearchSources& sources, const TypedText& text, const WordQuery& query,
            Reorder reorder, ReplyBuffers* out);
  std::string_view key_of(const Ranked& entry, std::span<char> buffer) const;
  Silence silence_for(const TypedText& text) const;
  void ask_for_offers(const SearchSources& sources, const TypedText& text, const WordQuery& query,
                      Silence words, ReplyBuffers* out);
  bool write(const Ranked& entry, const TypedText& text, SentenceStart start, ReplyBuffers* out);
  std::string_view display(const PoolWord& word) const;

  /// Whether `candidate` must not stand behind the text before the open word.
  bool blocked(const SearchSources& sources, std::string_view candidate) const {
    return sources.block_list != nullptr && sources.block_list->blocks(before_word_, candidate);
  }
  void drop_blocked_han(const SearchSources& sources, ReplyBuffers* out) const;
  void shorten_blocked_han(const SearchSources& sources, HanWord* word) const;

  ListParts parts_;
  BlockContext before_word_;
  HanSearch han_search_;
  ListOptions options_;
  RankMoment moment_;
  CandidateRanker ranker_;
  std::array<Ranked, CandidateRanker::kMost> seen_;
  std::array<std::string_view, CandidateRanker::kMost> seen_keys_;
};

}  // namespace laya::predict
