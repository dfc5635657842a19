#include "predict/ghost/deep_ghost_drafter.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "predict/source/casing.h"
#include "text/script.h"

namespace laya::predict {
namespace {

constexpr float kWordsGoOn = 0.8F;  // of words that the network ends by a space, those not before a
                                    // mark: the table tells of marks
constexpr float kLeastPath = -6.5F;  // ln p: what is less likely is no draft
constexpr std::size_t kMostPieces = 6;

bool is_mark(std::string_view text) {
  constexpr std::string_view kMarks[] = {",",  ".",  "!",  "?",  ":",  ";", "，",
                                         "。", "！", "？", "、", "：", "；"};
  return std::find(std::begin(kMarks), std::end(kMarks), text) != std::end(kMarks);
}

bool ends_sentence(std::string_view text) {
  return text == "." || text == "!" || text == "?" || text == "。" || text == "！" || text == "？";
}

text::UnitKind kind_of(std::string_view text) {
  text::Unit unit;
  return text::next_unit(text, 0, &unit) ? unit.kind : text::UnitKind::Symbol;
}

}  // namespace

InstantDrafter::InstantDrafter(const model::LanguageModel* network) {
  if (network != nullptr) {
    tree_.emplace(*network, model::Threads::One);
    rows_.resize(kRows * network->config().vocabulary_size);
  }
  nodes_.reserve(kNodes);
  texts_.reserve(kNodes * 16);
  whole_.reserve(512);
  frontier_.reserve(kNodes);
  reached_.reserve(kNodes);
  draft_texts_.reserve(kDrafts * 128);
}

InstantDrafter::~InstantDrafter() = default;

void InstantDrafter::begin(const SearchSources& sources, const text::Vocabulary* vocabulary,
                           const TypedText& text) {
  sources_ = sources;
  vocabulary_ = vocabulary;
  typed_.assign(text.open_word());
  rooted_ = 0;
  nodes_.clear();
  texts_.clear();
  rows_used_ = 0;
  round_ = 0;
  Node root;
  root.sentence_end = text.at_sentence_start();
  if (sources.ngrams != nullptr) {
    root.context = sources.ngrams->context(text);
    root.units = static_cast<std::uint16_t>(
        std::min<std::size_t>(sources.ngrams->units_in_line(text), 1000));
  } else {
    root.units = 4;
  }
  if (tree_ && sources.network != nullptr && sources.network->prepare(text) &&
      tree_->set_root(sources.network->tree().state(kRoot))) {
    root.network = kRoot;
    root.row = kRootRow;
  }
  nodes_.push_back(root);
}

void InstantDrafter::forget() {
  for (std::string* text : {&typed_, &texts_, &whole_, &draft_texts_}) {
    std::fill(text->begin(), text->end(), '\0');
    text->clear();
  }
  nodes_.clear();
  if (tree_) {
    tree_->clear();
  }
}

std::string_view InstantDrafter::text_of(std::int32_t node) const {
  const Node& entry = nodes_[static_cast<std::size_t>(node)];
  return std::string_view(texts_).substr(entry.text_begin, entry.text_length);
}

std::int32_t InstantDrafter::find(std::int32_t parent, std::string_view text) const {
  for (std::size_t i = 1; i < nodes_.size(); ++i) {
    if (nodes_[i].parent == parent && text_of(static_cast<std::int32_t>(i)) == text) {
      return static_cast<std::int32_t>(i);
    }
  }
  return kNone;
}

std::int32_t InstantDrafter::child(std::int32_t parent, std::string_view text, float log_p) {
  const std::int32_t found = find(parent, text);
  if (found != kNone || nodes_.size() == kNodes) {
    return found;
  }
  const Node& from = nodes_[static_cast<std::size_t>(parent)];
  Node node;
  node.parent = parent;
  node.text_begin = static_cast<std::uint32_t>(texts_.size());
  node.text_length = static_cast<std::uint32_t>(text.size());
  node.log_p = log_p;
  node.context = from.context;
  node.units = static_cast<std::uint16_t>(from.units + 1);
  const text::UnitKind kind = kind_of(text);
  if (sources_.ngrams != nullptr) {
    sources_.ngrams->model().push(&node.context, sources_.ngrams->id_of(text, kind));
  }
  node.is_word = kind == text::UnitKind::Word;
  node.space_before_word = node.is_word || (text.size() == 1 && kind == text::UnitKind::Symbol);
  node.sentence_end = ends_sentence(text);
  texts_.append(text);
  nodes_.push_back(node);
  return static_cast<std::int32_t>(nodes_.size()) - 1;
}

std::span<const float> InstantDrafter::row_of(const Node& node) const {
  if (node.row == kNone) {
    return {};
  }
  if (node.row == kRootRow) {
    return tree_->root_log_probs();
  }
  const std::size_t size = tree_->network().config().vocabulary_size;
  return std::span(rows_).subspan(static_cast<std::size_t>(node.row) * size, size);
}

// Its node of the network's tree; kNoNode where the network has no pieces for it.
void InstantDrafter::grow_pieces(std::int32_t index) {
  Node& node = nodes_[static_cast<std::size_t>(index)];
  if (node.network_tried || node.parent == kNone) {
    return;
  }
  node.network_tried = true;
  const Node& parent = nodes_[static_cast<std::size_t>(node.parent)];
  const std::string_view text = text_of(index);
  std::array<TokenId, kMostPieces> pieces;
  std::size_t count = 0;
  NodeId at = parent.network;
  std::array<char, text::kMaxUnitBytes + 1> spaced;
  const auto with_space = [&](std::string_view unit) -> std::string_view {
    if (unit.size() > text::kMaxUnitBytes) {
      return {};
    }
    std::copy(unit.begin(), unit.end(), spaced.begin());
    spaced[unit.size()] = ' ';
    return {spaced.data(), unit.size() + 1};
  };
  if (node.is_word) {
    const TokenId whole = vocabulary_->find(with_space(text));
    if (whole != kNoToken) {
      pieces[count++] = whole;
    } else if (sources_.ngrams != nullptr && sources_.network != nullptr) {
      const model::WordId word = sources_.ngrams->id_of(text, text::UnitKind::Word);
      if (word != model::kUnknownWord) {
        const std::span<const TokenId> spelled =
            sources_.network->pieces_of(word, sources_.ngrams->model().text(word), kNoGroup);
        if (spelled.size() <= pieces.size()) {
          count = spelled.size();
          std::copy(spelled.begin(), spelled.end(), pieces.begin());
        }
      }
    }
  } else if (parent.is_word && parent.parent != kNone) {
    // A mark: the word before it ends without a space.
    at = nodes_[static_cast<std::size_t>(parent.parent)].network;
    const TokenId open = vocabulary_->find(text_of(node.parent));
    TokenId mark = vocabulary_->find(with_space(text));
    mark = mark == kNoToken ? vocabulary_->find(text) : mark;
    if (open != kNoToken && mark != kNoToken) {
      pieces[count++] = open;
      pieces[count++] = mark;
    }
  } else {
    const TokenId whole = vocabulary_->find(text);
    if (whole != kNoToken) {
      pieces[count++] = whole;
    }
  }
  if (count == 0 || at == kNoNode) {
    return;
  }
  // All but the last piece; the last is grown with the others' of the batch.
  for (std::size_t i = 0; i + 1 < count; ++i) {
    NodeId next = tree_->find(at, pieces[i]);
    if (next == kNoNode) {
      const NetworkTree::Growth growth{at, pieces[i]};
      next = tree_->first_new();
      if (tree_->free_nodes() == 0 || !tree_->grow(std::span(&growth, 1))) {
        return;
      }
    }
    at = next;
  }
  node.network = at;
  node.row = static_cast<std::int32_t>(pieces[count - 1]);  // for the moment: the piece to grow by
}

void InstantDrafter::look_behind(std::span<const std::int32_t> wanted) {
  if (!tree_ || nodes_[0].network == kNoNode) {
    return;
  }
  std::array<NetworkTree::Growth, kBatch> growths;
  std::array<std::int32_t, kBatch> grown;
  std::size_t count = 0;
  for (const std::int32_t index : wanted) {
    Node& node = nodes_[static_cast<std::size_t>(index)];
    if (node.network_tried || node.row != kNone || count == kBatch) {
      continue;
    }
    grow_pieces(index);
    if (node.network == kNoNode) {
      continue;
    }
    growths[count] = {node.network, static_cast<TokenId>(node.row)};
    grown[count++] = index;
    node.network = kNoNode;
    node.row = kNone;
  }
  count = std::min({count, kRows - rows_used_, tree_->free_nodes()});
  if (count == 0) {
    return;
  }
  const std::size_t size = tree_->network().config().vocabulary_size;
  const NodeId first = tree_->first_new();
  if (!tree_->grow(std::span(growths.data(), count),
                   std::span(rows_).subspan(rows_used_ * size, count * size))) {
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    Node& node = nodes_[static_cast<std::size_t>(grown[i])];
    node.network = first + static_cast<NodeId>(i);
    node.row = static_cast<std::int32_t>(rows_used_ + i);
  }
  rows_used_ += count;
}

float InstantDrafter::log_prob(std::int32_t parent, std::string_view text) {
  const Node& from = nodes_[static_cast<std::size_t>(parent)];
  const text::UnitKind kind = kind_of(text);
  float table = kImpossible;
  if (sources_.ngrams != nullptr) {
    const model::WordId word = sources_.ngrams->id_of(text, kind);
    if (word != model::kUnknownWord) {
      table = sources_.ngrams->model().log_prob(from.context, word, sources_.ngrams->recent(),
                                                sources_.ngrams->recent_mix());
    }
  }
  const std::span<const float> row = row_of(from);
  if (row.empty()) {
    return table;
  }
  float network = kImpossible;
  const std::size_t bucket = Mixing::context_bucket(from.units);
  float share = sources_.mixing->word_network[bucket][0];
  if (kind == text::UnitKind::Word) {
    std::array<char, 2 * text::kMaxUnitBytes> lower;
    const std::size_t length = text::copy_lower(text, lower.data(), lower.size());
    const std::uint32_t group = sources_.index->find({lower.data(), length});
    if (group != kNoGroup) {
      float sum = 0;
      for (const GroupPiece& piece : sources_.index->pieces(sources_.index->groups()[group])) {
        sum += piece.ends_in_space ? std::exp(row[piece.token]) : 0;
      }
      network = std::log(std::max(sum, 1e-30F));
    }
  } else {
    const TokenId token = vocabulary_->find(text);
    if (token != kNoToken) {
      network = row[token];
    }
    share = kind == text::UnitKind::Han ? sources_.mixing->han_network[bucket] : 0;
  }
  return mix(MixingKind::Linear, sources_.ngrams == nullptr ? 1 : share, network, table);
}

// The likeliest words, characters and marks behind a node, best first.
std::size_t InstantDrafter::followers(std::int32_t index, std::span<Follower> out) {
  const Node& from = nodes_[static_cast<std::size_t>(index)];
  std::array<Follower, 3 * kFirstFollowers> found;
  std::size_t count = 0;
  const auto add = [&](std::string_view text) {
    const auto same = [&](const Follower& other) { return other.text == text; };
    if (text.empty() || text.size() > text::kMaxUnitBytes || count == found.size() ||
        std::any_of(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), same)) {
      return;
    }
    found[count++] = {text, log_prob(index, text)};
  };
  const std::span<const float> row = row_of(from);
  if (!row.empty()) {
    std::array<std::pair<float, TokenId>, kFirstFollowers> best;
    std::size_t size = 0;
    float bar = kLeastPath;
    for (TokenId token = 0; token < row.size(); ++token) {
      if (row[token] <= bar) {
        continue;
      }
      const PieceRole role = sources_.index->role(token);
      if (role != PieceRole::WordEnd && role != PieceRole::Han) {
        continue;
      }
      if (size == best.size()) {
        std::pop_heap(best.begin(), best.end(), std::greater<>());
        --size;
      }
      best[size++] = {row[token], token};
      std::push_heap(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(size),
                     std::greater<>());
      bar = size == best.size() ? best.front().first : bar;
    }
    for (std::size_t i = 0; i < size; ++i) {
      std::string_view text = vocabulary_->text(best[i].second);
      text.remove_suffix(!text.empty() && text.back() == ' ' ? 1 : 0);
      add(text);
    }
  }
  std::size_t raised = 0;
  if (sources_.ngrams != nullptr) {
    const model::NgramModel& table = sources_.ngrams->model();
    std::array<model::Scored, kFirstFollowers + kFollowers> best;
    const std::size_t size =
        table.top_any(from.context, sources_.ngrams->recent(), sources_.ngrams->recent_mix(), best);
    for (std::size_t i = 0; i < size; ++i) {
      const model::WordId word = best[i].word;
      if (table.is_word(word)) {
        std::string_view text = table.display(word);
        if (from.sentence_end && !text.empty() && text[0] >= 'a' && text[0] <= 'z' &&
            raised < raised_.size() && text.size() < raised_[0].size()) {
          std::copy(text.begin(), text.end(), raised_[raised].begin());
          raised_[raised][0] = static_cast<char>(text[0] - 'a' + 'A');
          text = {raised_[raised].data(), text.size()};
          ++raised;
        }
        add(text);
      } else if (table.is_han(word) || ((index != 0 || rooted_ > 0) && is_mark(table.text(word)))) {
        add(table.text(word));
      }
    }
  }
  const std::size_t wanted = std::min(count, out.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(wanted),
                    found.begin() + static_cast<std::ptrdiff_t>(count),
                    [](const Follower& a, const Follower& b) {
                      return a.log_p != b.log_p ? a.log_p > b.log_p : a.text < b.text;
                    });
  std::copy_n(found.begin(), wanted, out.begin());
  return wanted;
}

// The node behind the whole words and characters of `whole`, which begins where nodes_[0] ends;
// *partial: bytes of the word that touches its end; *last_begin: where the last whole one begins.
std::int32_t InstantDrafter::walk(std::string_view whole, Ask ask, std::size_t* partial,
                                  std::size_t* last_begin) {
  std::int32_t node = 0;
  *partial = *last_begin = 0;
  text::Unit unit;
  std::size_t offset = 0;
  while (node != kNone && text::next_unit(whole, offset, &unit)) {
    const std::string_view text = whole.substr(unit.begin, unit.end - unit.begin);
    if (unit.kind == text::UnitKind::Word && unit.end == whole.size()) {
      *partial = text.size();
      return node;
    }
    if (ask == Ask::Both) {
      look_behind(std::span(&node, 1));
    }
    const std::int32_t known = find(node, text);
    node = known != kNone ? known : child(node, text, 0);
    *last_begin = unit.begin;
    offset = unit.end;
  }
  return node;
}

// Forgets all that does not follow `node`, so that there is room for the next draft.
void InstantDrafter::move_root(std::int32_t index, std::size_t bytes) {
  if (index <= 0 || bytes == 0) {
    return;
  }
  look_behind(std::span(&index, 1));
  Node root = nodes_[static_cast<std::size_t>(index)];
  if (tree_ && root.network != kNoNode) {
    root.network = kNoNode;
    root.row = kNone;
    if (tree_->set_root(tree_->state(nodes_[static_cast<std::size_t>(index)].network))) {
      root.network = kRoot;
      root.row = kRootRow;
    }
  }
  root.parent = kNone;
  root.network_tried = false;
  root.text_begin = root.text_length = 0;
  nodes_.clear();
  texts_.clear();
  rows_used_ = 0;
  nodes_.push_back(root);
  rooted_ += bytes;
}

void InstantDrafter::push(std::int32_t index, float log_path) {
  if (index == kNone || log_path < kLeastPath) {
    return;
  }
  Node& node = nodes_[static_cast<std::size_t>(index)];
  if (node.drafted != round_) {
    node.drafted = round_;
    node.log_path = log_path;
    reached_.push_back(index);
    frontier_.push_back(index);
  }
}

std::span<const InstantDrafter::Draft> InstantDrafter::draft(std::string_view phrase) {
  ++round_;
  reached_.clear();
  frontier_.clear();
  if (nodes_.empty()) {
    return {};
  }
  whole_.assign(typed_).append(phrase);
  whole_.erase(0, std::min(rooted_, whole_.size()));
  std::size_t partial = 0;
  std::size_t last_begin = 0;
  std::int32_t from = walk(whole_, Ask::Table, &partial, &last_begin);
  if (from == kNone) {
    return {};
  }
  // The last whole word stays a node: the word behind it, or itself, may be asked for.
  if (const std::int32_t before = nodes_[static_cast<std::size_t>(from)].parent; before > 0) {
    move_root(before, last_begin);
    whole_.erase(0, last_begin);
    from = walk(whole_, Ask::Table, &partial, &last_begin);
    if (from == kNone) {
      return {};
    }
  }
  if (partial == 0) {
    push(from, 0);
  } else {
    // A word that nobody knows may go on; the words that begin so share its probability.
    const std::string_view word = std::string_view(whole_).substr(whole_.size() - partial);
    std::array<Follower, kFollowers> ways;
    std::size_t count = 0;
    ways[count++] = {word, std::max(log_prob(from, word), -18.0F)};
    std::array<char, 2 * text::kMaxUnitBytes> lower;
    const std::size_t length = text::copy_lower(word, lower.data(), lower.size());
    if (sources_.ngrams != nullptr && sources_.index->find({lower.data(), length}) == kNoGroup &&
        sources_.ngrams->model().find({lower.data(), length}) == model::kUnknownWord) {
      std::array<model::Scored, kFollowers> best;
      const std::size_t size = sources_.ngrams->model().top_words(
          nodes_[static_cast<std::size_t>(from)].context, {lower.data(), length}, best);
      for (std::size_t i = 0; i < size && count < ways.size(); ++i) {
        const std::string_view key = sources_.ngrams->model().text(best[i].word);
        std::array<char, 2 * text::kMaxUnitBytes>& letters = raised_[count - 1];
        if (key.size() <= length || key.size() > text::kMaxUnitBytes) {
          continue;
        }
        std::copy(key.begin(), key.end(), letters.begin());
        std::copy(word.begin(), word.end(), letters.begin());  // case as it stands
        ways[count] = {{letters.data(), key.size()}, log_prob(from, key)};
        ++count;
      }
    }
    float sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      sum += std::exp(ways[i].log_p);
    }
    for (std::size_t i = 0; i < count; ++i) {
      push(child(from, ways[i].text, ways[i].log_p), ways[i].log_p - std::log(sum));
    }
  }
  for (std::size_t round = 0; round < kRounds && !frontier_.empty(); ++round) {
    const std::size_t size = std::min(kBatch, frontier_.size());
    std::partial_sort(frontier_.begin(), frontier_.begin() + static_cast<std::ptrdiff_t>(size),
                      frontier_.end(), [this](std::int32_t a, std::int32_t b) {
                        const float pa = nodes_[static_cast<std::size_t>(a)].log_path;
                        const float pb = nodes_[static_cast<std::size_t>(b)].log_path;
                        return pa != pb ? pa > pb : a < b;
                      });
    std::array<std::int32_t, kBatch> batch;
    std::copy_n(frontier_.begin(), size, batch.begin());
    frontier_.erase(frontier_.begin(), frontier_.begin() + static_cast<std::ptrdiff_t>(size));
    for (std::size_t i = 0; i < size; ++i) {
      std::array<Follower, kFirstFollowers> next;
      const std::size_t count =
          followers(batch[i], std::span(next).first(round == 0 ? kFirstFollowers : kFollowers));
      const float path = nodes_[static_cast<std::size_t>(batch[i])].log_path;
      for (std::size_t f = 0; f < count; ++f) {
        push(child(batch[i], next[f].text, next[f].log_p), path + next[f].log_p);
      }
    }
  }
  write_drafts(from, partial);
  return {drafts_.data(), std::min(reached_.size(), kDrafts)};
}

// The drafts' texts, best first, from `from` on; of a word that is begun, its rest.
void InstantDrafter::write_drafts(std::int32_t from, std::size_t partial) {
  const std::string_view begun = std::string_view(whole_).substr(whole_.size() - partial);
  std::erase_if(reached_, [&](std::int32_t index) {
    return index == from || (nodes_[static_cast<std::size_t>(index)].parent == from &&
                             partial > 0 && text_of(index) == begun);
  });
  std::sort(reached_.begin(), reached_.end(), [this](std::int32_t a, std::int32_t b) {
    const float pa = nodes_[static_cast<std::size_t>(a)].log_path;
    const float pb = nodes_[static_cast<std::size_t>(b)].log_path;
    return pa != pb ? pa > pb : a < b;
  });
  draft_texts_.clear();
  std::array<std::size_t, kDrafts> begins;
  const std::size_t count = std::min(reached_.size(), kDrafts);
  for (std::size_t i = 0; i < count; ++i) {
    begins[i] = draft_texts_.size();
    std::array<std::int32_t, kRounds + 2> path;
    std::size_t length = 0;
    for (std::int32_t at = reached_[i]; at != from && length < path.size();
         at = nodes_[static_cast<std::size_t>(at)].parent) {
      path[length++] = at;
    }
    for (std::size_t step = length; step > 0; --step) {
      const Node& node = nodes_[static_cast<std::size_t>(path[step - 1])];
      std::string_view text = text_of(path[step - 1]);
      if (step == length && partial > 0) {
        draft_texts_.append(text.substr(std::min(partial, text.size())));
        continue;
      }
      if (node.is_word && nodes_[static_cast<std::size_t>(node.parent)].space_before_word) {
        draft_texts_.push_back(' ');
      }
      draft_texts_.append(text);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t end = i + 1 < count ? begins[i + 1] : draft_texts_.size();
    drafts_[i] = {std::string_view(draft_texts_).substr(begins[i], end - begins[i]),
                  nodes_[static_cast<std::size_t>(reached_[i])].log_path};
  }
}

float InstantDrafter::log_prob_of_last(std::string_view phrase) {
  if (nodes_.empty()) {
    return kImpossible;
  }
  whole_.assign(typed_).append(phrase);
  whole_.erase(0, std::min(rooted_, whole_.size()));
  text::Unit unit;
  text::Unit last{text::UnitKind::Symbol, 0, 0};
  for (std::size_t offset = 0; text::next_unit(whole_, offset, &unit); offset = unit.end) {
    last = unit;
  }
  if (last.end == 0) {
    return kImpossible;
  }
  std::size_t partial = 0;
  std::size_t last_begin = 0;
  const std::string_view whole = whole_;
  std::int32_t node = walk(whole.substr(0, last.begin), Ask::Both, &partial, &last_begin);
  if (node != kNone && partial > 0) {  // a word and a mark without a space between
    const std::string_view word = whole.substr(last.begin - partial, partial);
    node = child(node, word, log_prob(node, word));
  }
  if (node == kNone) {
    return kImpossible;
  }
  look_behind(std::span(&node, 1));
  return log_prob(node, whole.substr(last.begin, last.end - last.begin));
}

}  // namespace laya::predict
