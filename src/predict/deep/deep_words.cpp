#include "predict/deep/deep_words.h"

#include <algorithm>
#include <cmath>

#include "predict/deep/deep_options.h"
#include "predict/deep/deep_word_fit.h"
#include "predict/source/casing.h"
#include "predict/source/likeliest.h"
#include "text/units.h"

namespace laya::predict {
namespace {

constexpr std::size_t kProposed = 40;
// How much of what hangs on a word's first token goes, until looked into, to the words in the pool
// that begin so.
constexpr float kShareOfUnseen = 0.5F;
// And how much of it a wish for that token counts besides, for words that are in no pool.
constexpr float kUnlistedShare = 0.1F;
// How often a token that spells the lead and the whole word is all of it, where it was not looked
// into: as often as a word's last piece (deep_paths.cpp).
constexpr float kEndsBehindLead = 0.8F;
// How often a token further on in a word is followed by more letters, before it was looked into.
constexpr float kGoesOn = 0.5F;
// p(lead) is at least this: what was typed has happened, and is divided by.
constexpr float kLeastLeadMass = 1e-9F;
// Composed words: the share is of the word at this place in the list (from 1) …
constexpr std::size_t kBarPlace = 3;
// … but less than this is never worth the walk; and one that no table knows must be over here with
// at least this probability, or it is a part of a word.
constexpr float kLeastComposed = 1e-7F;
constexpr float kLeastEnd = 0.3F;

bool has_capital(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

char raised(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

}  // namespace

DeepWords::DeepWords(const DeepModel& model, const PieceIndex& pieces,
                     const model::NgramModel* ngrams, const DeepTree& tree,
                     const DeepOptions& options)
    : model_(&model),
      tokenizer_(&model.tokenizer()),
      index_(&model.tables()),
      pieces_(&pieces),
      ngrams_(ngrams),
      options_(&options),
      paths_{tokenizer_, index_, &tree},
      values_(index_->groups().size()),
      spellings_(kSpellings) {
  origins_.reserve(DeepTree::kMaxNodes + 1);
  unseen_.reserve(2 * kVariants * WordPool::kCapacity);
  scratch_ids_.reserve(256);
  lead_.reserve(256);
}

// The word that a token spells, without the space before it.
std::string_view DeepWords::form_of(const DeepEntry& entry) const {
  return tokenizer_->bytes(entry.token).substr(entry.lead == DeepLead::Space ? 1 : 0);
}

void DeepWords::find_origins(int node, std::string_view rest, float weight) {
  if (rest.empty() || rest == " ") {
    origins_.push_back({node, rest.empty() ? DeepLead::None : DeepLead::Space, weight});
  }
  const std::span<const DeepTree::Node> nodes = paths_.tree->nodes();
  for (std::size_t i = 0; i < nodes.size() && !rest.empty(); ++i) {
    const std::string_view bytes = tokenizer_->bytes(nodes[i].token);
    if (nodes[i].parent == node && rest.starts_with(bytes)) {
      find_origins(static_cast<int>(i), rest.substr(bytes.size()),
                   weight * paths_.tree->probability(node, nodes[i].token));
    }
  }
}

void DeepWords::set_lead(std::string_view lead) {
  if (lead == lead_ && version_ == paths_.tree->version() && !origins_.empty()) {
    return;
  }
  version_ = paths_.tree->version();
  lead_.assign(lead);
  origins_.clear();
  lead_mass_ = 1;
  if (!paths_.tree->ready()) {
    return;
  }
  lead_mass_ = std::max(paths_.mass(DeepTree::kRootNode, lead_), kLeastLeadMass);
  find_origins(DeepTree::kRootNode, lead_, 1 / lead_mass_);
}

void DeepWords::write_forms(const PoolWord& word, const WordQuery& query, Forms* forms) const {
  forms->count = 0;
  const auto add = [&](std::string_view form) {
    if (form.empty() || form.size() > std::tuple_size_v<Bytes>) {
      return;
    }
    for (std::size_t i = 0; i < forms->count; ++i) {
      if (forms->at(i) == form) {
        return;
      }
    }
    std::copy(form.begin(), form.end(), forms->bytes[forms->count].begin());
    forms->lengths[forms->count++] = form.size();
  };
  add(word.key);
  const std::string_view usual = ngrams_ != nullptr && word.word != model::kUnknownWord
                                     ? ngrams_->display(word.word)
                                     : std::string_view();
  Bytes buffer;
  const std::size_t size = std::min(word.key.size(), buffer.size());
  if (!usual.empty() && usual != word.key) {
    add(usual);
  } else {
    std::copy_n(word.key.begin(), size, buffer.begin());
    buffer[0] = size > 0 ? raised(buffer[0]) : '\0';
    add({buffer.data(), size});
  }
  if (has_capital(query.typed) && query.typed.size() <= size) {
    const bool caps = is_all_caps(query.typed);
    std::copy(query.typed.begin(), query.typed.end(), buffer.begin());
    for (std::size_t i = query.typed.size(); i < size; ++i) {
      buffer[i] = caps ? raised(word.key[i]) : word.key[i];
    }
    add({buffer.data(), size});
  }
}

// p of the word as one token, all its forms.
float DeepWords::single_tokens(std::uint32_t group, const WordQuery& query) const {
  const DeepGroup& entry = index_->groups()[group];
  float sum = 0;
  for (const Origin& origin : origins_) {
    float here = 0;
    for (const DeepEntry& piece : index_->entries(entry)) {
      if (piece.lead == origin.lead) {
        here += paths_.word_end(origin.node, piece.token, entry.ends) * fit(form_of(piece), query);
      }
    }
    sum += origin.weight * here;
  }
  return sum;
}

// p of one form as several tokens, or as one that spells what lies before the word too.
float DeepWords::several_tokens(int node, std::string_view rest, std::string_view form) const {
  float sum = 0;
  Bytes buffer;
  if (rest.size() + form.size() > buffer.size()) {
    return 0;
  }
  std::copy(rest.begin(), rest.end(), buffer.begin());
  std::copy(form.begin(), form.end(), buffer.begin() + static_cast<std::ptrdiff_t>(rest.size()));
  const std::string_view whole(buffer.data(), rest.size() + form.size());
  if (!rest.empty() && rest != " ") {  // single_tokens() counts the others
    const TokenId token = tokenizer_->find(whole);
    if (token != kNoToken) {
      sum += paths_.word_end(node, token, kEndsBehindLead);
    }
  }
  const std::span<const DeepTree::Node> nodes = paths_.tree->nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string_view bytes = tokenizer_->bytes(nodes[i].token);
    if (nodes[i].parent != node || bytes.size() >= whole.size() || !whole.starts_with(bytes)) {
      continue;
    }
    const float p = paths_.tree->probability(node, nodes[i].token);
    const int child = static_cast<int>(i);
    sum +=
        p * (bytes.size() <= rest.size() ? several_tokens(child, rest.substr(bytes.size()), form)
                                         : paths_.rest_of_word(child, whole.substr(bytes.size())));
  }
  return sum;
}

// The tokens by which the tokeniser itself spells the form behind a lead; 0 if they are too many.
std::size_t DeepWords::spell(const Origin& origin, const PoolWord& word, const Forms& forms,
                             std::size_t variant, std::span<TokenId, kMaxPieces> pieces) {
  const auto encode = [&](std::string_view form,
                          std::span<TokenId, kMaxPieces> out) -> std::size_t {
    std::array<char, 1 + std::tuple_size_v<Bytes>> buffer;
    buffer[0] = ' ';
    std::copy(form.begin(), form.end(), buffer.begin() + 1);
    const std::string_view with_space(buffer.data(), form.size() + 1);
    scratch_ids_.clear();
    tokenizer_->encode(origin.lead == DeepLead::Space ? with_space : form, scratch_ids_, nullptr,
                       text::TextPosition::Rest, &scratch_);
    if (scratch_ids_.size() > out.size()) {
      return 0;
    }
    std::copy(scratch_ids_.begin(), scratch_ids_.end(), out.begin());
    return scratch_ids_.size();
  };
  if (word.word == model::kUnknownWord || variant >= 2) {
    return encode(forms.at(variant), pieces);
  }
  Spelling& entry =
      spellings_[(2 * word.word + (origin.lead == DeepLead::Space ? 1 : 0)) % kSpellings];
  if (entry.word != word.word || entry.lead != origin.lead) {
    entry.word = word.word;
    entry.lead = origin.lead;
    for (std::size_t i = 0; i < 2; ++i) {
      entry.lengths[i] =
          i < forms.count ? static_cast<std::uint8_t>(encode(forms.at(i), entry.pieces[i])) : 0;
    }
  }
  std::copy(entry.pieces[variant].begin(), entry.pieces[variant].end(), pieces.begin());
  return entry.lengths[variant];
}

// Where the tree ends on the way along `pieces`; nullptr if it reaches their last.
DeepWish* DeepWords::unseen(const Origin& origin, std::span<const TokenId> pieces, float* reach) {
  int node = origin.node;
  *reach = origin.weight;
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
    *reach *= paths_.tree->probability(node, pieces[i]);
    const int child = paths_.tree->find(node, pieces[i]);
    if (child == DeepTree::kNone) {
      // What the token is a beginning of: all but where it is a word by itself.
      *reach *= i == 0 ? 1 - index_->ends(pieces[i]) : kGoesOn;
      for (DeepWish& wish : unseen_) {
        if (wish.node == node && wish.token == pieces[i]) {
          return &wish;
        }
      }
      if (unseen_.size() == unseen_.capacity()) {
        return nullptr;
      }
      unseen_.push_back({node, pieces[i], 0});
      return &unseen_.back();
    }
    node = child;
  }
  return nullptr;
}

void DeepWords::score(const WordQuery& query, WordPool* pool) {
  unseen_.clear();
  // First how the other sources share out what begins alike, then each word's probability.
  for (int step = 0; step < 2; ++step) {
    for (PoolWord& word : pool->words()) {
      const float others = other_sources(word);
      float p = 0;
      if (step == 1) {
        const std::uint32_t group = index_->group_of(word.word, word.group, word.key);
        p = group == kNoGroup ? 0 : single_tokens(group, query);
      }
      Forms forms;
      write_forms(word, query, &forms);
      for (std::size_t i = 0; i < forms.count; ++i) {
        const std::string_view form = forms.at(i);
        const float fits = fit(form, query);
        if (step == 1) {
          p += fits * several_tokens(DeepTree::kRootNode, lead_, form) / lead_mass_;
        }
        for (const Origin& origin : origins_) {
          std::array<TokenId, kMaxPieces> pieces;
          const std::size_t length = spell(origin, word, forms, i, pieces);
          float reach = 0;
          DeepWish* wish = unseen(origin, {pieces.data(), length}, &reach);
          if (wish == nullptr) {
            continue;
          }
          if (step == 0) {
            wish->shared += others;
          } else {
            const float share = wish->shared > 0 ? others / wish->shared : 0;
            p += fits * reach * kShareOfUnseen * share;
            wish->weight += fits * reach * (kShareOfUnseen * share + kUnlistedShare);
          }
        }
      }
      if (step == 1) {
        word.log_p_deep = std::log(std::max(p, kLeast));
      }
    }
  }
}

void DeepWords::propose(const WordQuery& query, WordPool* pool) {
  keys_used_ = 0;
  const auto [first, last] = index_->with_prefix(query.prefix);
  for (std::uint32_t g = first; g < last; ++g) {
    const DeepGroup& group = index_->groups()[g];
    float value = 0;
    for (const Origin& origin : origins_) {
      const std::span<const float> probs = paths_.tree->probs(origin.node);
      float here = 0;
      for (const DeepEntry& entry : index_->entries(group)) {
        if (entry.lead != origin.lead) {
          continue;
        }
        float p = probs[entry.token];
        if (!query.typed.empty()) {
          p *= fit(form_of(entry), query);
        }
        here += p;
      }
      value += origin.weight * here;
    }
    values_[g] = value * group.ends;
  }
  // Where it was looked into how often the word is over, that counts.
  for (const Origin& origin : origins_) {
    for (const DeepTree::Node& node : paths_.tree->nodes()) {
      const std::uint32_t g =
          node.parent == origin.node ? index_->group_of_token(node.token) : kNoGroup;
      if (g >= first && g < last && g != kNoGroup) {
        values_[g] = single_tokens(g, query);
      }
    }
  }
  Likeliest<kProposed> likeliest;
  for (std::uint32_t g = first; g < last; ++g) {
    likeliest.add({values_[g], g});
  }
  const auto best = likeliest.sorted();
  for (std::size_t i = 0; i < best.size() && best[i].first > 0; ++i) {
    const DeepGroup& group = index_->groups()[best[i].second];
    if (PoolWord* word = pool->add(index_->key(group), group.word, group.group)) {
      word->from_deep = true;
    }
  }
  const float third = best.empty() ? 0 : best[std::min(best.size(), kBarPlace) - 1].first;
  propose_composed(query, options_->composed_share * third, pool);
}

// Words of several tokens that nobody has a list of: names, mostly, that the text has used before.
void DeepWords::propose_composed(const WordQuery& query, float least, WordPool* pool) {
  for (const Origin& origin : origins_) {
    const std::span<const DeepTree::Node> nodes = paths_.tree->nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::uint32_t group = index_->group_of_token(nodes[i].token);
      if (nodes[i].parent != origin.node || group == kNoGroup) {
        continue;
      }
      std::string_view bytes = tokenizer_->bytes(nodes[i].token);
      const bool space = bytes.front() == ' ';
      if (space == (origin.lead == DeepLead::Space)) {
        bytes.remove_prefix(space ? 1 : 0);
        propose_behind(static_cast<int>(i), bytes,
                       origin.weight * paths_.tree->probability(origin.node, nodes[i].token), query,
                       std::max(least, kLeastComposed), pool);
      }
    }
  }
}

void DeepWords::propose_behind(int node, std::string_view spelt, float reach,
                               const WordQuery& query, float least, WordPool* pool) {
  const std::size_t common = std::min(spelt.size(), query.typed.size());
  if (reach < least || spelt.substr(0, common) != query.typed.substr(0, common)) {
    return;
  }
  if (spelt.size() < query.typed.size()) {
    for (const TokenId token : tokenizer_->with_prefix(query.typed.substr(spelt.size()))) {
      const float p = paths_.tree->probability(node, token);
      if (reach * p >= least) {
        offer(spelt, token, reach * p, query, least, pool);
      }
    }
  } else {
    const DeepTree::Node& at = paths_.tree->nodes()[static_cast<std::size_t>(node)];
    for (std::size_t i = 0; i < at.going_on_count; ++i) {
      const float p = paths_.tree->probability(node, at.going_on[i]);
      if (reach * p >= least) {
        offer(spelt, at.going_on[i], reach * p, query, least, pool);
      }
    }
  }
  const std::span<const DeepTree::Node> nodes = paths_.tree->nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string_view bytes = tokenizer_->bytes(nodes[i].token);
    if (nodes[i].parent != node || bytes.empty() || bytes.front() == ' ' ||
        index_->group_of_token(nodes[i].token) == kNoGroup) {
      continue;
    }
    Bytes longer;
    if (spelt.size() + bytes.size() <= longer.size()) {
      std::copy(spelt.begin(), spelt.end(), longer.begin());
      std::copy(bytes.begin(), bytes.end(),
                longer.begin() + static_cast<std::ptrdiff_t>(spelt.size()));
      propose_behind(static_cast<int>(i), {longer.data(), spelt.size() + bytes.size()},
                     reach * paths_.tree->probability(node, nodes[i].token), query, least, pool);
    }
  }
}

void DeepWords::offer(std::string_view spelt, TokenId token, float p, const WordQuery& query,
                      float least, WordPool* pool) {
  const std::string_view bytes = tokenizer_->bytes(token);
  std::array<char, 2 * text::kMaxUnitBytes> form;
  std::array<char, 2 * text::kMaxUnitBytes> lower;
  if (spelt.size() + bytes.size() > text::kMaxUnitBytes) {
    return;
  }
  std::copy(spelt.begin(), spelt.end(), form.begin());
  std::copy(bytes.begin(), bytes.end(), form.begin() + static_cast<std::ptrdiff_t>(spelt.size()));
  const std::size_t length =
      text::copy_lower({form.data(), spelt.size() + bytes.size()}, lower.data(), lower.size());
  std::string_view key(lower.data(), length);
  text::Unit unit;
  if (!key.starts_with(query.prefix) || !text::next_unit(key, 0, &unit) ||
      unit.kind != text::UnitKind::Word || unit.begin != 0 || unit.end != key.size()) {
    return;
  }
  const model::WordId known = ngrams_ != nullptr ? ngrams_->find(key) : model::kUnknownWord;
  const std::uint32_t group = pieces_->find(key);
  if (known != model::kUnknownWord) {
    key = ngrams_->text(known);
  } else if (group != kNoGroup) {
    key = pieces_->key(pieces_->groups()[group]);
  } else {
    // Nobody vouches for it: only if it is known that it is over here.
    const DeepTree& tree = *paths_.tree;
    float ends = 0;
    for (const DeepTree::Node& node : tree.nodes()) {
      const int parent = node.parent;
      if (node.token == token && parent != DeepTree::kRootNode) {
        ends = std::max(ends, node.ends);
      }
    }
    if (p * ends < least || ends < kLeastEnd || keys_.size() - keys_used_ < key.size()) {
      return;
    }
    std::copy(key.begin(), key.end(), keys_.begin() + static_cast<std::ptrdiff_t>(keys_used_));
    key = {keys_.data() + keys_used_, key.size()};
    keys_used_ += key.size();
  }
  if (PoolWord* word = pool->add(key, known, group)) {
    word->from_deep = true;
  }
}

}  // namespace laya::predict
