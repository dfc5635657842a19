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
    {"wire", {"base", "field"}},
    {"text", {"base", "format"}},
    {"model", {"base", "simd", "format"}},
    {"catalog", {"base", "format"}},
    {"remote", {"base"}},
    {"learn", {"base", "text"}},
    {"pinyin", {"base"}},
    {"field", {"base", "text"}},
    {"predict", {"base", "field", "text", "model", "learn", "pinyin"}},
    {"convert", {"base", "simd", "text", "format", "model"}},
    {"setup", {"base", "field", "format", "catalog", "model", "predict", "remote", "convert"}},
    {"decide", {"base", "text", "model"}},
    {"eval", {"base", "text", "model", "pinyin", "predict"}},
    {"observe", {"base"}},
    {"capi", {"base", "field", "setup", "predict", "decide"}},
    {"train",
     {"base", "simd", "text", "format", "model", "predict",
      "eval"}},  // the last two: for evaluation
    {"frontends", {"base", "field", "wire"}},
};

// Libraries by the beginning of their header's name, and the beginnings of the paths that may
// include them.
struct Library {
  std::string_view header;
  std::vector<std::string_view> allowed;
};
const std::vector<Library> kLibraries{
    {"mlx/",
     {"src/train/", "src/model/gru/gru_mlx_", "src/model/decoder/decoder_mlx",
      "apps/laya-train/bench/training_probe_mlx", "bench/"}},
    {"dnnl", {"src/train/", "bench/"}},
    {"oneapi/", {"src/train/", "bench/"}},
    {"cblas.h", {"src/train/", "apps/", "bench/"}},
    {"sentencepiece", {"src/train/", "apps/"}},
    {"toml++", {"src/setup/", "src/train/"}},
    {"CLI/", {"apps/"}},
    {"xxhash.h", {"src/format/", "src/train/"}},
    {"zstd.h", {"src/convert/", "src/text/"}},
    {"sodium", {"src/catalog/"}},
    {"utf8proc.h", {"src/text/"}},
    {"zip.h", {"src/catalog/"}},
    {"curl/", {"src/remote/"}},
    {"libime/", {"src/pinyin/libime_", "bench/"}},
    {"immintrin.h", {"src/simd/", "src/train/mlx/training_kernels"}},
    {"arm_neon.h", {"src/simd/"}},
};

// Files in which the preprocessor asks about the system: intrinsics and system calls that only some
// have.
const std::vector<std::string_view> kConditionalsAllowed{
    "src/simd/impl/",       "src/simd/platform_",
    "src/simd/float16",     "src/train/mlx/training_kernels",
    "src/train/mlx/memory",
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

/// `text` in two layers of equal size; line breaks stay in both, all else is a space in one.
struct Layers {
  std::string code;  ///< without comments and the insides of literals
  std::string comments;
};

Layers separate(std::string_view text) {
  Layers layers{std::string(text), std::string(text)};
  std::replace_if(
      layers.comments.begin(), layers.comments.end(), [](char c) { return c != '\n'; }, ' ');
  std::size_t i = 0;
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t k = from; k < to && k < text.size(); ++k) {
      if (text[k] != '\n') layers.code[k] = ' ';
    }
  };
  const auto comment = [&](std::size_t from, std::size_t to) {
    blank(from, to);
    text.copy(layers.comments.data() + from, to - from, from);
  };
  while (i < text.size()) {
    if (text.substr(i, 2) == "//") {
      const std::size_t end = std::min(text.find('\n', i), text.size());
      comment(i, end);
      i = end;
    } else if (text.substr(i, 2) == "/*") {
      const std::size_t close = text.find("*/", i + 2);
      const std::size_t end = close == std::string_view::npos ? text.size() : close + 2;
      comment(i, end);
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
  return layers;
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

std::string SourceFile::sub_room() const {
  const std::size_t folder = 4 + room().size() + 1;  // behind "src/predict/"
  const std::size_t end = path.find('/', folder);
  return path.starts_with("src/") && end != std::string::npos ? path.substr(4, end - 4)
                                                              : std::string{};
}

SourceFile parse_source(std::string path, std::string text) {
  SourceFile file;
  file.path = std::move(path);
  file.text = std::move(text);
  const Layers layers = separate(file.text);
  file.code = lines_of(layers.code);
  file.comments = lines_of(layers.comments);
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

namespace {

/// Where a walk along edges comes back to where it was: one complaint a loop, placed by `at_edge`.
struct Edge {
  std::string to;
  std::string place;  ///< "path:line: " of the include that makes it
};
using Graph = std::map<std::string, std::vector<Edge>>;

Complaints loops(const Graph& graph) {
  Complaints complaints;
  std::set<std::string> done;
  std::vector<std::string> stack;
  const std::function<void(const std::string&, const std::string&)> visit =
      [&](const std::string& node, const std::string& place) {
        if (const auto loop = std::find(stack.begin(), stack.end(), node); loop != stack.end()) {
          std::string way;
          for (auto step = loop; step != stack.end(); ++step) way += *step + " -> ";
          complaints.push_back(place + "includes itself: " + way + node);
          return;
        }
        const auto edges = graph.find(node);
        if (edges == graph.end() || done.contains(node)) {
          return;
        }
        stack.push_back(node);
        for (const Edge& edge : edges->second) visit(edge.to, edge.place);
        stack.pop_back();
        done.insert(node);
      };
  for (const auto& [node, edges] : graph) visit(node, {});
  return complaints;
}

/// What a comment may name although it is no file of ours: another project, a document of one.
constexpr std::array<std::string_view, 2> kForeignNames{"llama.cpp", "ggml/docs/gguf.md"};

bool is_file_name(char c) { return is_word(c) || c == '.' || c == '/' || c == '-'; }

/// The words of a line that look like names of sources or documents, without "_test.cpp" and the
/// like, which are ends of names.
std::vector<std::string_view> named_files(std::string_view line) {
  std::vector<std::string_view> names;
  std::size_t i = 0;
  while (i < line.size()) {
    std::size_t end = i;
    while (end < line.size() && is_file_name(line[end])) ++end;
    std::string_view word = line.substr(i, end - i);
    while (word.ends_with('.')) word.remove_suffix(1);  // the end of a sentence
    const std::size_t stem = std::min(word.find_last_of("/") + 1, word.size());
    const bool whole = stem < word.size() && word[stem] != '_' && word[stem] != '.';
    if (whole && !word.starts_with('/') &&
        (word.ends_with(".h") || word.ends_with(".cpp") || word.ends_with(".md"))) {
      names.push_back(word);
    }
    i = std::max(end, i + 1);
  }
  return names;
}

}  // namespace

Complaints check_cycles(const Files& files) {
  Graph graph;
  for (const SourceFile& file : files) {
    if (!file.path.starts_with("src/")) continue;
    std::vector<Edge>& edges = graph[file.path.substr(4)];
    for (const Include& include : file.includes) {
      if (include.quoted) edges.push_back({include.target, at(file, include.line)});
    }
  }
  return loops(graph);
}

Complaints check_sub_rooms(const Files& files) {
  Graph graph;
  for (const SourceFile& file : files) {
    const std::string here = file.sub_room();
    if (here.empty() || file.is_test() || file.has_main) continue;
    for (const Include& include : file.includes) {
      const std::size_t slash = include.target.rfind('/');
      if (!include.quoted || slash == std::string::npos) continue;
      const std::string there = parse_source("src/" + include.target, {}).sub_room();
      if (!there.empty() && there != here && include.target.starts_with(file.room() + "/")) {
        graph[here].push_back({there, at(file, include.line)});
      }
    }
  }
  return loops(graph);
}

Complaints check_named_files(const Files& files, const std::vector<std::string>& paths) {
  const auto exists = [&](std::string_view name) {
    return std::any_of(paths.begin(), paths.end(), [&](std::string_view path) {
      return path == name || (path.ends_with(name) && path[path.size() - name.size() - 1] == '/');
    });
  };
  Complaints complaints;
  for (const SourceFile& file : files) {
    for (std::size_t i = 0; i < file.comments.size(); ++i) {
      for (const std::string_view name : named_files(file.comments[i])) {
        const bool foreign =
            std::find(kForeignNames.begin(), kForeignNames.end(), name) != kForeignNames.end();
        if (!foreign && !exists(name)) {
          complaints.push_back(at(file, i + 1) + "names " + std::string(name) +
                               ", which is no file of the repository");
        }
      }
    }
  }
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

/// Between fork and exec there is no caller to return an Error to.
constexpr std::string_view kForkedChild = "src/base/child_process.cpp";

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
        const bool forked = name == "_exit" && file.path == kForkedChild;
        if (!forked && calls(line, name)) {
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
