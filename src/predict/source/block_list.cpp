#include "predict/source/block_list.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/mapped_file.h"
#include "base/utf8.h"
#include "text/script.h"
#include "text/units.h"

namespace laya::predict {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxFileBytes = 64U << 20U;
constexpr std::uint64_t kHashStart = 0xcbf29ce484222325ULL;  // FNV-1a, base/fnv1a.h
constexpr std::uint64_t kHashPrime = 0x100000001b3ULL;
constexpr std::uint32_t kNone = 0;  // no child: the root is nobody's

bool is_apostrophe(char32_t code) { return code == U'\'' || code == U'’'; }

std::uint64_t hashed(std::uint64_t hash, std::string_view bytes) {
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * kHashPrime;
  }
  return hash;
}

std::uint64_t kept(std::uint64_t hash) { return hash == 0 ? 1 : hash; }

Result<std::vector<std::string>> files_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return std::vector<std::string>{path};
  }
  std::vector<std::string> files;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".txt") {
      files.push_back(at->path().string());
    }
  }
  if (error) {
    return Error{ErrorCode::Io, path + ": " + error.message()};
  }
  if (files.empty()) {
    return Error{ErrorCode::BadArgument, path + ": the folder of a block list has no *.txt"};
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

// Reads text code point by code point and follows every entry that may be going on.
class BlockList::Walk {
 public:
  Walk(const BlockList& list, const BlockContext& from) : list_(&list), at_(from) {}

  /// Candidate: what is completed from here on counts.
  void enter_candidate() { counts_ = true; }
  void read(std::string_view text);
  /// The text is over; its last word is whole.
  void finish() {
    if (touched_) {
      end_word();
    }
  }
  bool found() const { return found_; }
  const BlockContext& context() const { return at_; }

 private:
  void word_character(std::string_view lower, bool digit);
  void han_character(std::string_view bytes);
  void other(char32_t code);
  void end_word();
  void advance(std::string_view bytes);
  void start(std::string_view bytes);
  std::uint32_t follow(std::uint32_t node, std::string_view bytes) const;
  void arrive(std::uint32_t node);
  void hit() { found_ = found_ || counts_; }

  const BlockList* list_;
  BlockContext at_;
  bool counts_ = false;
  bool touched_ = false;  // the open word has a character of the candidate
  bool found_ = false;
};

std::uint32_t BlockList::Walk::follow(std::uint32_t node, std::string_view bytes) const {
  for (const char byte : bytes) {
    node = list_->child(node, static_cast<std::uint8_t>(byte));
    if (node == kNone) {
      break;
    }
  }
  return node;
}

void BlockList::Walk::advance(std::string_view bytes) {
  std::uint8_t alive = 0;
  for (std::uint8_t i = 0; i < at_.active; ++i) {
    if (const std::uint32_t next = follow(at_.nodes[i], bytes); next != kNone) {
      at_.nodes[alive++] = next;
    }
  }
  at_.active = alive;
}

void BlockList::Walk::start(std::string_view bytes) {
  const std::uint32_t node = follow(0, bytes);
  if (node == kNone) {
    return;
  }
  if (at_.active == BlockContext::kActive) {  // more begin than can be followed: the oldest goes
    std::copy(at_.nodes.begin() + 1, at_.nodes.end(), at_.nodes.begin());
    --at_.active;
  }
  at_.nodes[at_.active++] = node;
}

void BlockList::Walk::word_character(std::string_view lower, bool digit) {
  if (at_.apostrophe) {
    at_.apostrophe = false;
    advance("'");
    at_.word_hash = hashed(at_.word_hash, "'");
  }
  const bool begins = !at_.in_word;
  if (begins) {
    if (at_.gap) {
      if (at_.after_word) {
        advance(" ");
      } else {
        at_.active = 0;
      }
    }
    at_.word_hash = kHashStart;
    at_.stem = false;
    touched_ = false;
  }
  advance(lower);
  if (begins) {
    start(lower);
  }
  at_.word_hash = hashed(at_.word_hash, lower);
  at_.in_word = at_.after_word = true;
  at_.gap = false;
  touched_ = counts_;
  for (std::uint8_t i = 0; i < at_.active; ++i) {
    at_.stem = at_.stem || list_->nodes_[at_.nodes[i]].end == End::Anywhere;
  }
  if (at_.stem || at_.at_sign) {
    hit();
  }
  at_.at_sign = false;
  at_.digits = digit ? static_cast<std::uint8_t>(std::min<int>(at_.digits + 1, kDigits)) : 0;
  if (at_.digits == kDigits) {
    hit();
  }
}

void BlockList::Walk::han_character(std::string_view bytes) {
  end_word();
  if (at_.gap) {
    at_.active = 0;
  }
  advance(bytes);
  start(bytes);
  at_.after_word = at_.gap = at_.at_sign = false;
  at_.digits = 0;
  for (std::uint8_t i = 0; i < at_.active; ++i) {
    if (list_->nodes_[at_.nodes[i]].end == End::Anywhere) {
      hit();
    }
  }
}

void BlockList::Walk::other(char32_t code) {
  const bool behind_word = at_.in_word;
  end_word();
  at_.gap = true;
  at_.at_sign = code == U'@' && behind_word;
  at_.digits = 0;
}

void BlockList::Walk::end_word() {
  if (!at_.in_word) {
    return;
  }
  if (touched_) {
    for (std::uint8_t i = 0; i < at_.active; ++i) {
      if (list_->nodes_[at_.nodes[i]].end == End::Word) {
        hit();
      }
    }
    if (list_->holds_word(at_.word_hash)) {
      hit();
    }
  }
  at_.gap = at_.gap || at_.apostrophe;
  at_.in_word = at_.apostrophe = at_.stem = touched_ = false;
}

void BlockList::Walk::read(std::string_view text) {
  std::array<char, 8> lower;
  for (std::size_t i = 0; i < text.size() && !found_;) {
    const base::Decoded code = base::decode_utf8(text.substr(i));
    const std::string_view bytes = text.substr(i, code.length);
    i += code.length;
    const auto byte = static_cast<unsigned char>(bytes.front());
    if (byte < 0x80U) {
      const bool digit = byte >= '0' && byte <= '9';
      const auto small = static_cast<unsigned char>(byte | 0x20U);
      if (digit || (small >= 'a' && small <= 'z')) {
        lower[0] = static_cast<char>(digit ? byte : small);
        word_character({lower.data(), 1}, digit);
        continue;
      }
    } else if (code.status == base::Utf8Status::Valid) {
      if (text::is_han(code.code_point)) {
        han_character(bytes);
        continue;
      }
      if (text::script_of(code.code_point) == text::Script::Latin) {
        const std::size_t length = text::copy_lower(bytes, lower.data(), lower.size());
        word_character({lower.data(), length}, false);
        continue;
      }
    }
    if (is_apostrophe(code.code_point) && at_.in_word && !at_.apostrophe) {
      // It may be the word's or close a quotation. An entry ends before it: "…'s".
      for (std::uint8_t k = 0; touched_ && k < at_.active; ++k) {
        if (list_->nodes_[at_.nodes[k]].end == End::Word) {
          hit();
        }
      }
      at_.apostrophe = true;
      continue;
    }
    other(code.code_point);
  }
}

// One line after another; every entry brought to the form in which Walk reads text.
class BlockList::Parser {
 public:
  Status read(std::string_view text, std::string_view name) {
    in_section_ = junk_ = false;
    std::size_t line_number = 0;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      ++line_number;
      while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t')) {
        line.remove_suffix(1);
      }
      if (line.empty() || line.front() == '#') {
        continue;
      }
      if (const char* wrong = read_line(line); wrong != nullptr) {
        return Error{ErrorCode::Corrupt,
                     std::string(name) + ": line " + std::to_string(line_number) + ": " + wrong};
      }
    }
    return {};
  }

  std::vector<Entry> entries;
  std::vector<std::uint64_t> words;

 private:
  /// What is wrong with it; nullptr for nothing. Never the line itself.
  const char* read_line(std::string_view line) {
    if (line.front() == '[') {
      const std::size_t space = line.find(' ');
      if (line.back() != ']' || space == std::string_view::npos || space < 2 ||
          space + 2 >= line.size()) {
        return "a section is [LANGUAGE REASON]";
      }
      junk_ = line.substr(space + 1, line.size() - space - 2) == "junk";
      in_section_ = true;
      return nullptr;
    }
    if (!in_section_) {
      return "an entry stands before the first [LANGUAGE REASON]";
    }
    if (line.size() > kMaxEntryBytes) {
      return "an entry is longer than 96 bytes";
    }
    if (entries.size() + words.size() >= kMaxEntries) {
      return "more than 1,048,576 entries";
    }
    const bool stem = line.back() == '*';
    if (stem) {
      line.remove_suffix(1);
    }
    return read_entry(line, stem);
  }

  const char* read_entry(std::string_view line, bool stem) {
    std::string key;
    bool word = false;  // the last character is of a word
    bool gap = false;
    std::size_t count = 0;
    std::array<char, 8> lower;
    for (const base::Decoded& code : base::CodePoints(line)) {
      std::array<char, 4> bytes;
      if (code.status != base::Utf8Status::Valid) {
        return "not UTF-8";
      }
      const std::size_t length = base::encode_utf8(code.code_point, bytes);
      const text::Script script = text::script_of(code.code_point);
      const bool ascii_digit = code.code_point >= U'0' && code.code_point <= U'9';
      if (script == text::Script::Latin || ascii_digit || is_apostrophe(code.code_point)) {
        if (is_apostrophe(code.code_point) && (!word || gap)) {
          return "an apostrophe outside a word";
        }
        if (word && gap) {
          key += ' ';
        } else if (gap && !key.empty()) {
          return "a space beside a Chinese character";
        }
        count += !word || gap ? 1 : 0;
        key.append(lower.data(),
                   text::copy_lower({bytes.data(), length}, lower.data(), lower.size()));
        word = true;
      } else if (script == text::Script::Han) {
        if (gap) {
          return "a space beside a Chinese character";
        }
        key.append(bytes.data(), length);
        ++count;
        word = false;
      } else if (code.code_point == U' ' && !key.empty()) {
        gap = true;
        continue;
      } else {
        return "an entry is words, Chinese characters and single spaces";
      }
      gap = false;
    }
    if (key.empty() || (stem && !word)) {
      return "an entry is empty, or '*' stands behind no word";
    }
    if (junk_) {
      if (count != 1 || stem || !word) {
        return "junk is one whole word a line";
      }
      words.push_back(kept(hashed(kHashStart, key)));
    } else {
      entries.push_back({std::move(key), stem || !word ? End::Anywhere : End::Word});
    }
    return nullptr;
  }

  bool in_section_ = false;
  bool junk_ = false;
};

BlockList::BlockList() { build({}, {}); }

Result<BlockList> BlockList::parse(std::string_view text, std::string_view name) {
  Parser parser;
  if (Status status = parser.read(text, name); !status) {
    return std::move(status).error();
  }
  BlockList list;
  list.build(std::move(parser.entries), std::move(parser.words));
  return list;
}

Result<BlockList> BlockList::open(const std::string& path) {
  auto files = files_of(path);
  if (!files) {
    return files.error();
  }
  Parser parser;
  for (const std::string& name : *files) {
    auto file = base::MappedFile::open(name, kMaxFileBytes);
    if (!file) {
      return file.error();
    }
    const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()),
                                file->bytes().size());
    if (Status status = parser.read(text, name); !status) {
      return std::move(status).error();
    }
  }
  BlockList list;
  list.build(std::move(parser.entries), std::move(parser.words));
  return list;
}

void BlockList::build(std::vector<Entry> entries, std::vector<std::uint64_t> words) {
  entries_ = entries.size() + words.size();
  // Half full at most, and never without a free place, where a search ends.
  std::size_t places = 2;
  while (places < 2 * words.size() + 2) {
    places *= 2;
  }
  words_.assign(places, 0);
  for (const std::uint64_t hash : words) {
    std::size_t at = hash & (places - 1);
    while (words_[at] != 0 && words_[at] != hash) {
      at = (at + 1) & (places - 1);
    }
    words_[at] = hash;
  }

  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.key != b.key ? a.key < b.key : a.end > b.end;  // of two alike the wider one
  });
  // Breadth first: every node owns the range of entries that share its first `depth` bytes.
  struct Pending {
    std::size_t first, last, depth;
  };
  std::vector<Pending> queue = {{0, entries.size(), 0}};
  nodes_.assign(1, {});
  root_.fill(kNone);
  for (std::size_t node = 0; node < queue.size(); ++node) {
    auto [first, last, depth] = queue[node];
    if (first < last && entries[first].key.size() == depth) {
      nodes_[node].end = entries[first].end;
    }
    while (first < last && entries[first].key.size() == depth) {
      ++first;
    }
    nodes_[node].first_child = static_cast<std::uint32_t>(queue.size());
    while (first < last) {
      const char label = entries[first].key[depth];
      std::size_t end = first + 1;
      while (end < last && entries[end].key[depth] == label) {
        ++end;
      }
      if (node == 0) {
        root_[static_cast<std::uint8_t>(label)] = static_cast<std::uint32_t>(queue.size());
      }
      queue.push_back({first, end, depth + 1});
      nodes_.push_back({.label = static_cast<std::uint8_t>(label)});
      ++nodes_[node].children;
      first = end;
    }
  }
}

std::uint32_t BlockList::child(std::uint32_t node, std::uint8_t label) const {
  if (node == 0) {
    return root_[label];
  }
  const Node& from = nodes_[node];
  for (std::uint32_t i = from.first_child; i < from.first_child + from.children; ++i) {
    if (nodes_[i].label == label) {
      return i;
    }
  }
  return kNone;
}

bool BlockList::holds_word(std::uint64_t hash) const {
  hash = kept(hash);
  for (std::size_t at = hash & (words_.size() - 1); words_[at] != 0;
       at = (at + 1) & (words_.size() - 1)) {
    if (words_[at] == hash) {
      return true;
    }
  }
  return false;
}

BlockContext BlockList::after(std::string_view before) const {
  // What began further back than the longest entry cannot reach the caret.
  if (before.size() > 2 * kMaxEntryBytes) {
    std::size_t cut = before.size() - 2 * kMaxEntryBytes;
    while (cut < before.size() && (static_cast<unsigned char>(before[cut]) & 0xC0U) == 0x80U) {
      ++cut;
    }
    before.remove_prefix(cut);
  }
  Walk walk(*this, {});
  walk.read(before);
  return walk.context();
}

bool BlockList::blocks(const BlockContext& context, std::string_view candidate) const {
  Walk walk(*this, context);
  walk.enter_candidate();
  walk.read(candidate);
  walk.finish();
  return walk.found();
}

bool BlockList::blocks(std::string_view candidate) const {
  return blocks(BlockContext{}, candidate);
}

bool BlockList::blocks_after(std::string_view before, std::string_view candidate) const {
  return blocks(after(before), candidate);
}

std::size_t BlockList::size_bytes() const {
  return nodes_.size() * sizeof(Node) + words_.size() * sizeof(std::uint64_t) + sizeof(root_);
}

}  // namespace laya::predict
