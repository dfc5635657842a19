#include "predict/ghost/deep_ghost.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/utf8_boundary.h"
#include "predict/deep/deep_tree.h"
#include "predict/list/ghost_rules.h"

namespace laya::predict {
namespace {

// Guessed tokens a pass. Eight columns cost 1.4 x one, sixteen 2.4 x, and agree with little more.
constexpr std::size_t kGuesses = 7;

bool is_letter(char32_t code) { return text::script_of(code) == text::Script::Latin; }

bool is_mark(char32_t code) {
  constexpr std::u32string_view kMarks = U",.!?;:，。！？；：、'’-";
  return kMarks.find(code) != std::u32string_view::npos;
}

bool ends_sentence(std::string_view text) {
  for (const std::string_view mark : {".", "!", "?", "。", "！", "？"}) {
    if (text.ends_with(mark)) {
      return true;
    }
  }
  return false;
}

char32_t first_code(std::string_view text) {
  for (const base::Decoded& code : base::CodePoints(text)) {
    return code.code_point;
  }
  return 0;
}

bool ends_in_letter(std::string_view text) {
  char32_t last = 0;
  // A letter is at most four bytes; what stands before does not matter.
  const std::size_t begin = base::boundary_from(text, text.size() > 4 ? text.size() - 4 : 0);
  for (const base::Decoded& code : base::CodePoints(text.substr(begin))) {
    last = code.code_point;
  }
  return is_letter(last);
}

}  // namespace

GhostTokens::GhostTokens(const text::SubwordTokenizer& tokenizer) : uses_(tokenizer.size()) {
  for (TokenId token = 0; token < uses_.size(); ++token) {
    const std::string_view bytes = tokenizer.bytes(token);
    if (tokenizer.kind(token) == text::SubwordTokenKind::Control || bytes.empty() ||
        !base::is_valid_utf8(bytes)) {
      continue;
    }
    bool allowed = true;
    bool space_before = false;
    for (const base::Decoded& code : base::CodePoints(bytes)) {
      const char32_t c = code.code_point;
      const bool space = c == U' ';
      allowed = allowed && (space ? !space_before : is_letter(c) || text::is_han(c) || is_mark(c));
      space_before = space;
    }
    allowed = allowed && bytes != " " && !bytes.ends_with(' ');
    const char32_t first = first_code(bytes);
    const bool continues = is_letter(first) || first == U'\'' || first == U'’' || first == U'-' ||
                           first == U'_' || (first >= U'0' && first <= U'9');
    uses_[token] =
        static_cast<std::uint8_t>((allowed ? kAllowed : 0) | (continues ? kContinues : 0));
    if (continues) {
      continuing_.push_back(token);
    }
  }
}

KnownNodes::Known NodesOfList::find(model::KvNodeId parent, TokenId token) const {
  const std::span<const DeepTree::Node> nodes = tree_->nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const model::KvNodeId from = nodes[i].parent == DeepTree::kRootNode
                                     ? model::kRoot
                                     : nodes[static_cast<std::size_t>(nodes[i].parent)].cache_node;
    if (nodes[i].token == token && from == parent) {
      return {nodes[i].cache_node, tree_->probs(static_cast<int>(i))};
    }
  }
  return {};
}

DeepGhost::DeepGhost(const model::Decoder& decoder, const text::SubwordTokenizer& tokenizer,
                     const model::LanguageModel* network)
    : decoder_(&decoder),
      tokenizer_(&tokenizer),
      tokens_(tokenizer),
      verifier_(decoder),
      drafter_(network) {
  given_.reserve(64);
  ids_.reserve(64);
  spelled_.reserve(2 * kMaxBytes);
  phrase_.reserve(2 * kMaxBytes);
  best_text_.reserve(2 * kMaxBytes);
}

Result<bool> DeepGhost::search(const DeepGhostRequest& request) {
  request_ = &request;
  best_text_.clear();
  best_benefit_ = 0;
  passes_ = 0;
  ++counts_.searches;
  const std::string_view before = request.text->before();
  if (request.sources.block_list != nullptr) {
    before_ = request.sources.block_list->after(before);
  }
  const std::string_view tail = before.substr(std::min(request.closed_bytes, before.size()));
  drafter_.begin(request.sources, request.vocabulary, *request.text);
  const std::size_t starts = std::min(request.starts.size(), kStarts);
  for (std::size_t i = 0; i < starts && best_text_.empty(); ++i) {
    const GhostStart& start = request.starts[i];
    if (length_ == Length::UntilUnlikely && start.log_prob < GhostRules::kLeastLog) {
      break;
    }
    spelled_.assign(tail).append(start.insert);
    given_.clear();
    tokenizer_->encode(
        spelled_, given_, nullptr,
        request.closed_bytes == 0 ? text::TextPosition::Start : text::TextPosition::Rest,
        &scratch_);
    if (given_.size() + kTokens > 48) {
      continue;
    }
    phrase_.assign(start.insert);
    start_bytes_ = phrase_.size();
    log_closed_ = log_here_ = start.log_prob;
    log_word_ = log_end_ = 0;
    over_ = false;
    if (!phrase_.empty()) {
      over_ = repeats_what_follows();
      if (over_) {
        continue;
      }
      consider(start.log_prob);
    }
    const std::size_t more = kTokens - std::min(given_.size(), kTokens - 1);
    const Status done =
        verifier_.run(*request.workspace, *request.cache, *this,
                      {request.root_probs, given_, more, request.known, request.cancel});
    passes_ += verifier_.passes();
    counts_.passes += verifier_.passes();
    counts_.drafting_passes += drafting_ == Drafting::On ? verifier_.passes() : 0;
    counts_.columns += verifier_.columns();
    counts_.drafted += verifier_.drafted();
    counts_.agreed += verifier_.agreed();
    if (!done) {
      best_text_.clear();
      return done.error();
    }
  }
  return !best_text_.empty();
}

void DeepGhost::forget() {
  for (std::string* text : {&spelled_, &word_, &phrase_, &best_text_}) {
    std::fill(text->begin(), text->end(), '\0');
    text->clear();
  }
  std::fill(given_.begin(), given_.end(), TokenId{0});
  given_.clear();
  drafter_.forget();
}

void DeepGhost::draft(std::span<const TokenId> tokens, std::size_t columns, TokenTrie& drafts) {
  if (drafting_ == Drafting::Off || tokens.empty()) {
    return;
  }
  const std::int64_t begin = base::monotonic_ns();
  draft_tree_.clear();
  offer_instant_drafts(tokens);
  draft_tree_.choose(said_, tokens, std::min(columns, kGuesses), drafts);
  counts_.draft_ns += static_cast<std::uint64_t>(base::monotonic_ns() - begin);
}

void DeepGhost::offer_instant_drafts(std::span<const TokenId> tokens) {
  // What goes on inside the last word is spelled together with it: "the" and "ir" are no tokens of
  // "their".
  const std::string_view so_far = spelled_;
  word_.assign(so_far.substr(std::min(so_far.find_last_of(' '), so_far.size())));
  const std::size_t word_bytes = word_.size();
  for (const InstantDrafter::Draft& guess : drafter_.draft(phrase_)) {
    const float prob = std::exp(guess.log_prob);
    ids_.clear();
    if (guess.text.starts_with(' ') || word_bytes == 0) {
      tokenizer_->encode(guess.text, ids_, nullptr, text::TextPosition::Rest, &scratch_);
      draft_tree_.offer(ids_, prob);
      continue;
    }
    word_.resize(word_bytes);
    word_.append(guess.text);
    tokenizer_->encode(word_, ids_, nullptr, text::TextPosition::Rest, &scratch_);
    std::size_t bytes = 0;
    std::size_t first = 0;
    while (first < ids_.size() && first < tokens.size() && bytes < word_bytes) {
      bytes += tokenizer_->bytes(ids_[first++]).size();
    }
    const std::span<const TokenId> begun = std::span<const TokenId>(ids_).first(first);
    if (bytes == word_bytes &&
        std::equal(begun.begin(), begun.end(), tokens.end() - static_cast<std::ptrdiff_t>(first))) {
      draft_tree_.offer(std::span<const TokenId>(ids_).subspan(first), prob);
    }
  }
}

bool DeepGhost::repeats_what_follows() const {
  const std::string_view next = request_->limits.next_word_after;
  if (next.empty()) {
    return false;
  }
  text::Unit unit;
  text::Unit last{text::UnitKind::Symbol, 0, 0};
  for (std::size_t offset = 0; text::next_unit(phrase_, offset, &unit); offset = unit.end) {
    last = unit;
  }
  const std::string_view word = std::string_view(phrase_).substr(last.begin, last.end - last.begin);
  return same_word(word, next) || (last.kind == text::UnitKind::Han && next.starts_with(word));
}

void DeepGhost::consider(float log_prob) {
  log_here_ = log_prob;
  if (log_prob < GhostRules::kLeastLog || !has_letters(phrase_)) {
    return;
  }
  if (request_->sources.block_list != nullptr &&
      request_->sources.block_list->blocks(before_, phrase_)) {
    over_ = true;  // nothing longer can be better
    return;
  }
  const float benefit = ghost_benefit(phrase_, log_prob, GhostRules::kDeepGlance);
  if (benefit > best_benefit_) {
    best_benefit_ = benefit;
    best_log_prob_ = log_prob;
    best_text_.assign(phrase_);
  }
}

void DeepGhost::learn(std::span<const TokenId> path, TokenId next) {
  if (drafting_ == Drafting::On && tokens_.allowed(next)) {
    said_.learn(path, next);
  }
}

void DeepGhost::read(std::span<const TokenId> tokens, const TokenRow& row) {
  if (tokens.size() < given_.size()) {
    return;
  }
  const bool letters = ends_in_letter(spelled_);
  const float mass = letters ? row.mass(tokens_.continuing()) : 0;
  log_end_ = std::log(std::max(1 - mass, 1e-6F));
  if (tokens.size() == given_.size()) {
    return;  // the list has said how likely the word is
  }
  const float decoder = log_word_ + log_end_;
  float mixed = decoder;
  if (length_ == Length::UntilUnlikely && request_->decoder_share < 1) {
    mixed = mix(MixingKind::Linear, request_->decoder_share, decoder,
                drafter_.log_prob_of_last(phrase_));
  }
  over_ = over_ || repeats_what_follows();
  if (!over_) {
    consider(log_closed_ + mixed);
  }
}

bool DeepGhost::accept(std::span<const TokenId> tokens, TokenId next, float log_prob) {
  const std::string_view bytes = tokenizer_->bytes(next);
  if (over_ || !tokens_.allowed(next) || phrase_.size() + bytes.size() > kMaxBytes ||
      (!phrase_.empty() && ends_sentence(phrase_))) {
    return false;
  }
  if (bytes.front() == ' ' && spelled_.ends_with(' ')) {
    return false;
  }
  if (phrase_.empty() && !is_letter(first_code(bytes)) && !text::is_han(first_code(bytes)) &&
      bytes.front() != ' ') {
    return false;  // no ghost begins with a mark
  }
  if (tokens.size() >= given_.size() && !tokens_.continues_word(next)) {
    // A new word: the one before it is finished with the probability it had there.
    log_closed_ = log_here_;
    log_word_ = log_prob - log_end_;
  } else {
    log_word_ += log_prob;
  }
  if (length_ == Length::UntilUnlikely && log_closed_ + log_word_ < GhostRules::kLeastLog) {
    return false;
  }
  phrase_.append(bytes);
  spelled_.append(bytes);
  return true;
}

}  // namespace laya::predict
