#include "pinyin/lexicon.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/utf8.h"

namespace laya::pinyin {

NodeIndex Lexicon::child(NodeIndex node, SyllableId syllable) const {
  const auto [first, last] = children(node, {syllable, static_cast<SyllableId>(syllable + 1)});
  return first == last ? kNoNode : first;
}

std::pair<NodeIndex, NodeIndex> Lexicon::children(NodeIndex node, SyllableRange range) const {
  const Node& parent = nodes_[node];
  const auto begin = nodes_.begin() + parent.first_child;
  const auto end = begin + parent.children;
  const auto below = [](const Node& child, SyllableId syllable) {
    return child.syllable < syllable;
  };
  const auto first = std::lower_bound(begin, end, range.first, below);
  const auto last = std::lower_bound(first, end, range.last, below);
  return {static_cast<NodeIndex>(first - nodes_.begin()),
          static_cast<NodeIndex>(last - nodes_.begin())};
}

std::size_t Lexicon::size_bytes() const {
  return texts_.size() + chars_.size() * sizeof(CharIndex) +
         code_points_.size() * sizeof(char32_t) + words_.size() * sizeof(Word) +
         nodes_.size() * sizeof(Node);
}

Status LexiconBuilder::add(std::span<const SyllableId> syllables, std::string_view text,
                           std::uint32_t model_word, float cost, float log_prob) {
  if (syllables.empty() || syllables.size() > kMaxSyllables || text.empty() ||
      text.size() > kMaxWordBytes) {
    return Error{ErrorCode::BadArgument,
                 "pinyin lexicon: a word needs 1 to 15 syllables and 1 to "
                 "255 bytes; one has " +
                     std::to_string(syllables.size()) + " and " + std::to_string(text.size())};
  }
  if (!base::is_valid_utf8(text)) {
    return Error{ErrorCode::Corrupt, "pinyin lexicon: a word is not UTF-8"};
  }
  Entry entry;
  entry.syllables = static_cast<std::uint32_t>(syllables_.size());
  entry.count = static_cast<std::uint32_t>(syllables.size());
  entry.word.text = static_cast<std::uint32_t>(texts_.size());
  entry.word.bytes = static_cast<std::uint8_t>(text.size());
  entry.word.model_word = model_word;
  entry.word.cost = cost;
  entry.word.log_prob = log_prob;
  syllables_.insert(syllables_.end(), syllables.begin(), syllables.end());
  texts_ += text;
  entries_.push_back(entry);
  return {};
}

Result<Lexicon> LexiconBuilder::build() {
  Lexicon lexicon;
  lexicon.texts_ = std::exchange(texts_, {});
  const std::vector<SyllableId> syllables = std::exchange(syllables_, {});
  std::vector<Entry> entries = std::exchange(entries_, {});
  const auto path = [&](const Entry& entry) {
    return std::span(syllables).subspan(entry.syllables, entry.count);
  };
  const auto less = [](std::span<const SyllableId> a, std::span<const SyllableId> b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  };
  const auto same = [](std::span<const SyllableId> a, std::span<const SyllableId> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  };
  std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    if (!same(path(a), path(b))) return less(path(a), path(b));
    if (a.word.log_prob != b.word.log_prob) return a.word.log_prob > b.word.log_prob;
    return lexicon.text(a.word) < lexicon.text(b.word);
  });

  std::unordered_map<char32_t, CharIndex> number_of;
  for (Entry& entry : entries) {
    entry.word.first_char = static_cast<std::uint32_t>(lexicon.chars_.size());
    for (const base::Decoded& code : base::CodePoints(lexicon.text(entry.word))) {
      const auto [at, is_new] =
          number_of.try_emplace(code.code_point, static_cast<CharIndex>(number_of.size()));
      if (is_new) {
        if (number_of.size() > 0xFFFF) {
          return Error{ErrorCode::TooLarge, "pinyin lexicon: more than 65535 distinct characters"};
        }
        lexicon.code_points_.push_back(code.code_point);
      }
      lexicon.chars_.push_back(at->second);
      ++entry.word.chars;
    }
  }

  // All beginnings of all spellings, one level after another, so that a node's children are
  // numbered together.
  struct Place {
    std::span<const SyllableId> path;
    NodeIndex node;
  };
  std::vector<Place> level{{{}, kRootNode}};
  lexicon.nodes_.push_back({});
  for (std::size_t length = 1; length <= kMaxSyllables && !level.empty(); ++length) {
    std::vector<std::span<const SyllableId>> beginnings;
    for (const Entry& entry : entries) {
      if (entry.count >= length) {
        beginnings.push_back(path(entry).first(length));
      }
    }
    beginnings.erase(std::unique(beginnings.begin(), beginnings.end(), same), beginnings.end());
    std::vector<Place> next;
    std::size_t parent = 0;
    for (const auto beginning : beginnings) {
      while (!same(level[parent].path, beginning.first(length - 1))) {
        ++parent;
      }
      const auto number = static_cast<NodeIndex>(lexicon.nodes_.size());
      Node& above = lexicon.nodes_[level[parent].node];
      if (above.children++ == 0) {
        above.first_child = number;
      }
      Node node;
      node.syllable = beginning.back();
      lexicon.nodes_.push_back(node);
      next.push_back({beginning, number});
    }
    level = std::move(next);
  }

  NodeIndex node = kRootNode;
  std::span<const SyllableId> at{};
  for (const Entry& entry : entries) {
    const auto wanted = path(entry);
    if (lexicon.words_.empty() || !same(at, wanted)) {
      node = kRootNode;
      for (const SyllableId syllable : wanted) {
        node = lexicon.child(node, syllable);
      }
      at = wanted;
      lexicon.nodes_[node].first_word = static_cast<WordIndex>(lexicon.words_.size());
    }
    ++lexicon.nodes_[node].words;
    lexicon.words_.push_back(entry.word);
  }
  return lexicon;
}

}  // namespace laya::pinyin
