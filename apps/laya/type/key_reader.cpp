#include "laya/type/key_reader.h"

#include <algorithm>

#include "base/utf8.h"

namespace laya::apps {
namespace {

constexpr char kEscape = '\x1b';
constexpr std::string_view kPasteStart = "\x1b[200~";
constexpr std::string_view kPasteEnd = "\x1b[201~";

struct Sequence {
  std::string_view bytes;  // behind ESC
  KeyKind kind;
  int number = 0;
};

// xterm's "CSI 1 ; modifier X" forms are folded to these by taking the modifier out first.
constexpr Sequence kSequences[] = {
    {"[A", KeyKind::Up},          {"[B", KeyKind::Down},         {"[C", KeyKind::Right},
    {"[D", KeyKind::Left},        {"OA", KeyKind::Up},           {"OB", KeyKind::Down},
    {"OC", KeyKind::Right},       {"OD", KeyKind::Left},         {"[H", KeyKind::Home},
    {"[F", KeyKind::End},         {"OH", KeyKind::Home},         {"OF", KeyKind::End},
    {"[1~", KeyKind::Home},       {"[7~", KeyKind::Home},        {"[4~", KeyKind::End},
    {"[8~", KeyKind::End},        {"[3~", KeyKind::Delete},      {"OP", KeyKind::Pick, 1},
    {"OQ", KeyKind::Pick, 2},     {"OR", KeyKind::Pick, 3},      {"OS", KeyKind::Pick, 4},
    {"[[A", KeyKind::Pick, 1},    {"[[B", KeyKind::Pick, 2},     {"[[C", KeyKind::Pick, 3},
    {"[[D", KeyKind::Pick, 4},    {"[[E", KeyKind::Pick, 5},     {"[11~", KeyKind::Pick, 1},
    {"[12~", KeyKind::Pick, 2},   {"[13~", KeyKind::Pick, 3},    {"[14~", KeyKind::Pick, 4},
    {"[15~", KeyKind::Pick, 5},   {"[17~", KeyKind::Pick, 6},    {"[18~", KeyKind::Pick, 7},
    {"[19~", KeyKind::Pick, 8},   {"[20~", KeyKind::Pick, 9},    {"[1;5C", KeyKind::WordRight},
    {"[1;5D", KeyKind::WordLeft}, {"[1;3C", KeyKind::WordRight}, {"[1;3D", KeyKind::WordLeft},
    {"b", KeyKind::WordLeft},     {"f", KeyKind::WordRight},     {"\x7f", KeyKind::EraseWord},
};

bool is_final(char c) { return c >= '@' && c <= '~'; }

/// Length of the CSI or SS3 sequence behind ESC, 0 while it is incomplete.
std::size_t sequence_length(std::string_view bytes) {
  if (bytes[0] == 'O') {
    return bytes.size() < 2 ? 0 : 2;
  }
  if (bytes.substr(0, 2) == "[[") {  // Linux console function keys
    return bytes.size() < 3 ? 0 : 3;
  }
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    if (is_final(bytes[i])) {
      return i + 1;
    }
    if (static_cast<unsigned char>(bytes[i]) < 0x20) {
      return i;  // broken off
    }
  }
  return 0;
}

std::string cleaned(std::string_view paste) {
  std::string out;
  out.reserve(paste.size());
  for (std::size_t i = 0; i < paste.size(); ++i) {
    const char c = paste[i];
    if (c == '\r') {
      if (i + 1 == paste.size() || paste[i + 1] != '\n') out += '\n';
    } else if (static_cast<unsigned char>(c) >= 0x20 ? c != '\x7f' : c == '\n' || c == '\t') {
      out += c;
    }
  }
  return out;
}

}  // namespace

void KeyReader::feed(std::string_view bytes, std::vector<Key>& keys) {
  if (pasting_ && bytes == "\x03") {  // alone: pressed, not pasted
    flush(keys);
    keys.push_back({KeyKind::Quit, {}});
    return;
  }
  pending_ += bytes;
  std::size_t at = 0;
  while (at < pending_.size()) {
    const std::string_view rest = std::string_view(pending_).substr(at);
    const std::size_t used = pasting_ ? read_paste(rest, keys) : read_one(rest, keys);
    if (used == 0) {
      break;
    }
    at += used;
  }
  pending_.erase(0, at);
}

void KeyReader::end_paste(std::vector<Key>& keys) {
  keys.push_back({KeyKind::Paste, cleaned(paste_)});
  paste_.clear();
  paste_.shrink_to_fit();
  pasting_ = false;
}

void KeyReader::flush(std::vector<Key>& keys) {
  if (pasting_) {
    paste_ += pending_;  // kept back, but no beginning of an end mark after all
    pending_.clear();
    end_paste(keys);
    return;
  }
  if (!waits()) {
    return;
  }
  if (pending_.front() == kEscape) {
    keys.push_back({KeyKind::Escape, {}});
  }
  pending_.clear();
}

std::size_t KeyReader::read_one(std::string_view bytes, std::vector<Key>& keys) {
  const char first = bytes.front();
  if (first == kEscape) {
    return read_escape(bytes, keys);
  }
  if (static_cast<unsigned char>(first) >= 0x20 && first != '\x7f') {
    const base::Decoded decoded = base::decode_utf8(bytes);
    if (decoded.status == base::Utf8Status::Incomplete) {
      return 0;
    }
    if (decoded.status == base::Utf8Status::Valid &&
        !(decoded.code_point >= 0x80 && decoded.code_point < 0xA0)) {
      keys.push_back({KeyKind::Text, std::string(bytes.substr(0, decoded.length))});
    }
    return decoded.length;  // what is no character is no key
  }
  switch (first) {
    case '\0':
      keys.push_back({KeyKind::Pinyin, {}});
      break;
    case '\r':
    case '\n':
      keys.push_back({KeyKind::Enter, {}});
      break;
    case '\t':
      keys.push_back({KeyKind::Tab, {}});
      break;
    case '\x7f':
    case '\x08':
      keys.push_back({KeyKind::Backspace, {}});
      break;
    case '\x01':
      keys.push_back({KeyKind::Home, {}});
      break;
    case '\x02':
      keys.push_back({KeyKind::Left, {}});
      break;
    case '\x03':
    case '\x04':
      keys.push_back({KeyKind::Quit, {}});
      break;
    case '\x05':
      keys.push_back({KeyKind::End, {}});
      break;
    case '\x06':
      keys.push_back({KeyKind::Right, {}});
      break;
    case '\x0c':
      keys.push_back({KeyKind::Redraw, {}});
      break;
    case '\x15':
      keys.push_back({KeyKind::EraseLine, {}});
      break;
    case '\x17':
      keys.push_back({KeyKind::EraseWord, {}});
      break;
    default:
      break;
  }
  return 1;
}

std::size_t KeyReader::read_escape(std::string_view bytes, std::vector<Key>& keys) {
  if (bytes.size() == 1) {
    return 0;
  }
  const std::string_view behind = bytes.substr(1);
  if (behind[0] == kEscape) {
    keys.push_back({KeyKind::Escape, {}});
    return 1;
  }
  if (behind[0] >= '1' && behind[0] <= '9') {
    keys.push_back({KeyKind::Pick, {}, behind[0] - '0'});
    return 2;
  }
  std::size_t length = 1;
  if (behind[0] == '[' || behind[0] == 'O') {
    length = sequence_length(behind);
    if (length == 0) {
      return 0;
    }
    if (bytes.substr(0, 1 + length) == kPasteStart) {
      pasting_ = true;
      paste_.clear();
      return kPasteStart.size();
    }
  }
  const std::string_view sequence = behind.substr(0, length);
  const auto* known = std::find_if(std::begin(kSequences), std::end(kSequences),
                                   [&](const Sequence& s) { return s.bytes == sequence; });
  if (known != std::end(kSequences)) {
    keys.push_back({known->kind, {}, known->number});
    return 1 + length;
  }
  if (length == 1 && behind[0] != '[' && behind[0] != 'O') {
    keys.push_back({KeyKind::Escape, {}});  // ESC and a letter typed fast: two keys
    return 1;
  }
  return 1 + length;  // a sequence that means nothing here
}

std::size_t KeyReader::read_paste(std::string_view bytes, std::vector<Key>& keys) {
  const auto take = [this](std::string_view part) {
    paste_ += part.substr(0, kMaxPasteBytes - std::min(kMaxPasteBytes, paste_.size()));
  };
  const std::size_t end = bytes.find(kPasteEnd);
  if (end != std::string_view::npos) {
    take(bytes.substr(0, end));
    end_paste(keys);
    return end + kPasteEnd.size();
  }
  // The end mark may be cut in two: keep what could be its beginning.
  const std::size_t keep = std::min(bytes.size(), kPasteEnd.size() - 1);
  take(bytes.substr(0, bytes.size() - keep));
  return bytes.size() - keep;
}

}  // namespace laya::apps
