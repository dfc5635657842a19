#include "predict/instant/network_source.h"

#include <algorithm>
#include <cmath>

#include "predict/source/decide_options.h"
#include "predict/source/likeliest.h"
#include "predict/source/softmax.h"
#include "text/units.h"

namespace laya::predict {
namespace {

constexpr std::size_t kProposed = 32;
// κ: of the pieces that are a word without its space, the share that is followed by punctuation or
// a line end, not by a suffix.
constexpr float kEndsWithoutSpace = 0.7F;
// How much of the probability of a word's first pieces goes, until looked into, to the pool's words
// that begin so.
constexpr float kShareOfUnseen = 0.5F;
// A piece without its space is looked into if it holds more than this share of its word's
// probability.
constexpr float kWorthALook = 0.2F;
constexpr std::size_t kColumns = 8;  // of one pass; more cost more than they find
constexpr std::size_t kRounds = 2;

// What a written form still counts once query.typed stands there: all, or little where the case
// differs. "M" makes Monday likelier than my; but people also write london.
float case_weight(std::string_view written, const WordQuery& query) {
  return written.starts_with(query.typed) ? 1 : query.other_case;
}

// The mixed probability of the last of the `wanted` best words.
float least_of_best(const WordQuery& query, const WordPool& pool) {
  std::array<float, Reply::kMaxCandidates + 1> best{};  // descending; one more than is looked at
  const std::size_t wanted = std::clamp<std::size_t>(query.wanted, 1, Reply::kMaxCandidates);
  for (const PoolWord& word : pool.words()) {
    const float p = query.network_share * std::exp(word.log_p_network) +
                    (1 - query.network_share) * std::exp(word.log_p_ngram);
    for (std::size_t i = wanted; i > 0 && p > best[i - 1]; --i) {
      best[i] = best[i - 1];
      best[i - 1] = p;
    }
  }
  return best[wanted - 1];
}

std::string_view raise_first(std::string_view key,
                             std::array<char, 2 * text::kMaxUnitBytes>* buffer) {
  std::copy(key.begin(), key.end(), buffer->begin());
  char& first = (*buffer)[0];
  if (first >= 'a' && first <= 'z') {
    first = static_cast<char>(first - 'a' + 'A');
  }
  return {buffer->data(), key.size()};
}

}  // namespace

NetworkSource::NetworkSource(const model::LanguageModel& network, const text::Tokenizer& tokenizer,
                             const PieceIndex& index, const model::NgramModel* ngrams,
                             model::Threads threads)
    : network_(&network),
      tokenizer_(&tokenizer),
      index_(&index),
      ngrams_(ngrams),
      tokens_(tokenizer, 2 * kKeptBytes + 8),
      state_(network.config()),
      history_(network.config(), kContextTokens),
      ahead_(model::kMaxColumns, state_),
      tree_(network, threads),
      token_probs_(network.config().vocabulary_size),
      group_probs_(index.groups().size()),
      spellings_(kSpellings) {
  wanted_.reserve(2 * kKeptBytes + 64);
  fed_.reserve(2 * kKeptBytes + 64);
  scratch_tokens_.ids.reserve(256);
  scratch_tokens_.ends.reserve(256);
  missing_.reserve(2 * WordPool::kCapacity);
}

void NetworkSource::clear() {
  tokens_.assign({});
  wanted_.clear();
  fed_.clear();
  tree_.clear();
  started_ = false;
  stale_ = true;
}

std::optional<NetworkPlace> NetworkSource::place() const {
  if (!started_) {
    return std::nullopt;
  }
  return NetworkPlace{state_, fed_};
}

void NetworkSource::resume(const NetworkPlace& place) {
  started_ = state_.copy_from(place.state).has_value() && history_.reset(state_).has_value();
  fed_.assign(place.read.begin(), place.read.end());
}

void NetworkSource::follow(const TypedText& text, const TypedText::Delta& delta) {
  const std::size_t kept = tokens_.text().size() - delta.erased;
  tokens_.replace(kept, delta.erased, text.before().substr(text.before().size() - delta.inserted));
  if (delta.dropped > 0) {
    const std::span<const std::uint32_t> ends = tokens_.ends();
    const auto gone = static_cast<std::size_t>(
        std::upper_bound(ends.begin(), ends.end(), static_cast<std::uint32_t>(delta.dropped)) -
        ends.begin());
    tokens_.erase(0, delta.dropped);
    fed_.erase(fed_.begin(),
               fed_.begin() + static_cast<std::ptrdiff_t>(std::min(gone, fed_.size())));
  }
  stale_ = true;
}

bool NetworkSource::restart(std::size_t first) {
  state_.reset();
  tree_.count_pass();
  if (!network_->advance(tree_.workspace(), state_, tokenizer_->vocabulary().begin_id()) ||
      !history_.reset(state_)) {
    return false;
  }
  fed_.assign(wanted_.begin(), wanted_.begin() + static_cast<std::ptrdiff_t>(first));
  started_ = true;
  return true;
}

bool NetworkSource::move_to_wanted() {
  std::size_t common = 0;
  const std::size_t limit = std::min(fed_.size(), wanted_.size());
  while (common < limit && fed_[common] == wanted_[common]) {
    ++common;
  }
  const std::size_t back = fed_.size() - common;
  const std::size_t ahead = wanted_.size() - common;
  NodeId node = kRoot;
  if (!started_ || back > history_.available() || ahead > kContextTokens) {
    const std::size_t first = wanted_.size() > kContextTokens ? wanted_.size() - kContextTokens : 0;
    if (!restart(first)) {
      return false;
    }
    node = kNoNode;
  } else if (back > 0) {
    if (!history_.truncate(back, state_)) {
      return false;
    }
    fed_.resize(common);
    node = kNoNode;
  }
  if (!tree_.ready()) {
    node = kNoNode;
  }
  while (fed_.size() < wanted_.size()) {
    const TokenId token = wanted_[fed_.size()];
    // What candidates or ghost have looked into already need not be computed again.
    node = node == kNoNode ? kNoNode : tree_.find(node, token);
    if (node == kNoNode) {
      if (!read_ahead()) {
        return false;
      }
      continue;
    }
    if (!state_.copy_from(tree_.state(node)) || !history_.push(state_)) {
      return false;
    }
    fed_.push_back(token);
  }
  return true;
}

// Reads what is missing, as much as one pass can.
bool NetworkSource::read_ahead() {
  const std::size_t count = std::min(wanted_.size() - fed_.size(), model::kMaxColumns);
  const std::span<const TokenId> tokens = std::span(wanted_).subspan(fed_.size(), count);
  tree_.count_pass();
  if (count == 1) {
    if (!network_->advance(tree_.workspace(), state_, tokens[0]) || !history_.push(state_)) {
      return false;
    }
  } else {
    const std::span<model::State> after = std::span(ahead_).first(count);
    if (!network_->read(tree_.workspace(), state_, tokens, after)) {
      return false;
    }
    for (const model::State& behind : after) {
      if (!history_.push(behind)) {
        return false;
      }
    }
  }
  fed_.insert(fed_.end(), tokens.begin(), tokens.end());
  return true;
}

bool NetworkSource::prepare(const TypedText& text) {
  if (!stale_) {
    return tree_.ready();
  }
  stale_ = false;
  const std::size_t closed = tokens_.closed_tokens();
  wanted_.assign(tokens_.ids().begin(),
                 tokens_.ids().begin() + static_cast<std::ptrdiff_t>(closed));
  const std::string_view open = tokens_.open_prefix();
  const std::size_t word = text.open_word().size();
  if (word < open.size()) {  // punctuation, digits or an opening bracket before the word: read as
                             // they stand
    scratch_tokens_.clear();
    const std::string_view lead = open.substr(0, open.size() - word);
    tokenizer_->encode(lead, scratch_tokens_);
    wanted_.insert(wanted_.end(), scratch_tokens_.ids.begin(), scratch_tokens_.ids.end());
  }
  if (started_ && tree_.ready() && fed_ == wanted_) {
    return true;
  }
  if (!move_to_wanted() || !tree_.set_root(state_)) {
    fed_.clear();
    started_ = false;
    tree_.clear();
    return false;
  }
  compute_group_probs();
  return true;
}

void NetworkSource::compute_group_probs() {
  const std::span<const float> log_probs = tree_.root_log_probs();
  for (std::size_t i = 0; i < log_probs.size(); ++i) {
    token_probs_[i] = exp_below_zero(log_probs[i]);
  }
  const std::span<const WordGroup> groups = index_->groups();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    float sum = 0;
    for (const GroupPiece& piece : index_->pieces(groups[g])) {
      sum += piece.ends_in_space ? token_probs_[piece.token]
                                 : kEndsWithoutSpace * token_probs_[piece.token];
    }
    group_probs_[g] = sum;
  }
}

TokenId NetworkSource::likeliest_piece(std::uint32_t group) const {
  TokenId best = kNoToken;
  float best_probability = -1;
  for (const GroupPiece& piece : index_->pieces(index_->groups()[group])) {
    if (token_probs_[piece.token] > best_probability) {
      best_probability = token_probs_[piece.token];
      best = piece.token;
    }
  }
  return best;
}

std::span<const TokenId> NetworkSource::pieces_of(model::WordId word, std::string_view key,
                                                  std::uint32_t group) {
  if (group != kNoGroup) {
    single_piece_ = kNoToken;
    for (const GroupPiece& piece : index_->pieces(index_->groups()[group])) {
      if (piece.ends_in_space &&
          (single_piece_ == kNoToken || token_probs_[piece.token] > token_probs_[single_piece_])) {
        single_piece_ = piece.token;
      }
    }
    if (single_piece_ != kNoToken) {
      return {&single_piece_, 1};
    }
  }
  if (word == model::kUnknownWord) {
    return {};
  }
  const Spelling& entry = spelling(word, key);
  return {entry.pieces[0].data(), entry.lengths[0]};
}

void NetworkSource::propose(const TypedText& text, const WordQuery& query, WordPool* pool) {
  if (!prepare(text)) {
    return;
  }
  const auto [first, last] = index_->with_prefix(query.prefix);
  Likeliest<kProposed> best;
  const auto value = [&](std::uint32_t g) {
    return query.typed.empty() ? group_probs_[g] : typed_group_prob(g, query);
  };
  // Groups without a space piece are stems ("govern", "ing"), words only if the table knows them.
  const auto is_word = [this](std::uint32_t g) {
    const WordGroup& group = index_->groups()[g];
    if (group.word != model::kUnknownWord) {
      return true;
    }
    for (const GroupPiece& piece : index_->pieces(group)) {
      if (piece.ends_in_space) {
        return true;
      }
    }
    return false;
  };
  for (std::uint32_t g = first; g < last; ++g) {
    const std::pair<float, std::uint32_t> candidate{value(g), g};
    if (best.takes(candidate) && is_word(g)) {
      best.add(candidate);
    }
  }
  for (const auto& [probability, g] : best.items()) {
    const WordGroup& group = index_->groups()[g];
    PoolWord* word = pool->add(index_->key(group), group.word, g);
    if (word != nullptr) {
      word->from_network = true;
    }
  }
}

void NetworkSource::score(const TypedText& text, const WordQuery& query, WordPool* pool) {
  if (!prepare(text)) {
    return;
  }
  for (PoolWord& word : pool->words()) {
    if (word.group != kNoGroup) {
      word.log_p_network = std::log(std::max(group_probs_[word.group], 1e-30F));
    }
  }
  score_spelled(query, pool);
}

void NetworkSource::spell(std::string_view written, std::size_t variant, Spelling* spelling) {
  std::array<char, 4 * text::kMaxUnitBytes> chunk;
  std::copy(written.begin(), written.end(), chunk.begin());
  chunk[written.size()] = ' ';
  scratch_tokens_.clear();
  tokenizer_->encode_chunk(std::string_view(chunk.data(), written.size() + 1), scratch_tokens_, 0);
  const std::size_t length = scratch_tokens_.ids.size();
  if (length > kMaxPieces) {
    spelling->lengths[variant] = 0;
    return;
  }
  spelling->lengths[variant] = static_cast<std::uint8_t>(length);
  std::copy(scratch_tokens_.ids.begin(), scratch_tokens_.ids.end(),
            spelling->pieces[variant].begin());
}

const NetworkSource::Spelling& NetworkSource::spelling(model::WordId word, std::string_view key) {
  Spelling& entry = spellings_[word % kSpellings];
  if (entry.word != word) {
    entry.word = word;
    spell(key, 0, &entry);
    const std::string_view display = ngrams_ != nullptr ? ngrams_->display(word) : key;
    std::array<char, 2 * text::kMaxUnitBytes> raised;
    spell(display != key && !display.empty() ? display : raise_first(key, &raised), 1, &entry);
  }
  return entry;
}

// ln p of the pieces as far as the tree reaches; where it ends, the node to be grown is given, else
// *parent is kNoNode.
float NetworkSource::walk(std::span<const TokenId> pieces, NodeId* parent, TokenId* token) {
  NodeId node = kRoot;
  float log_prob = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool last = i + 1 == pieces.size();
    if (last) {
      float p = std::exp(tree_.log_prob(node, pieces[i]));
      const TokenId open = index_->without_space(pieces[i]);
      if (open != kNoToken) {
        p += kEndsWithoutSpace * std::exp(tree_.log_prob(node, open));
      }
      *parent = kNoNode;
      return log_prob + std::log(std::max(p, 1e-30F));
    }
    log_prob += tree_.log_prob(node, pieces[i]);
    const NodeId child = tree_.find(node, pieces[i]);
    if (child == kNoNode) {
      *parent = node;
      *token = pieces[i];
      return log_prob;
    }
    node = child;
  }
  *parent = kNoNode;
  return kImpossible;
}

NetworkSource::Missing& NetworkSource::missing_at(NodeId parent, TokenId token) {
  const auto found = std::find_if(missing_.begin(), missing_.end(), [&](const Missing& missing) {
    return missing.parent == parent && missing.token == token;
  });
  if (found != missing_.end()) {
    return *found;
  }
  missing_.push_back({parent, token, 0, 0});
  return missing_.back();
}

// p of a word that one piece spells. Where much of it hangs on pieces without the space, what
// follows them is looked into: "don" is mostly the beginning of "don't".
float NetworkSource::group_prob(const WordQuery& query, PoolWord* word) {
  const float guess = group_probs_[word->group];
  float sum = 0;
  float fitting = 0;
  for (const GroupPiece& piece : index_->pieces(index_->groups()[word->group])) {
    float p = token_probs_[piece.token];
    if (!piece.ends_in_space) {
      float share = kEndsWithoutSpace;
      if (p * kEndsWithoutSpace > kWorthALook * guess) {
        const NodeId node = tree_.find(kRoot, piece.token);
        if (node != kNoNode) {
          const float known = tree_.sum_of(node, index_->word_enders());
          share = known < 0 ? share : known;
        } else {
          missing_at(kRoot, piece.token).weight += query.network_share * p;
        }
      }
      p *= share;
    }
    sum += p;
    fitting += p * case_weight(tokenizer_->vocabulary().text(piece.token), query);
  }
  word->log_case_fit = sum > 0 ? std::log(fitting / sum) : 0;
  return fitting;
}

// The same from the first guess, for choosing what to propose.
float NetworkSource::typed_group_prob(std::uint32_t group, const WordQuery& query) const {
  float sum = 0;
  for (const GroupPiece& piece : index_->pieces(index_->groups()[group])) {
    const float p = token_probs_[piece.token] * (piece.ends_in_space ? 1 : kEndsWithoutSpace);
    sum += p * case_weight(tokenizer_->vocabulary().text(piece.token), query);
  }
  return sum;
}

// Whether the pieces' text begins with `typed`, case included.
bool NetworkSource::begins_as(const std::array<TokenId, kMaxPieces>& pieces, std::size_t length,
                              std::string_view typed) const {
  for (std::size_t i = 0; i < length && !typed.empty(); ++i) {
    const std::string_view piece = tokenizer_->vocabulary().text(pieces[i]);
    const std::size_t common = std::min(piece.size(), typed.size());
    if (piece.substr(0, common) != typed.substr(0, common)) {
      return false;
    }
    typed.remove_prefix(common);
  }
  return true;
}

void NetworkSource::score_spelled(const WordQuery& query, WordPool* pool) {
  for (std::size_t round = 0;; ++round) {
    missing_.clear();
    // First how the n-gram table shares out what begins alike, then each word's probability or
    // estimate.
    for (int step = 0; step < 2; ++step) {
      for (PoolWord& word : pool->words()) {
        if (word.group != kNoGroup) {
          if (step == 1) {
            word.log_p_network = std::log(std::max(group_prob(query, &word), 1e-30F));
          }
          continue;
        }
        if (word.word == model::kUnknownWord) {
          continue;
        }
        const Spelling& entry = spelling(word.word, word.key);
        const float ngram = std::exp(word.log_p_ngram);
        float total = 0;
        float fitting = 0;
        for (std::size_t v = 0; v < kVariants; ++v) {
          if (entry.lengths[v] == 0) {
            continue;
          }
          NodeId parent = kNoNode;
          TokenId token = kNoToken;
          float p = std::exp(walk({entry.pieces[v].data(), entry.lengths[v]}, &parent, &token));
          if (parent != kNoNode) {
            Missing& missing = missing_at(parent, token);
            if (step == 0) {
              missing.ngram_mass += ngram;
            } else {
              p *= kShareOfUnseen * (missing.ngram_mass > 0 ? ngram / missing.ngram_mass : 0);
              // What this word could gain or lose in rank by being looked into.
              missing.weight += query.network_share * p + (1 - query.network_share) * ngram;
            }
          }
          total += p;
          fitting +=
              p *
              (begins_as(entry.pieces[v], entry.lengths[v], query.typed) ? 1 : query.other_case);
        }
        if (step == 1) {
          word.log_p_network = std::log(std::max(fitting, 1e-30F));
          word.log_case_fit = total > 0 ? std::log(fitting / total) : 0;
        }
      }
    }
    if (missing_.empty() || round == kRounds) {
      return;
    }
    std::sort(missing_.begin(), missing_.end(), [](const Missing& a, const Missing& b) {
      return a.weight != b.weight
                 ? a.weight > b.weight
                 : (a.parent != b.parent ? a.parent < b.parent : a.token < b.token);
    });
    // Below the least of the list's likely entries a word cannot enter the list whatever the
    // network says: half of it is the margin.
    const float bar = 0.3F * std::max(query.rival, least_of_best(query, *pool));
    std::array<NetworkTree::Growth, kColumns> growths;
    std::size_t count = 0;
    const std::size_t room = std::min(kColumns, tree_.free_nodes());
    for (const Missing& missing : missing_) {
      if (count == room || missing.weight < bar) {
        break;
      }
      growths[count++] = {missing.parent, missing.token};
    }
    if (count == 0 || !tree_.grow(std::span(growths.data(), count))) {
      return;
    }
  }
}

}  // namespace laya::predict
