#include "predict/ghost/ghost_search.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "predict/list/ghost_rules.h"
#include "predict/source/casing.h"
#include "text/grapheme.h"
#include "text/script.h"
#include "text/units.h"

namespace laya::predict {
namespace {

constexpr float kLeastLog = GhostRules::kLeastLog;
constexpr std::size_t kPerHypothesis = 6;
constexpr float kFollowedByWord =
    0.7F;  // of the words the table predicts, the share that a space and another word follow

}  // namespace

GhostSearch::GhostSearch(std::size_t vocabulary_size) : rows_(kBeam * vocabulary_size) {
  steps_.reserve(kBeam * 4 * kPerHypothesis);
}

void GhostSearch::consider(const Hypothesis& hypothesis) {
  const std::string_view text(hypothesis.text.data(), hypothesis.length);
  if (hypothesis.in_word || hypothesis.log_prob < kLeastLog || !has_letters(text)) {
    return;
  }
  const float benefit = ghost_benefit(text, hypothesis.log_prob, GhostRules::kGlance);
  if (benefit > best_benefit_) {
    best_benefit_ = benefit;
    best_log_prob_ = hypothesis.log_prob;
    best_length_ = hypothesis.length;
    std::copy_n(hypothesis.text.begin(), hypothesis.length, best_text_.begin());
  }
}

void GhostSearch::propose(const SearchSources& sources, const text::Vocabulary* vocabulary,
                          std::size_t parent, std::span<const float> log_probs) {
  const Hypothesis& from = beam_[parent];
  const model::NgramModel* ngrams = sources.ngrams == nullptr ? nullptr : &sources.ngrams->model();
  const std::size_t bucket = Mixing::context_bucket(from.units);
  const float word_share = ngrams == nullptr ? 1 : sources.mixing->word_network[bucket][0];
  const float han_share = ngrams == nullptr ? 1 : sources.mixing->han_network[bucket];

  if (log_probs.empty()) {  // no network: the table's words
    std::array<model::Scored, kPerHypothesis> best;
    const std::size_t count = ngrams->top_any(from.context, best);
    for (std::size_t i = 0; i < count; ++i) {
      const model::WordId word = best[i].word;
      if (ngrams->is_word(word) || ngrams->is_han(word)) {
        steps_.push_back({parent, kNoToken, word, from.log_prob + best[i].log_prob, 0,
                          ngrams->is_han(word) ? PieceRole::Han : PieceRole::WordEnd});
      }
    }
    return;
  }

  // The network's likeliest pieces; every one it would rather stop at is left out.
  std::array<std::pair<float, TokenId>, kPerHypothesis> best;
  std::size_t count = 0;
  float bar =
      kLeastLog - 2.5F - (from.log_prob);  // lower can't come back even if the table is sure
  for (TokenId token = 0; token < log_probs.size(); ++token) {
    if (log_probs[token] <= bar || sources.index->role(token) == PieceRole::Stop) {
      continue;
    }
    if (count == kPerHypothesis) {
      std::pop_heap(best.begin(), best.end(), std::greater<>());
      --count;
    }
    best[count++] = {log_probs[token], token};
    std::push_heap(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(count),
                   std::greater<>());
    if (count == kPerHypothesis) {
      bar = best.front().first;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const TokenId token = best[i].second;
    const PieceRole role = sources.index->role(token);
    Step step{parent, token, model::kUnknownWord, 0, 0, role};
    switch (role) {
      case PieceRole::WordEnd: {
        const std::uint32_t group = sources.index->group_of_token(token);
        const float network = best[i].first + (from.in_word ? from.network_word : 0);
        const float before = from.in_word ? from.before_word : from.log_prob;
        float mixed = network;
        if (ngrams != nullptr) {
          if (from.in_word) {
            std::array<char, 2 * text::kMaxUnitBytes> lower;
            std::array<char, text::kMaxUnitBytes> whole;
            const std::size_t head = from.length - from.word_begin;
            const std::string_view tail = vocabulary->text(token);
            if (head + tail.size() <= whole.size()) {
              std::copy_n(from.text.begin() + static_cast<std::ptrdiff_t>(from.word_begin), head,
                          whole.begin());
              std::copy(tail.begin(), tail.end() - 1,
                        whole.begin() + static_cast<std::ptrdiff_t>(head));
              const std::size_t length = text::copy_lower({whole.data(), head + tail.size() - 1},
                                                          lower.data(), lower.size());
              step.word = ngrams->find({lower.data(), length});
            }
          } else {
            step.word = sources.index->groups()[group].word;
          }
          // The table gives the word, not the space behind it.
          const float table = ngrams->log_prob(from.context, step.word) + std::log(kFollowedByWord);
          mixed = step.word == model::kUnknownWord
                      ? network + std::log(word_share)
                      : mix(MixingKind::Linear, word_share, network, table);
        }
        step.log_prob = before + mixed;
        break;
      }
      case PieceRole::Han: {
        if (from.in_word) {
          continue;
        }
        const HanPiece& han = sources.index->han()[sources.index->han_of_token(token)];
        step.word = han.word;
        const float table = ngrams == nullptr || han.word == model::kUnknownWord
                                ? kImpossible
                                : ngrams->log_prob(from.context, han.word);
        step.log_prob = from.log_prob + mix(MixingKind::Linear, han_share, best[i].first, table);
        break;
      }
      case PieceRole::Mark: {
        if (from.length == 0 && !from.in_word) {
          continue;
        }
        if (from.in_word) {  // the word ended without a space
          step.log_prob = from.before_word + from.network_word + best[i].first;
        } else {
          step.log_prob = from.log_prob + best[i].first;
        }
        break;
      }
      case PieceRole::WordPart:
      case PieceRole::Apostrophe: {
        if (role == PieceRole::Apostrophe && !from.in_word) {
          continue;
        }
        const float before = from.in_word ? from.before_word : from.log_prob;
        step.network_word = best[i].first + (from.in_word ? from.network_word : 0);
        step.log_prob = before + step.network_word;
        break;
      }
      case PieceRole::Stop:
        continue;
    }
    steps_.push_back(step);
  }
}

// The hypothesis that a step leads to; false where it must not go on (too long, would repeat what
// stands right of the caret).
bool GhostSearch::follow(const SearchSources& sources, const text::Vocabulary* vocabulary,
                         const Step& step, const GhostLimits& limits, Hypothesis* out) const {
  const Hypothesis& from = beam_[step.parent];
  *out = from;
  std::string_view bytes;
  bool space = false;
  if (step.token != kNoToken) {
    bytes = vocabulary->text(step.token);
    space = !bytes.empty() && bytes.back() == ' ';
    bytes = space ? bytes.substr(0, bytes.size() - 1) : bytes;
  } else {
    bytes = sources.ngrams->model().display(step.word);
    space = step.role == PieceRole::WordEnd;
  }
  const bool begins_word =
      !from.in_word && (step.role == PieceRole::WordEnd || step.role == PieceRole::WordPart);
  if (bytes.size() + 1 > kMaxBytes - from.length ||
      (step.role == PieceRole::Mark && from.owes_space)) {
    return false;
  }
  if (from.owes_space && (begins_word || step.role == PieceRole::Han)) {
    out->text[out->length++] = ' ';
  }
  if (begins_word || step.role == PieceRole::Han) {
    out->word_begin = out->length;
    out->before_word = from.log_prob;
  }
  std::copy(bytes.begin(), bytes.end(),
            out->text.begin() + static_cast<std::ptrdiff_t>(out->length));
  out->length += bytes.size();
  out->owes_space = space;
  out->log_prob = step.log_prob;
  out->in_word = step.role == PieceRole::WordPart || step.role == PieceRole::Apostrophe;
  out->network_word = step.network_word;
  if (!out->in_word) {
    const std::string_view word(out->text.data() + out->word_begin, out->length - out->word_begin);
    if (step.role != PieceRole::Mark && !limits.next_word_after.empty() &&
        same_word(word, limits.next_word_after)) {
      return false;
    }
    if (sources.block_list != nullptr &&
        sources.block_list->blocks(before_, {out->text.data(), out->length})) {
      return false;
    }
    if (sources.ngrams != nullptr) {
      if (step.role == PieceRole::Mark) {
        if (from.in_word) {
          const std::string_view ended(from.text.data() + from.word_begin,
                                       from.length - from.word_begin);
          sources.ngrams->model().push(&out->context,
                                       sources.ngrams->id_of(ended, text::UnitKind::Word));
        }
        sources.ngrams->model().push(&out->context,
                                     sources.ngrams->id_of(bytes, text::UnitKind::Symbol));
      } else {
        sources.ngrams->model().push(&out->context, step.word);
      }
    }
    ++out->units;
  }
  return true;
}

bool GhostSearch::search(const SearchSources& sources, const text::Vocabulary* vocabulary,
                         const TypedText& text, std::span<const GhostStart> starts,
                         const GhostLimits& limits) {
  best_benefit_ = 0;
  best_length_ = 0;
  beam_size_ = 0;
  if (sources.block_list != nullptr) {
    before_ = sources.block_list->after(text.before());
  }
  const bool network = sources.network != nullptr && sources.network->prepare(text);
  if (!network && sources.ngrams == nullptr) {
    return false;
  }
  NetworkTree* tree = network ? &sources.network->tree() : nullptr;
  const NodeId keep = network ? tree->first_new() : 0;
  const std::size_t vocabulary_size = network ? tree->network().config().vocabulary_size : 0;

  // The starting words, each followed to its last piece.
  for (const GhostStart& start : starts.first(std::min(starts.size(), kBeam))) {
    if (start.log_prob < kLeastLog || start.insert.size() >= kMaxBytes) {
      continue;
    }
    Hypothesis& hypothesis = beam_[beam_size_];
    hypothesis = {};
    hypothesis.log_prob = start.log_prob;
    hypothesis.context =
        sources.ngrams != nullptr ? sources.ngrams->context(text) : model::NgramContext{};
    hypothesis.units = sources.ngrams != nullptr ? sources.ngrams->units_in_line(text) : 4;
    std::copy(start.insert.begin(), start.insert.end(), hypothesis.text.begin());
    hypothesis.length = start.insert.size();
    if (start.kind == GhostStart::Kind::Word) {
      if (sources.ngrams != nullptr) {
        sources.ngrams->model().push(&hypothesis.context, start.word);
      }
      ++hypothesis.units;
      hypothesis.owes_space = true;
      consider(hypothesis);
    }
    bool alive = true;
    if (network) {
      for (const TokenId token : start.pieces) {
        NodeId child = tree->find(hypothesis.node, token);
        if (child == kNoNode) {
          const NetworkTree::Growth growth{hypothesis.node, token};
          child = tree->first_new();
          alive = tree->free_nodes() > 0 && tree->grow(std::span(&growth, 1)).has_value();
          if (!alive) {
            break;
          }
        }
        hypothesis.node = child;
      }
      alive = alive && (start.kind == GhostStart::Kind::Free || !start.pieces.empty());
    }
    beam_size_ += alive ? 1 : 0;
  }

  for (std::size_t step = 0; step < kSteps && beam_size_ > 0; ++step) {
    steps_.clear();
    if (network) {
      // Successors of all hypotheses; the root's are there.
      for (std::size_t i = 0; i < beam_size_; ++i) {
        if (beam_[i].node == kRoot) {
          propose(sources, vocabulary, i, tree->root_log_probs());
        } else {
          const std::span<float> row(rows_.data() + i * vocabulary_size, vocabulary_size);
          if (step == 0 && !tree->successors(beam_[i].node, row)) {
            beam_size_ = 0;
            break;
          }
          propose(sources, vocabulary, i, row);
        }
      }
    } else {
      for (std::size_t i = 0; i < beam_size_; ++i) {
        propose(sources, vocabulary, i, {});
      }
    }
    std::sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) {
      return a.log_prob != b.log_prob
                 ? a.log_prob > b.log_prob
                 : (a.parent != b.parent ? a.parent < b.parent : a.token < b.token);
    });
    std::size_t size = 0;
    std::array<NetworkTree::Growth, kBeam> growths;
    for (const Step& candidate : steps_) {
      if (size == kBeam || candidate.log_prob < kLeastLog) {
        break;
      }
      Hypothesis& next = next_beam_[size];
      if (!follow(sources, vocabulary, candidate, limits, &next)) {
        continue;
      }
      consider(next);
      growths[size] = {beam_[candidate.parent].node, candidate.token};
      ++size;
    }
    if (size == 0 || step + 1 == kSteps) {
      break;
    }
    if (network) {
      if (tree->free_nodes() < size) {
        break;
      }
      const NodeId first = tree->first_new();
      if (!tree->grow(std::span(growths.data(), size), rows_)) {
        break;
      }
      for (std::size_t i = 0; i < size; ++i) {
        next_beam_[i].node = first + static_cast<NodeId>(i);
      }
    }
    std::swap(beam_, next_beam_);
    beam_size_ = size;
  }
  if (network) {
    tree->drop_from(std::max<NodeId>(keep, static_cast<NodeId>(NetworkTree::kMaxNodes / 2)));
  }
  return best_length_ > 0;
}

}  // namespace laya::predict
