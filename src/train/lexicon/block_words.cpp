#include "train/lexicon/block_words.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/units.h"

namespace laya::train {
namespace {

template <typename Visit>
void for_each_word(std::string_view text, Visit visit) {
  std::string lower;
  text::Unit unit;
  for (std::size_t offset = 0; text::next_unit(text, offset, &unit); offset = unit.end) {
    if (unit.kind == text::UnitKind::Word) {
      lower.clear();
      text::append_lower(text.substr(unit.begin, unit.end - unit.begin), &lower);
      visit(lower, unit.begin);
    }
  }
}

}  // namespace

void BlockWords::add_dictionary(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t flags = line.find('/');
    const bool entry = flags != std::string_view::npos &&
                       line.substr(0, flags).find(' ') == std::string_view::npos;
    for_each_word(entry ? line.substr(0, flags) : line,
                  [&](const std::string& word, std::size_t) { known_.insert(word); });
  }
}

void BlockWords::add_text(std::string_view text, TextKind kind) {
  for (auto& [word, seen] : seen_) {
    seen.count = seen.parts = seen.last_part = 0;
  }
  const std::size_t part_bytes = text.size() / options_.parts + 1;
  for_each_word(text, [&](const std::string& word, std::size_t offset) {
    Seen& seen = seen_[word];
    const auto part = static_cast<std::uint32_t>(offset / part_bytes + 1);
    seen.sources += seen.count == 0 ? 1 : 0;
    ++seen.count;
    seen.parts += part != seen.last_part ? 1 : 0;
    seen.last_part = part;
    if (kind == TextKind::Published) {
      seen.published = std::max(seen.published, seen.count);
    } else {
      seen.most_parts = std::max(seen.most_parts, seen.parts);
    }
  });
}

std::vector<std::string> BlockWords::junk() const {
  std::vector<std::string> junk;
  for (const auto& [word, seen] : seen_) {
    const bool owned = word.size() > 2 && word.ends_with("'s");
    if (base::count_code_points(word) > 1 && !known_.contains(word) &&
        !(owned && known_.contains(word.substr(0, word.size() - 2))) &&
        seen.published < options_.published_count && seen.sources < options_.least_sources &&
        seen.most_parts < options_.least_parts) {
      junk.push_back(word);
    }
  }
  std::sort(junk.begin(), junk.end());
  return junk;
}

}  // namespace laya::train
