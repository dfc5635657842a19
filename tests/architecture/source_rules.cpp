#include "source_rules.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

namespace laya::architecture {
namespace {

// The table of docs/MAP.md. A room may always include itself and the C++ library. Programs may
// include every room.
const std::map<std::string, std::set<std::string>> kRooms{
    {"base", {}},
    {"simd", {"base"}},
    {"format", {"base"}},
    {"wire", {"base"}},
    {"text", {"base", "format"}},
    {"model", {"base", "simd", "format"}},
    {"catalog", {"base", "format"}},
    {"remote", {"base"}},
    {"learn", {"base", "text"}},
    {"pinyin", {"base"}},
    {"predict", {"base", "text", "model", "learn", "pinyin"}},
    {"decide", {"base", "text", "model"}},
    {"eval", {"base", "text", "model", "pinyin", "predict"}},
    {"observe", {"base"}},
    {"capi", {"base", "predict", "decide"}},
    {"train",
     {"base", "simd", "text", "format", "model", "predict",
      "eval"}},  // the last two: for evaluation
    {"frontends", {"base", "wire"}},
};

// Libraries by the beginning of their header's name, and the beginnings of the paths that may
// include them.
struct Library {
  std::string_view header;
  std::vector<std::string_view> allowed;
};
const std::vector<Library> kLibraries{
    {"mlx/",
     {"src/train/", "src/model/mlx_", "src/model/decoder_mlx", "apps/laya/training_probe_mlx",
      "bench/"}},
    {"dnnl", {"src/train/", "bench/"}},
    {"oneapi/", {"src/train/", "bench/"}},
    {"cblas.h", {"src/train/", "apps/", "bench/"}},
    {"sentencepiece", {"src/train/", "apps/"}},
    {"toml++", {"src/train/", "apps/"}},
    {"CLI/", {"apps/"}},
    {"xxhash.h", {"src/format/", "src/train/"}},
    {"sodium", {"src/catalog/"}},
    {"utf8proc.h", {"src/text/"}},
    {"zip.h", {"src/catalog/"}},
    {"curl/", {"src/remote/"}},
    {"libime/", {"src/pinyin/libime_", "bench/"}},
    {"immintrin.h", {"src/simd/", "src/train/kernels"}},
    {"arm_neon.h", {"src/simd/"}},
};

// Files in which the preprocessor asks about the system: intrinsics and system calls that only some
// have.
const std::vector<std::string_view> kConditionalsAllowed{
    "src/simd/impl/",    "src/simd/platform_", "src/simd/float16",
    "src/train/kernels", "src/train/memory",
};

constexpr std::size_t kMaxLines = 600;

bool starts_with_any(std::string_view text, const std::vector<std::string_view>& starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view s) { return text.starts_with(s); });
}

std::string at(const SourceFile& file, std::size_t line) {
  return file.path + ":" + std::to_string(line) + ": ";
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// `name` as a whole word followed by '(' in `line`.
bool calls(std::string_view line, std::string_view name) {
  for (std::size_t i = line.find(name); i != std::string_view::npos; i = line.find(name, i + 1)) {
    const bool starts = i == 0 || !is_word(line[i - 1]);
    // A member of the same name (x.exit(), p->abort()) is something else.
    const bool member =
        i > 0 && (line[i - 1] == '.' || (i > 1 && line[i - 2] == '-' && line[i - 1] == '>'));
    std::size_t end = i + name.size();
    while (end < line.size() && line[end] == ' ') ++end;
    if (starts && !member && end < line.size() && line[end] == '(') {
      return true;
    }
  }
  return false;
}

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r'))
    line.remove_suffix(1);
  return line;
}

/// The word after '#' of a preprocessor line, "" for other lines; `rest` becomes what follows.
std::string_view directive(std::string_view line, std::string_view& rest) {
  line = trimmed(line);
  if (!line.starts_with('#')) {
    return {};
  }
  line = trimmed(line.substr(1));
  std::size_t end = 0;
  while (end < line.size() && is_word(line[end])) ++end;
  rest = trimmed(line.substr(end));
  return line.substr(0, end);
}

/// `text` with comments and the insides of literals replaced by spaces; line breaks stay.
std::string strip(std::string_view text) {
  std::string out(text);
  std::size_t i = 0;
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t k = from; k < to && k < out.size(); ++k) {
      if (out[k] != '\n') out[k] = ' ';
    }
  };
  while (i < text.size()) {
    if (text.substr(i, 2) == "//") {
      const std::size_t end = std::min(text.find('\n', i), text.size());
      blank(i, end);
      i = end;
    } else if (text.substr(i, 2) == "/*") {
      const std::size_t close = text.find("*/", i + 2);
      const std::size_t end = close == std::string_view::npos ? text.size() : close + 2;
      blank(i, end);
      i = end;
    } else if (text.substr(i, 2) == "R\"" && (i == 0 || !is_word(text[i - 1]))) {
      const std::size_t open = std::min(text.find('(', i), text.size());
      const std::string end_mark = ")" + std::string(text.substr(i + 2, open - i - 2)) + "\"";
      const std::size_t close = text.find(end_mark, open);
      const std::size_t end =
          close == std::string_view::npos ? text.size() : close + end_mark.size();
      blank(i, end);
      i = end;
    } else if (text[i] == '"' ||
               (text[i] == '\'' && (i == 0 || !is_word(text[i - 1])))) {  // not the ' of 1'000
      std::size_t end = i + 1;
      while (end < text.size() && text[end] != text[i] && text[end] != '\n') {
        end += text[end] == '\\' ? 2 : 1;
      }
      blank(i + 1, end);
      i = end + 1;
    } else {
      ++i;
    }
  }
  return out;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

bool SourceFile::is_header() const { return path.ends_with(".h"); }

bool SourceFile::is_test() const {
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  return name.ends_with("_test.cpp") || name.starts_with("test_") || name.starts_with("sample_");
}

std::string SourceFile::room() const {
  const std::size_t first = path.find('/');
  if (first == std::string::npos) {
    return {};
  }
  const std::string top = path.substr(0, first);
  if (top != "src") {
    return top;
  }
  const std::size_t second = path.find('/', first + 1);
  return second == std::string::npos ? std::string{} : path.substr(first + 1, second - first - 1);
}

SourceFile parse_source(std::string path, std::string text) {
  SourceFile file;
  file.path = std::move(path);
  file.text = std::move(text);
  file.code = lines_of(strip(file.text));
  const std::vector<std::string> raw = lines_of(file.text);
  for (std::size_t i = 0; i < file.code.size(); ++i) {
    std::string_view rest;
    // The stripped line says that it is no comment, the raw one has the name between the quotes.
    if (directive(file.code[i], rest) == "include") {
      directive(raw[i], rest);
      const bool quoted = rest.starts_with('"');
      const std::size_t end = rest.find(quoted ? '"' : '>', 1);
      if (end != std::string_view::npos) {
        file.includes.push_back(
            {std::string(rest.substr(1, end - 1)), quoted, static_cast<int>(i) + 1});
      }
    }
    file.has_main = file.has_main || std::string_view(file.code[i]).starts_with("int main(");
  }
  return file;
}

Complaints check_rooms(const Files& files) {
  Complaints complaints;
  for (const SourceFile& file : files) {
    const std::string room = file.room();
    const bool library = file.path.starts_with("src/");
    const auto row = kRooms.find(room);
    if (row == kRooms.end()) {
      if (library)
        complaints.push_back(at(file, 1) + "room \"" + room + "\" is not in the table of rooms");
      continue;
    }
    for (const Include& include : file.includes) {
      const std::string target = include.target.substr(0, include.target.find('/'));
      if (!include.quoted ||
          target == "mlx") {  // MLX is a library that is written with quotes; check_libraries
        continue;
      }
      if (include.target.find('/') == std::string::npos && library) {
        complaints.push_back(at(file, include.line) + "\"" + include.target +
                             "\" must be written from src/");
        continue;
      }
      // Tests of every room may count allocations.
      const bool counting = target == "observe" && file.is_test();
      if (kRooms.contains(target) && target != room && !row->second.contains(target) && !counting) {
        complaints.push_back(at(file, include.line) + room + " may not include " + target);
      }
      if (include.target.find("..") != std::string::npos) {
        complaints.push_back(at(file, include.line) + "\"" + include.target +
                             "\" leaves its folder");
      }
    }
  }
  return complaints;
}

Complaints check_cycles(const Files& files) {
  std::map<std::string, const SourceFile*> by_target;
  for (const SourceFile& file : files) {
    if (file.path.starts_with("src/")) by_target[file.path.substr(4)] = &file;
  }
  Complaints complaints;
  std::set<std::string> done;
  std::vector<std::string> stack;
  const std::function<void(const std::string&)> visit = [&](const std::string& target) {
    if (const auto loop = std::find(stack.begin(), stack.end(), target); loop != stack.end()) {
      std::string way;
      for (auto step = loop; step != stack.end(); ++step) way += *step + " -> ";
      complaints.push_back("src/" + target + ":1: includes itself: " + way + target);
      return;
    }
    const auto found = by_target.find(target);
    if (found == by_target.end() || done.contains(target)) {
      return;
    }
    stack.push_back(target);
    for (const Include& include : found->second->includes) {
      if (include.quoted) visit(include.target);
    }
    stack.pop_back();
    done.insert(target);
  };
  for (const auto& [target, file] : by_target) visit(target);
  return complaints;
}

Complaints check_libraries(const Files& files) {
  Complaints complaints;
  for (const SourceFile& file : files) {
    for (const Include& include : file.includes) {
      for (const Library& library : kLibraries) {
        if (include.target.starts_with(library.header) &&
            !starts_with_any(file.path, library.allowed) && !file.is_test()) {
          complaints.push_back(at(file, include.line) + "may not include " + include.target);
        }
      }
    }
  }
  return complaints;
}

Complaints check_lengths(const Files& files) {
  Complaints complaints;
  for (const SourceFile& file : files) {
    if (file.code.size() > kMaxLines) {
      complaints.push_back(at(file, kMaxLines) + std::to_string(file.code.size()) +
                           " lines, split at " + std::to_string(kMaxLines));
    }
  }
  return complaints;
}

Complaints check_library_manners(const Files& files) {
  constexpr std::array<std::string_view, 12> kForbiddenCalls{
      "printf", "fprintf", "vprintf", "puts",       "fputs",     "putchar",
      "exit",   "_exit",   "abort",   "quick_exit", "terminate", "perror"};
  Complaints complaints;
  for (const SourceFile& file : files) {
    if (!file.path.starts_with("src/") || file.is_test() || file.has_main) {
      continue;
    }
    for (const Include& include : file.includes) {
      if (include.target == "iostream")
        complaints.push_back(at(file, include.line) + "a library does not print");
    }
    for (std::size_t i = 0; i < file.code.size(); ++i) {
      const std::string_view line = file.code[i];
      for (const std::string_view name : kForbiddenCalls) {
        if (calls(line, name)) {
          complaints.push_back(at(file, i + 1) + std::string(name) +
                               "() in a library: return an Error");
        }
      }
      for (const std::string_view name : {"std::cout", "std::cerr", "std::clog"}) {
        if (line.find(name) != std::string_view::npos) {
          complaints.push_back(at(file, i + 1) + std::string(name) +
                               " in a library: return an Error or take a LogSink");
        }
      }
      if (line.find("catch (...) {}") != std::string_view::npos) {
        complaints.push_back(at(file, i + 1) + "swallows an exception");
      }
    }
  }
  return complaints;
}

Complaints check_pragma_once(const Files& files) {
  Complaints complaints;
  for (const SourceFile& file : files) {
    if (!file.is_header()) {
      continue;
    }
    const auto first = std::find_if(file.code.begin(), file.code.end(),
                                    [](const auto& line) { return !trimmed(line).empty(); });
    if (first == file.code.end() || trimmed(*first) != "#pragma once") {
      complaints.push_back(at(file, 1) + "#pragma once must come first");
    }
  }
  return complaints;
}

Complaints check_conditionals(const Files& files) {
  Complaints complaints;
  for (const SourceFile& file : files) {
    if (starts_with_any(file.path, kConditionalsAllowed)) {
      continue;
    }
    for (std::size_t i = 0; i < file.code.size(); ++i) {
      std::string_view rest;
      const std::string_view word = directive(file.code[i], rest);
      if (word == "if" || word == "ifdef" || word == "ifndef" || word == "elif") {
        complaints.push_back(at(file, i + 1) + "#" + std::string(word) +
                             ": let CMake choose a file instead");
      }
    }
  }
  return complaints;
}

Complaints check_machine_paths(const Files& files) {
  // In two pieces, so that this file passes.
  const std::array<std::string, 5> kPaths{
      "/wo"
      "rk/",
      "/ro"
      "ot/",
      "/ho"
      "me/",
      "/tmp/la"
      "ya",
      "/Us"
      "ers/"};
  Complaints complaints;
  for (const SourceFile& file : files) {
    const std::vector<std::string> raw = lines_of(file.text);
    for (std::size_t i = 0; i < raw.size(); ++i) {
      for (const std::string& path : kPaths) {
        if (raw[i].find(path) != std::string::npos) {
          complaints.push_back(at(file, i + 1) + "holds a path of one machine (" + path + ")");
        }
      }
    }
  }
  return complaints;
}

}  // namespace laya::architecture
