#include "pinyin/paths.h"

#include <algorithm>

namespace laya::pinyin {
namespace {

// A word of four syllables is often written by initials, a longer one hardly ever; and each further
// one multiplies the paths.
constexpr std::uint8_t kMaxShortened = 4;

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

}  // namespace

Paths::Paths(const Lexicon& lexicon) : lexicon_(&lexicon) {
  letters_.reserve(kMaxLetters);
  paths_.reserve(64 * 64);
  begin_.reserve(kMaxLetters + 2);
  scratch_.reserve(2 * kMaxPaths);
  open_.reserve(kMaxPaths);
  clear();
}

void Paths::clear() {
  letters_.clear();
  paths_.clear();
  open_.clear();
  begin_.assign(2, 0);  // the column before the first letter, and its end
}

bool Paths::is_literal(std::size_t letter) const {
  return !is_letter(letters_[letter]) && letters_[letter] != '\'';
}

std::span<const Path> Paths::ending_at(std::size_t place) const {
  return std::span(paths_).subspan(begin_[place], begin_[place + 1] - begin_[place]);
}

// The children of every path that ends at `from`, and of the root there.
void Paths::extend(std::size_t from, SyllableRange range, LastSyllable last,
                   std::vector<Path>* out) {
  const auto add = [&](const Path& before) {
    const auto shortened =
        static_cast<std::uint8_t>(before.shortened + (last == LastSyllable::Short ? 1 : 0));
    if (shortened > kMaxShortened) {
      return;
    }
    const auto [first, end] = lexicon_->children(before.node, range);
    for (NodeIndex node = first; node != end && out->size() < kMaxPaths; ++node) {
      out->push_back({before.start, shortened, last, node});
    }
  };
  add({static_cast<std::uint16_t>(from), 0, LastSyllable::Whole, kRootNode});
  for (const Path& before : ending_at(from)) {
    add(before);
  }
}

void Paths::push(char letter) {
  if (letters_.size() == kMaxLetters) {
    return;
  }
  letters_ += letter;
  const std::size_t end = letters_.size();
  scratch_.clear();
  if (letter == '\'') {
    // Behind it what ended before it goes on.
    const auto before = ending_at(end - 1);
    scratch_.assign(before.begin(), before.end());
  } else if (is_letter(letter)) {
    const std::size_t most = std::min(kMaxSyllableLetters, end);
    std::size_t length = 1;
    while (length < most && is_letter(letters_[end - length - 1])) {
      ++length;
    }
    const std::string_view text = letters_;
    for (std::size_t n = length; n > 0; --n) {
      const SyllableId whole = find_syllable(text.substr(end - n, n));
      if (whole != kNoSyllable) {
        extend(end - n, {whole, static_cast<SyllableId>(whole + 1)}, LastSyllable::Whole,
               &scratch_);
      }
    }
    for (std::size_t n = std::min<std::size_t>(2, length); n > 0; --n) {
      const std::string_view initial = text.substr(end - n, n);
      if (is_initial(initial)) {
        extend(end - n, syllables_with(initial), LastSyllable::Short, &scratch_);
      }
    }
    std::sort(scratch_.begin(), scratch_.end(), [](const Path& a, const Path& b) {
      if (a.start != b.start) return a.start < b.start;
      if (a.shortened != b.shortened) return a.shortened < b.shortened;
      return a.node < b.node;
    });
  }
  paths_.insert(paths_.end(), scratch_.begin(), scratch_.end());
  begin_.push_back(static_cast<std::uint32_t>(paths_.size()));
  find_open();
}

void Paths::pop() {
  if (letters_.empty()) {
    return;
  }
  letters_.pop_back();
  begin_.pop_back();
  paths_.resize(begin_.back());
  find_open();
}

void Paths::find_open() {
  open_.clear();
  const std::size_t end = letters_.size();
  const std::string_view text = letters_;
  for (std::size_t n = std::min(kMaxSyllableLetters - 1, end); n > 1; --n) {
    const std::string_view typed = text.substr(end - n, n);
    if (!std::all_of(typed.begin(), typed.end(), is_letter) || is_initial(typed) ||
        find_syllable(typed) != kNoSyllable) {
      continue;
    }
    const SyllableRange range = syllables_with(typed);
    if (!range.empty()) {
      extend(end - n, range, LastSyllable::Open, &open_);
    }
  }
  std::sort(open_.begin(), open_.end(), [](const Path& a, const Path& b) {
    return a.start != b.start ? a.start < b.start : a.node < b.node;
  });
}

}  // namespace laya::pinyin
