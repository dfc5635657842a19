#include "predict/offers/emoji_table.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace laya::predict {
namespace {

constexpr std::uint64_t kMaxFileBytes = 16U << 20U;
constexpr std::string_view kMagic = "# laya emoji 1";

/// What is wrong with a line; nullptr for nothing.
const char* read_entry(std::string_view line, EmojiTable::Entry* entry) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos || tab == 0 || tab > EmojiTable::kMaxKeyBytes) {
    return "a line is KEY<TAB>1 or 2<TAB>EMOJI, the key at most 64 bytes";
  }
  entry->key = line.substr(0, tab);
  line.remove_prefix(tab + 1);
  if (line.size() < 3 || (line[0] != '1' && line[0] != '2') || line[1] != '\t') {
    return "the second field must be 1 or 2, and emoji must follow";
  }
  entry->plain = line[0] == '2';
  entry->emoji = line.substr(2);
  std::size_t length = 0;
  for (const char byte : entry->emoji) {
    length = byte == ' ' ? 0 : length + 1;
    if (byte == '\t' || static_cast<unsigned char>(byte) < 0x20U ||
        length > EmojiTable::kMaxEmojiBytes) {
      return "emoji are separated by spaces and have at most 64 bytes";
    }
  }
  return base::is_valid_utf8(entry->key) && base::is_valid_utf8(entry->emoji) ? nullptr
                                                                              : "not UTF-8";
}

}  // namespace

Result<EmojiTable> EmojiTable::parse(std::string_view text, std::string_view name) {
  if (!text.starts_with(kMagic)) {
    return Error{ErrorCode::Version, std::string(name) + ": does not begin with '" +
                                         std::string(kMagic) + "': no emoji table of this version"};
  }
  EmojiTable table;
  table.entries_.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line.front() == '#') {
      continue;
    }
    Entry entry;
    const char* wrong = read_entry(line, &entry);
    if (wrong == nullptr && !table.entries_.empty() && table.entries_.back().key >= entry.key) {
      wrong = "keys must be sorted by their bytes, each there once";
    }
    if (wrong != nullptr) {
      return Error{ErrorCode::Corrupt,
                   std::string(name) + ": line " + std::to_string(number) + ": " + wrong};
    }
    table.entries_.push_back(entry);
  }
  return table;
}

Result<EmojiTable> EmojiTable::open(const std::string& path) {
  auto file = base::MappedFile::open(path, kMaxFileBytes);
  if (!file) {
    return file.error();
  }
  auto table =
      parse({reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()}, path);
  if (table) {
    table->file_ = std::move(*file);  // moving keeps the bytes where they are
  }
  return table;
}

std::size_t EmojiTable::lower_bound(std::string_view key) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), key,
                                   [](const Entry& a, std::string_view b) { return a.key < b; });
  return static_cast<std::size_t>(at - entries_.begin());
}

const EmojiTable::Entry* EmojiTable::find(std::string_view key) const {
  const std::size_t at = lower_bound(key);
  return at < entries_.size() && entries_[at].key == key ? &entries_[at] : nullptr;
}

}  // namespace laya::predict
