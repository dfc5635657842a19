// What the network says of the words that end at the last letter, each behind its own text.
#include <algorithm>
#include <cmath>

#include "predict/pinyin/pinyin_search.h"

namespace laya::predict {
namespace {

// New states that one letter may ask for: four passes of sixteen columns, some 1 ms.
constexpr std::size_t kNewNodes = 64;
// States in all that one letter may ask about.
constexpr std::size_t kNodes = 192;
// Given-up states on the way to a word that are computed beside the new ones; a longer way is read
// again first.
constexpr std::size_t kCatchUp = 32;
// The last candidate named may go beyond both by its way and its own characters.
static_assert(kNewNodes + kCatchUp + pinyin::LexiconBuilder::kMaxSyllables <
              PinyinNetwork::kMaxWanted);
// What one letter asks about is never given up for it.
static_assert(kNodes + kCatchUp + pinyin::LexiconBuilder::kMaxSyllables < PinyinNetwork::kStates);
// What make_room() promises to one letter: every character of every candidate, and the letter
// itself behind each hypothesis.
constexpr std::size_t kNodesOfLetter =
    PinyinSearch::kByNetwork * pinyin::LexiconBuilder::kMaxSyllables + PinyinSearch::kBeam;
static_assert(PinyinEnglish::kMaxPieces <= pinyin::LexiconBuilder::kMaxSyllables);

/// ln of the mean of two probabilities.
float log_of_mean(float log_a, float log_b) {
  return std::log(0.5F * std::exp(log_a) + 0.5F * std::exp(log_b));
}

}  // namespace

Status PinyinSearch::make_room() {
  if (network_->nodes() + kNodesOfLetter <= PinyinNetwork::kMaxNodes) {
    return {};
  }
  // Most of the tree belongs to readings that were given up, or to letters taken back.
  kept_.clear();
  for (const PinyinHypothesis& hypothesis : hypotheses_) {
    kept_.push_back(hypothesis.node);
  }
  network_->keep_only(kept_);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    hypotheses_[i].node = kept_[i];
  }
  if (network_->nodes() + kNodesOfLetter > PinyinNetwork::kMaxNodes) {
    return Error{ErrorCode::TooLarge,
                 "pinyin: the readings of " + std::to_string(letters().size()) +
                     " letters fill the tree of " + std::to_string(PinyinNetwork::kMaxNodes) +
                     " texts; commit some first"};
  }
  return {};
}

// What the network reads for the last word of `candidate`.
std::span<const TokenId> PinyinSearch::tokens_read(const PinyinHypothesis& candidate) {
  if (candidate.english != model::kUnknownWord) {
    for (const PinyinEnglish::Word& word : english_words_) {
      if (word.word == candidate.english && word.start == candidate.begin) {
        return english_.pieces(word);
      }
    }
    return {};
  }
  read_.clear();
  for (const pinyin::CharIndex character :
       model_->lexicon().characters(model_->lexicon().word(candidate.word))) {
    read_.push_back(model_->read_token(character));
  }
  return read_;
}

bool PinyinSearch::is_wanted(PinyinNetwork::Node node) const {
  return std::find(wanted_.begin(), wanted_.end(), node) != wanted_.end();
}

void PinyinSearch::want(PinyinNetwork::Node node) {
  if (!is_wanted(node)) {
    wanted_.push_back(node);
    missing_ += network_->is_computed(node) ? 0 : 1;
  }
}

Status PinyinSearch::judge_by_network(const base::CancelFlag* cancel) {
  // The states asked about: in front of each character of the words, whether new or there already;
  // those there must be named too, or the new ones may take their place.
  wanted_.clear();
  missing_ = 0;
  std::size_t kept = 0;
  for (PinyinHypothesis& candidate : candidates_) {
    PinyinNetwork::Node node = candidate.node;
    if (network_->missing_above(node, kCatchUp + 1) > kCatchUp) {
      // Many letters were taken back, and the states of what they leave were given up since. The
      // likeliest is read again; the others share most of it, or are left out.
      if (kept > 0) {
        break;
      }
      if (auto done = network_->reach(node, cancel); !done) {
        return done;
      }
    }
    for (PinyinNetwork::Node up = node; !network_->is_computed(up); up = network_->parent(up)) {
      want(up);
    }
    want(node);
    const std::span<const TokenId> tokens = tokens_read(candidate);
    for (const TokenId token : tokens.first(tokens.size() - 1)) {
      node = network_->child(node, token);
      want(node);
    }
    if (missing_ > kNewNodes || wanted_.size() > kNodes) {
      break;
    }
    ++kept;
  }
  candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(kept), candidates_.end());
  if (auto done = network_->compute(wanted_, cancel); !done) {
    return done;
  }
  for (PinyinHypothesis& candidate : candidates_) {
    const Result<float> added = candidate.english != model::kUnknownWord
                                    ? log_prob_of_english(&candidate)
                                    : log_prob_of_word(&candidate);
    if (!added) return added.error();
    candidate.characters += *added;
  }
  return {};
}

// By table and network, mixed; the candidate's node moves behind the word.
Result<float> PinyinSearch::log_prob_of_english(PinyinHypothesis* candidate) {
  float by_network = 0;
  for (const TokenId token : tokens_read(*candidate)) {
    const Result<float> log_prob = network_->log_prob(candidate->node, token);
    if (!log_prob) return log_prob.error();
    by_network += *log_prob;
    candidate->node = network_->child(candidate->node, token);
  }
  const float by_table = model_->engine().ngrams()->log_prob(
      hypotheses_[candidate->previous].table_state, candidate->english);
  return log_of_mean(by_table, by_network);
}

Result<float> PinyinSearch::log_prob_of_word(PinyinHypothesis* candidate) {
  const pinyin::Lexicon& lexicon = model_->lexicon();
  const model::NgramModel* table = model_->engine().ngrams();
  model::NgramContext state = hypotheses_[candidate->previous].table_state;
  float sum = 0;
  for (const pinyin::CharIndex character : lexicon.characters(lexicon.word(candidate->word))) {
    const Result<float> log_prob = network_->log_prob(candidate->node, model_->token(character));
    if (!log_prob) return log_prob.error();
    float log_mixed = *log_prob;
    if (table != nullptr) {
      const model::WordId unit = model_->unit(character);
      const float by_table = log_prob_by_table(*table, state, unit);
      table->push(&state, unit);
      log_mixed = log_of_mean(by_table, *log_prob);
    }
    sum += log_mixed;
    candidate->node = network_->child(candidate->node, model_->read_token(character));
  }
  return sum;
}

}  // namespace laya::predict
