#include "eval/lines.h"

#include "base/utf8.h"
#include "text/units.h"

namespace laya::eval {
namespace {

bool is_blank(char32_t c) {
  return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F) || c == 0x85 ||
         c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;  // what Python's str.split() cuts at
}

}  // namespace

std::vector<std::string> text_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.back() == '\r') {
      line.remove_suffix(1);
    }
    if (line.find_first_not_of(" \t") != std::string_view::npos) {
      lines.emplace_back(line);
    }
  }
  return lines;
}

std::vector<std::string_view> chosen_lines(const std::vector<std::string>& lines,
                                           std::size_t max_lines) {
  std::vector<std::string_view> chosen;
  for (const std::string& line : lines) {
    if (max_lines != 0 && chosen.size() == max_lines) {
      break;
    }
    if (!words_of(line).empty()) {
      chosen.push_back(line);
    }
  }
  return chosen;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  std::size_t offset = 0;
  while (offset < line.size()) {
    const base::Decoded code = base::decode_utf8(line.substr(offset));
    if (is_blank(code.code_point)) {
      if (offset > begin) {
        words.push_back(line.substr(begin, offset - begin));
      }
      begin = offset + code.length;
    }
    offset += code.length;
  }
  if (line.size() > begin) {
    words.push_back(line.substr(begin));
  }
  return words;
}

std::string lowered(std::string_view text) {
  std::string out;
  text::append_lower(text, &out);
  return out;
}

}  // namespace laya::eval
