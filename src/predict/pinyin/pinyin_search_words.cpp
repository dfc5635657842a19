// Chinese words that end at the last letter: found in the lexicon, judged by the input method's word
// model, then by the table.
#include <algorithm>

#include "predict/pinyin/pinyin_search.h"

namespace laya::predict {
namespace {

// What the network will add is taken to lie between what table and word model said, nearer to the
// table, which counts characters as the network does. Chosen on dev.
constexpr float kGuessByTable = 0.75F;

}  // namespace

// The likeliest words of each start's paths.
void PinyinSearch::collect_edges(std::span<const pinyin::Path> paths) {
  const pinyin::Lexicon& lexicon = model_->lexicon();
  const auto better = [](const Edge& a, const Edge& b) {
    return a.bound != b.bound ? a.bound > b.bound : a.word < b.word;
  };
  for (std::size_t first = 0; first < paths.size();) {
    const std::uint16_t start = paths[first].start;
    of_start_.clear();
    std::size_t i = first;
    for (; i < paths.size() && paths[i].start == start; ++i) {
      if (column(start).empty()) {
        continue;
      }
      const pinyin::Path& path = paths[i];
      const pinyin::Node& node = lexicon.node(path.node);
      float penalty = weights_.shortened * static_cast<float>(path.shortened);
      penalty += path.last == pinyin::LastSyllable::Open ? weights_.open : 0;
      for (pinyin::WordIndex w = node.first_word; w < node.first_word + node.words; ++w) {
        const Edge edge{w, start, path.last, penalty, lexicon.word(w).log_prob + penalty};
        // A heap whose top is the worst kept; a node's words come likeliest first.
        if (of_start_.size() == kWordsOfStart) {
          if (!better(edge, of_start_.front())) {
            break;
          }
          std::pop_heap(of_start_.begin(), of_start_.end(), better);
          of_start_.pop_back();
        }
        of_start_.push_back(edge);
        std::push_heap(of_start_.begin(), of_start_.end(), better);
      }
    }
    edges_.insert(edges_.end(), of_start_.begin(), of_start_.end());
    first = i;
  }
}

// Every edge behind every hypothesis at its start; the likeliest by the word model.
Status PinyinSearch::draft(const base::CancelFlag* cancel) {
  const pinyin::Lexicon& lexicon = model_->lexicon();
  const pinyin::WordModel* words = model_->words();
  const float all = weights_.words + weights_.characters;
  const auto better = [](const Draft& a, const Draft& b) {
    if (a.total != b.total) return a.total > b.total;
    return a.previous != b.previous ? a.previous < b.previous : a.edge < b.edge;
  };
  drafts_.clear();
  for (std::uint32_t e = 0; e < edges_.size(); ++e) {
    if (cancel != nullptr && cancel->cancelled()) {
      return Error{ErrorCode::Cancelled, "pinyin: cancelled"};
    }
    const Edge& edge = edges_[e];
    const pinyin::Word& word = lexicon.word(edge.word);
    for (std::uint32_t p = begin_[edge.start]; p < begin_[edge.start + 1U]; ++p) {
      const PinyinHypothesis& previous = hypotheses_[p];
      Draft draft{0, p, e, word.log_prob - word.cost};
      pinyin::WordState after;
      if (words != nullptr) {
        draft.words = words->log_prob(previous.word_state, word.model_word, &after);
      }
      draft.total = previous.total + all * draft.words + weights_.words * word.cost + edge.penalty;
      if (drafts_.size() == kByTable) {
        if (!better(draft, drafts_.front())) {
          continue;
        }
        std::pop_heap(drafts_.begin(), drafts_.end(), better);
        drafts_.pop_back();
      }
      drafts_.push_back(draft);
      std::push_heap(drafts_.begin(), drafts_.end(), better);
    }
  }
  return {};
}

void PinyinSearch::judge_by_table() {
  const pinyin::Lexicon& lexicon = model_->lexicon();
  const model::NgramModel* table = model_->engine().ngrams();
  candidates_.clear();
  for (const Draft& draft : drafts_) {
    const Edge& edge = edges_[draft.edge];
    const pinyin::Word& word = lexicon.word(edge.word);
    const PinyinHypothesis& previous = hypotheses_[draft.previous];
    PinyinHypothesis next = previous;
    next.previous = draft.previous;
    next.word = edge.word;
    next.english = model::kUnknownWord;
    next.begin = edge.start;
    next.end = static_cast<std::uint16_t>(letters().size());
    next.last = edge.last;
    next.words += draft.words + word.cost;
    next.penalty += edge.penalty;
    if (model_->words() != nullptr) {
      model_->words()->log_prob(previous.word_state, word.model_word, &next.word_state);
    }
    float added = 0;
    for (const pinyin::CharIndex character : lexicon.characters(word)) {
      next.text_hash = hash_of(next.text_hash, character);
      if (table != nullptr) {
        const model::WordId unit = model_->unit(character);
        added += log_prob_by_table(*table, next.table_state, unit);
        table->push(&next.table_state, unit);
      }
    }
    const float guess =
        table != nullptr ? kGuessByTable * added + (1 - kGuessByTable) * draft.words : draft.words;
    next.total = previous.total + weights_.words * (draft.words + word.cost) +
                 weights_.characters * guess + edge.penalty;
    if (network_ == nullptr) {
      next.characters += guess;
    }
    candidates_.push_back(next);
  }
  sort_and_unite(&candidates_, kByNetwork);
}

}  // namespace laya::predict
