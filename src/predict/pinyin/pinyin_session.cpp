#include "predict/pinyin/pinyin_session.h"

#include <algorithm>

#include "predict/deep/deep_model.h"
#include "predict/source/block_list.h"

namespace laya::predict {
namespace {

// Of the text before: the network reads 128 tokens, some 400 bytes of Chinese or 600 of English.
constexpr std::size_t kKeptContextBytes = 1024;
static_assert(field::kMaxPinyinLetters == PinyinSearch::kMaxLetters);

// Room for a usual list from the start.
constexpr std::size_t kUsualCandidates = 128;
constexpr std::size_t kUsualTextBytes = 128;  // of one: a sentence of forty characters

// What reorder() may ask of the decoder: 128 tokens of context and readings of a sentence each.
constexpr std::size_t kScorerTokens = 512;
constexpr std::size_t kScorerNodes = 1024;

}  // namespace

PinyinSession::PinyinSession(const PinyinModel& model, const PinyinOptions& options)
    : model_(&model), options_(options), search_(model, options.weights) {
  texts_.reserve(kUsualCandidates * kUsualTextBytes);
  places_.reserve(kUsualCandidates);
  candidates_.reserve(kUsualCandidates);
}

// Text and letters, and all that was made of them.
void PinyinSession::forget() {
  before_.clear();
  typed_rest_.clear();
  texts_.clear();
  places_.clear();
  candidates_.clear();
  scorer_.reset();
}

// What was listed is of other letters.
void PinyinSession::changed() {
  listed_ = false;
  deep_scores_.clear();
}

Status PinyinSession::set_context(std::string_view before, FieldKind kind,
                                  const base::CancelFlag* cancel) {
  kind_ = kind;
  refusal_ = PinyinRefusal::None;
  changed();
  if (field::field_is_blocked(kind)) {
    forget();
    before = {};
  } else if (before.size() > kKeptContextBytes) {
    before.remove_prefix(before.size() - kKeptContextBytes);
    while (!before.empty() && (static_cast<unsigned char>(before.front()) & 0xC0) == 0x80) {
      before.remove_prefix(1);
    }
  }
  before_ = before;
  bytes_read_ += before.size();
  const Status done = search_.set_context(before_, cancel);
  context_read_ = done.has_value();
  return done;
}

Status PinyinSession::take(std::string_view letters, const base::CancelFlag* cancel) {
  if (!context_read_) {
    if (auto done = search_.set_context(before_, cancel); !done) {
      return done;
    }
    context_read_ = true;
  }
  for (const char letter : letters) {
    if (cancel != nullptr && cancel->cancelled()) {
      return Error{ErrorCode::Cancelled, "pinyin: cancelled"};
    }
    if (auto done = search_.push(letter == ' ' ? '\'' : letter, cancel); !done) {
      return done;
    }
    ++bytes_read_;
    changed();
  }
  return {};
}

Status PinyinSession::type(std::string_view letters, const base::CancelFlag* cancel) {
  if (field::field_is_blocked(kind_)) {
    return {};  // not even their number is looked at
  }
  const Status done = take(letters, cancel);
  refusal_ = PinyinRefusal::None;
  if (!done) {
    refusal_ = done.error().code == ErrorCode::TooLarge ? PinyinRefusal::TooManyLetters
                                                        : PinyinRefusal::Failed;
  }
  return done;
}

void PinyinSession::erase() {
  refusal_ = PinyinRefusal::None;
  changed();
  search_.pop();
}

Status PinyinSession::set_letters(std::string_view letters, const base::CancelFlag* cancel) {
  if (field::field_is_blocked(kind_)) {
    return {};
  }
  std::size_t common = 0;
  while (common < std::min(letters.size(), search_.letters().size()) &&
         (letters[common] == ' ' ? '\'' : letters[common]) == search_.letters()[common]) {
    ++common;
  }
  while (search_.letters().size() > common) {
    erase();
  }
  return type(letters.substr(common), cancel);
}

PinyinReply PinyinSession::reply() {
  if (field::field_is_blocked(kind_)) {
    return {.refusal = PinyinRefusal::FieldBlocked};
  }
  return {.letters = letters(), .candidates = candidates(), .refusal = refusal_};
}

bool PinyinSession::blocks(std::size_t begin) const {
  const BlockList* list = model_->engine().block_list();
  return list != nullptr && list->blocks_after(before_, std::string_view(texts_).substr(begin));
}

// Takes the text at texts_[begin…] into the list, unless it is there already.
void PinyinSession::add(PinyinKind kind, std::size_t consumed, float score, std::size_t begin) {
  const std::string_view text = std::string_view(texts_).substr(begin);
  const bool known = std::any_of(places_.begin(), places_.end(), [&](const Place& place) {
    return std::string_view(texts_).substr(place.begin, place.length) == text;
  });
  if (known || text.empty()) {
    texts_.resize(begin);
    return;
  }
  places_.push_back({begin, text.size()});
  candidates_.push_back({{}, static_cast<std::uint16_t>(consumed), kind, score});
}

// A blocked reading is never offered for letters that only may mean it; spelt in full, it is what
// was typed, and stands behind all others.
void PinyinSession::add_sentences(Blocked which) {
  const auto best = search_.best();
  std::size_t count = 0;
  const auto add_one = [&](std::size_t i, float score) {
    const std::size_t begin = texts_.size();
    search_.append_text(best[i], &texts_);
    const bool blocked = blocks(begin);
    if (blocked != (which == Blocked::Yes) || (blocked && best[i].penalty < 0)) {
      texts_.resize(begin);
      return;
    }
    add(PinyinKind::Sentence, search_.letters().size(), score, begin);
    ++count;
  };
  if (!deep_scores_.empty()) {
    // By both tiers; what the decoder was not asked about stands behind.
    std::vector<std::size_t> order(deep_scores_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto score = [&](std::size_t i) {
      return best[i].total + options_.deep * deep_scores_[i];
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return score(a) > score(b); });
    for (const std::size_t i : order) {
      if (count == options_.sentences) return;
      add_one(i, score(i));
    }
  }
  for (std::size_t i = deep_scores_.size(); i < best.size() && count < options_.sentences; ++i) {
    add_one(i, best[i].total);
  }
}

void PinyinSession::add_words() {
  const pinyin::Lexicon& lexicon = model_->lexicon();
  std::size_t count = 0;
  for (std::size_t end = search_.letters().size(); end > 0; --end) {
    for (const pinyin::Path& path : search_.paths().ending_at(end)) {
      if (path.start != 0) {
        break;  // they come by start
      }
      if (path.shortened > 0 && end != search_.letters().size()) {
        continue;
      }
      const pinyin::Node& node = lexicon.node(path.node);
      for (pinyin::WordIndex w = node.first_word; w < node.first_word + node.words; ++w) {
        if (count == options_.words) {
          return;
        }
        const std::size_t begin = texts_.size();
        const std::size_t before = candidates_.size();
        texts_ += lexicon.text(lexicon.word(w));
        if (blocks(begin)) {
          texts_.resize(begin);
          continue;
        }
        add(PinyinKind::Word, end, lexicon.word(w).log_prob, begin);
        count += candidates_.size() - before;
      }
    }
  }
}

std::span<const PinyinCandidate> PinyinSession::candidates() {
  if (listed_) {
    return candidates_;
  }
  texts_.clear();
  places_.clear();
  candidates_.clear();
  if (!search_.letters().empty()) {
    const std::string_view letters = search_.letters();
    const auto add_letters = [&] {
      texts_ += letters;
      add(PinyinKind::Letters, letters.size(), 0, texts_.size() - letters.size());
    };
    // A name such as ava_app or an address is no pinyin.
    const std::size_t sign = letters.find_first_of("_@");
    if (sign != std::string_view::npos && sign > 0) {
      add_letters();
    }
    add_sentences(Blocked::No);
    add_words();
    add_sentences(Blocked::Yes);
    add_letters();
  }
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    candidates_[i].text = std::string_view(texts_).substr(places_[i].begin, places_[i].length);
  }
  listed_ = true;
  return candidates_;
}

Status PinyinSession::reorder(const base::CancelFlag* cancel) {
  if (field::field_is_blocked(kind_)) {
    return {};
  }
  const DeepModel* deep = model_->engine().deep();
  if (deep == nullptr) {
    return Error{ErrorCode::BadArgument, "pinyin: no decoder to reorder by"};
  }
  if (scorer_ == nullptr) {
    scorer_ = std::make_unique<SentenceScorer>(
        deep->decoder(), deep->tokenizer(),
        SentenceScorerOptions{
            .threads = model_->engine().threads(),
            .keys_and_values = {.capacity_tokens = kScorerTokens, .tree_nodes = kScorerNodes}});
  }
  const auto best = search_.best();
  const std::size_t count = std::min(best.size(), options_.reordered);
  std::vector<std::string> texts(count);
  std::vector<std::string_view> views(count);
  std::vector<float> scores(count);
  for (std::size_t i = 0; i < count; ++i) {
    search_.append_text(best[i], &texts[i]);
    views[i] = texts[i];
  }
  if (auto done = scorer_->set_context(before_, cancel); !done) {
    return done;
  }
  if (auto done = scorer_->score(views, scores, cancel); !done) {
    return done;
  }
  deep_scores_ = std::move(scores);
  listed_ = false;
  return {};
}

Result<std::string> PinyinSession::commit(std::size_t index) {
  const auto list = candidates();
  if (index >= list.size()) {
    return Error{ErrorCode::BadArgument, "pinyin: candidate " + std::to_string(index) + " of " +
                                             std::to_string(list.size())};
  }
  std::string text(list[index].text);
  typed_rest_ = search_.letters().substr(list[index].consumed);
  const std::string before = before_ + text;
  if (auto done = set_context(before); !done) {
    return done.error();
  }
  if (auto done = type(typed_rest_.starts_with('\'') ? std::string_view(typed_rest_).substr(1)
                                                     : std::string_view(typed_rest_));
      !done) {
    return done.error();
  }
  return text;
}

}  // namespace laya::predict
