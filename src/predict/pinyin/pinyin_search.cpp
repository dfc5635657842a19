#include "predict/pinyin/pinyin_search.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/utf8.h"
#include "predict/source/table_context.h"
#include "text/script.h"
#include "text/tokenizer.h"

namespace laya::predict {
namespace {

constexpr std::size_t kWordsOfStart = 128;  // looked at, of those that one place's paths spell
constexpr std::size_t kByTable = 192;       // of them, judged by the table
constexpr std::size_t kByNetwork = 80;      // of those, by the network
constexpr std::size_t kNewNodes = 64;       // new states that one letter may ask for
constexpr std::size_t kNodes = 192;         // states in all: kStates less what kMaxWanted may add
// Text in front that the word model looks at: a trigram needs two words.
constexpr std::size_t kHanBehind = 8;

constexpr std::uint32_t kNone = PinyinHypothesis::kNone;

// A character that the table does not know is one of ten thousand such, and shares what it gives to
// all that is unknown: with the whole of it, rare characters would outdo common ones.
constexpr float kLogUnknownShare = -9.2F;

float table_log_prob(const model::NgramModel& table, const model::NgramContext& state,
                     model::WordId unit) {
  return table.log_prob(state, unit) + (unit == model::kUnknownWord ? kLogUnknownShare : 0.0F);
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ (value + 1)) * 0x100000001B3ULL;  // FNV-1a's prime
}

bool likelier(const PinyinHypothesis& a, const PinyinHypothesis& b) {
  return a.total != b.total ? a.total > b.total : a.text_hash < b.text_hash;
}

/// Leaves the likeliest of each text, likeliest first, at most `keep`.
void sort_and_unite(std::vector<PinyinHypothesis>* list, std::size_t keep) {
  std::sort(list->begin(), list->end(), [](const PinyinHypothesis& a, const PinyinHypothesis& b) {
    return a.text_hash != b.text_hash ? a.text_hash < b.text_hash : a.total > b.total;
  });
  list->erase(std::unique(list->begin(), list->end(),
                          [](const PinyinHypothesis& a, const PinyinHypothesis& b) {
                            return a.text_hash == b.text_hash;
                          }),
              list->end());
  std::sort(list->begin(), list->end(), likelier);
  if (list->size() > keep) {
    list->erase(list->begin() + static_cast<std::ptrdiff_t>(keep), list->end());
  }
}

}  // namespace

pinyin::WordState word_state_behind(const pinyin::WordModel& words, std::string_view before) {
  // Offsets of the last Han characters, up to what is none.
  std::array<std::size_t, kHanBehind + 1> at{};
  std::size_t count = 0;
  std::size_t begin = before.size();
  at[0] = begin;
  while (begin > 0 && count < kHanBehind) {
    std::size_t first = begin - 1;
    while (first > 0 && (static_cast<unsigned char>(before[first]) & 0xC0) == 0x80) {
      --first;
    }
    if (!text::is_han(base::decode_utf8(before.substr(first)).code_point)) {
      break;
    }
    begin = first;
    at[++count] = begin;
  }
  std::reverse(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(count) + 1);
  struct Cut {
    pinyin::WordState state;
    float log_prob = 0;
    bool reached = false;
  };
  std::array<Cut, kHanBehind + 1> cuts;
  cuts[0] = {words.start(), 0, true};
  for (std::size_t end = 1; end <= count; ++end) {
    for (std::size_t first = end > 4 ? end - 4 : 0; first < end; ++first) {
      const std::uint32_t word = words.find(before.substr(at[first], at[end] - at[first]));
      if (!cuts[first].reached || (word == words.unknown() && end - first > 1)) {
        continue;
      }
      Cut cut{{}, 0, true};
      cut.log_prob = cuts[first].log_prob + words.log_prob(cuts[first].state, word, &cut.state);
      if (!cuts[end].reached || cut.log_prob > cuts[end].log_prob) {
        cuts[end] = cut;
      }
    }
  }
  return cuts[count].state;
}

PinyinSearch::PinyinSearch(const PinyinModel& model, const PinyinWeights& weights)
    : model_(&model), weights_(weights), paths_(model.lexicon()), english_(model.engine()) {
  if (model.engine().network() != nullptr) {
    network_ = std::make_unique<PinyinNetwork>(model.engine());
  }
  hypotheses_.reserve(128 * kBeam);
  begin_.reserve(pinyin::Paths::kMaxLetters + 2);
  edges_.reserve(8 * kWordsOfStart);
  of_start_.reserve(kWordsOfStart + 1);
  drafts_.reserve(kByTable + 1);
  candidates_.reserve(kByTable + kBeam);
  wanted_.reserve(kNodes + PinyinNetwork::kMaxWanted);
  read_.reserve(64);
  best_.reserve(kByTable + kBeam);
}

Status PinyinSearch::set_context(std::string_view before) {
  start_ = {};
  if (model_->words() != nullptr) {
    start_.word_state = word_state_behind(*model_->words(), before);
  }
  start_.table_state = table_context(model_->engine().ngrams(), before);
  Status done;
  if (network_ != nullptr) {
    done = network_->set_context(before);
  }
  begin_again();
  return done;
}

void PinyinSearch::begin_again() {
  paths_.clear();
  hypotheses_.assign(1, start_);
  begin_.assign({0, 1});
  best_.clear();
}

std::span<const PinyinHypothesis> PinyinSearch::column(std::size_t place) const {
  return std::span(hypotheses_).subspan(begin_[place], begin_[place + 1] - begin_[place]);
}

float PinyinSearch::total_of(const PinyinHypothesis& h) const {
  return weights_.words * h.words + weights_.characters * h.characters + h.penalty +
         weights_.english * static_cast<float>(h.english_words);
}

void PinyinSearch::append_text(const PinyinHypothesis& hypothesis, std::string* out) const {
  if (hypothesis.previous == kNone && hypothesis.end == 0) {
    return;
  }
  const bool english = hypothesis.english != model::kUnknownWord;
  if (hypothesis.previous != kNone) {
    append_text(hypotheses_[hypothesis.previous], out);
    if (english && hypotheses_[hypothesis.previous].english != model::kUnknownWord) {
      out->push_back(' ');
    }
  }
  const std::string_view typed =
      paths_.letters().substr(hypothesis.begin, hypothesis.end - hypothesis.begin);
  if (english) {
    english_.append(hypothesis.english, typed.substr(0, typed.find('\'')), out);
  } else if (hypothesis.word != kNone) {
    out->append(model_->lexicon().text(model_->lexicon().word(hypothesis.word)));
  } else {
    out->append(typed);
  }
}

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
void PinyinSearch::draft() {
  const pinyin::Lexicon& lexicon = model_->lexicon();
  const pinyin::WordModel* words = model_->words();
  const float all = weights_.words + weights_.characters;
  const auto better = [](const Draft& a, const Draft& b) {
    if (a.total != b.total) return a.total > b.total;
    return a.previous != b.previous ? a.previous < b.previous : a.edge < b.edge;
  };
  drafts_.clear();
  for (std::uint32_t e = 0; e < edges_.size(); ++e) {
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
      next.text_hash = mix(next.text_hash, character);
      if (table != nullptr) {
        const model::WordId unit = model_->unit(character);
        added += table_log_prob(*table, next.table_state, unit);
        table->push(&next.table_state, unit);
      }
    }
    // What the network will add is taken to lie between what the other two said.
    const float guess = table != nullptr ? 0.75F * added + 0.25F * draft.words : draft.words;
    next.total = previous.total + weights_.words * (draft.words + word.cost) +
                 weights_.characters * guess + edge.penalty;
    if (network_ == nullptr) {
      next.characters += guess;
    }
    candidates_.push_back(next);
  }
  sort_and_unite(&candidates_, kByNetwork);
}

// English words that end here, behind every hypothesis that ends where they begin.
void PinyinSearch::add_english() {
  const model::NgramModel* table = model_->engine().ngrams();
  const pinyin::WordModel* words = model_->words();
  english_words_ = english_.ending(letters());
  for (const PinyinEnglish::Word& word : english_words_) {
    for (std::uint32_t p = begin_[word.start]; p < begin_[word.start + 1U]; ++p) {
      const PinyinHypothesis& previous = hypotheses_[p];
      PinyinHypothesis next = previous;
      next.previous = p;
      next.word = kNone;
      next.english = word.word;
      next.begin = word.start;
      next.end = static_cast<std::uint16_t>(letters().size());
      next.last = pinyin::LastSyllable::Whole;
      ++next.english_words;
      next.text_hash = mix(next.text_hash, 0x20000U + word.word);
      if (words != nullptr) {
        next.words += words->log_prob(previous.word_state, words->unknown(), &next.word_state);
      }
      const float by_table = table->log_prob(previous.table_state, word.word);
      table->push(&next.table_state, word.word);
      next.total = previous.total + weights_.words * (next.words - previous.words) +
                   weights_.characters * by_table + weights_.english;
      if (network_ == nullptr) {
        next.characters += by_table;
      }
      candidates_.push_back(next);
    }
  }
  if (!english_words_.empty()) {
    sort_and_unite(&candidates_, kByNetwork);
  }
}

// A word that is not finished: the letters as they are, for as long as it is.
void PinyinSearch::add_begun_english() {
  const std::string_view typed = letters();
  for (std::size_t length = PinyinEnglish::kMinBegun;
       length <= std::min(typed.size(), PinyinEnglish::kMaxLetters); ++length) {
    const std::size_t start = typed.size() - length;
    if (paths_.letters()[start] == '\'') {
      break;
    }
    if (begin_[start] == begin_[start + 1]) {
      continue;
    }
    const std::uint32_t p = begin_[start];  // the likeliest that ends there
    const float log_p = english_.log_prob_of_begun(hypotheses_[p].table_state, typed.substr(start));
    if (!std::isfinite(log_p)) {
      continue;
    }
    PinyinHypothesis next = hypotheses_[p];
    next.previous = p;
    next.word = kNone;
    next.english = model::kUnknownWord;
    next.begin = static_cast<std::uint16_t>(start);
    next.end = static_cast<std::uint16_t>(typed.size());
    next.last = pinyin::LastSyllable::Open;
    next.penalty += weights_.open;
    ++next.english_words;
    next.characters += log_p;
    if (model_->words() != nullptr) {
      const pinyin::WordModel& words = *model_->words();
      next.words += words.log_prob(next.word_state, words.unknown(), &next.word_state);
    }
    for (const char letter : typed.substr(start)) {
      next.text_hash = mix(next.text_hash, 0x10000U + static_cast<unsigned char>(letter));
    }
    next.total = total_of(next);
    candidates_.push_back(next);
  }
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

Status PinyinSearch::judge_by_network() {
  // The states asked about: in front of each character of the words, whether new or there already;
  // those there must be named too, or the new ones may take their place.
  wanted_.clear();
  std::size_t missing = 0;
  const auto want = [&](PinyinNetwork::Node node) {
    if (std::find(wanted_.begin(), wanted_.end(), node) == wanted_.end()) {
      wanted_.push_back(node);
      missing += network_->is_computed(node) ? 0 : 1;
    }
  };
  std::size_t kept = 0;
  for (PinyinHypothesis& candidate : candidates_) {
    PinyinNetwork::Node node = candidate.node;
    for (PinyinNetwork::Node up = node; !network_->is_computed(up); up = network_->parent(up)) {
      want(up);
    }
    want(node);
    const std::span<const TokenId> tokens = tokens_read(candidate);
    for (const TokenId token : tokens.first(tokens.size() - 1)) {
      node = network_->child(node, token);
      want(node);
    }
    if (missing > kNewNodes || wanted_.size() > kNodes) {
      break;
    }
    ++kept;
  }
  candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(kept), candidates_.end());
  if (auto done = network_->compute(wanted_); !done) {
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
  return std::log(0.5F * std::exp(by_table) + 0.5F * std::exp(by_network));
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
      const float by_table = table_log_prob(*table, state, unit);
      table->push(&state, unit);
      log_mixed = std::log(0.5F * std::exp(by_table) + 0.5F * std::exp(*log_prob));
    }
    sum += log_mixed;
    candidate->node = network_->child(candidate->node, model_->read_token(character));
  }
  return sum;
}

void PinyinSearch::add_letter_itself() {
  const std::size_t end = letters().size();
  const char letter = letters().back();
  const model::NgramModel* table = model_->engine().ngrams();
  for (std::uint32_t p = begin_[end - 1]; p < begin_[end]; ++p) {
    PinyinHypothesis next = hypotheses_[p];
    next.previous = p;
    next.word = kNone;
    next.english = model::kUnknownWord;
    next.begin = static_cast<std::uint16_t>(end - 1);
    next.end = static_cast<std::uint16_t>(end);
    next.last = pinyin::LastSyllable::Whole;
    next.penalty += weights_.literal;
    next.text_hash = mix(next.text_hash, 0x10000U + static_cast<unsigned char>(letter));
    if (model_->words() != nullptr) {
      next.word_state = model_->words()->start();
    }
    if (table != nullptr) {
      table->push(&next.table_state, model::kUnknownWord);
    }
    if (network_ != nullptr) {
      next.node = network_->child(next.node, model_->engine().tokenizer()->vocabulary().byte_id(
                                                 static_cast<std::uint8_t>(letter)));
    }
    next.total = total_of(next);
    candidates_.push_back(next);
  }
}

Status PinyinSearch::push(char letter) {
  if (letters().size() == pinyin::Paths::kMaxLetters) {
    return Error{ErrorCode::TooLarge, "pinyin: more than 512 letters; commit some first"};
  }
  if (network_ != nullptr && network_->nodes() + 4 * kByNetwork > PinyinNetwork::kMaxNodes) {
    // After ten thousand letters typed and taken back: begin with an empty tree.
    const std::string typed(letters());
    network_->clear();
    begin_again();
    for (const char one : typed) {
      if (auto done = push(one); !done) return done;
    }
  }
  paths_.push(letter);
  const std::size_t end = letters().size();
  edges_.clear();
  candidates_.clear();
  Status done;
  if (letter == '\'') {
    for (std::uint32_t p = begin_[end - 1]; p < begin_[end]; ++p) {
      candidates_.push_back(hypotheses_[p]);
      candidates_.back().end = static_cast<std::uint16_t>(end);
    }
  } else {
    const bool literal = paths_.is_literal(end - 1);
    if (!literal) {
      collect_edges(paths_.here());
      collect_edges(paths_.open());
      draft();
      judge_by_table();
    }
    add_english();
    if (network_ != nullptr) {
      done = judge_by_network();
    }
    for (PinyinHypothesis& candidate : candidates_) {
      candidate.total = total_of(candidate);
    }
    add_begun_english();
    sort_and_unite(&candidates_, kByNetwork);
    if (literal || candidates_.empty()) {
      add_letter_itself();
    }
  }
  if (!done) {
    paths_.pop();
    return done;
  }
  std::size_t kept = 0;
  for (const PinyinHypothesis& candidate : candidates_) {
    if (candidate.last != pinyin::LastSyllable::Open && kept < kBeam) {
      hypotheses_.push_back(candidate);
      ++kept;
    }
  }
  begin_.push_back(static_cast<std::uint32_t>(hypotheses_.size()));
  order_best();
  return {};
}

// An unfinished syllable is no sign of writing in short: more letters may follow.
void PinyinSearch::order_best() {
  best_ = candidates_;
  for (PinyinHypothesis& candidate : best_) {
    if (candidate.last == pinyin::LastSyllable::Short) {
      candidate.penalty += weights_.open - weights_.shortened;
      candidate.total += weights_.open - weights_.shortened;
    }
  }
  std::sort(best_.begin(), best_.end(), likelier);
}

void PinyinSearch::pop() {
  if (letters().empty()) {
    return;
  }
  paths_.pop();
  begin_.pop_back();
  hypotheses_.resize(begin_.back());
  // What was open at the place is not kept; readings that end there are.
  const auto here = column(letters().size());
  candidates_.assign(here.begin(), here.end());
  if (letters().empty()) {
    candidates_.clear();
  }
  order_best();
}

}  // namespace laya::predict
