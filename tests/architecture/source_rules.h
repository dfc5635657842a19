// The rules of the rooms (docs/MAP.md), as functions over source files, so that they can be tried
// on files that break them. Each returns complaints, one line each: "path:line: what, and what is
// allowed".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace laya::architecture {

struct Include {
  std::string target;  ///< as written between the quotes or angle brackets
  bool quoted = false;
  int line = 0;
};

/// One source file, cut into what the rules look at.
struct SourceFile {
  std::string path;  ///< from the top of the repository, '/' between folders
  std::string text;  ///< as it is
  std::vector<std::string>
      code;  ///< its lines without comments and without what stands in string literals
  std::vector<std::string> comments;  ///< the other way round: its lines with nothing but comments
  std::vector<Include> includes;
  bool has_main = false;  ///< a program, not a library

  bool is_header() const;
  bool is_test() const;          ///< *_test.cpp, or a helper of tests (test_*, sample_*)
  std::string room() const;      ///< "simd" for src/simd/…, "apps", "frontends", "" for all else
  std::string sub_room() const;  ///< "predict/list" for src/predict/list/…, "" outside one
};

/// Takes `text` apart. A raw string literal counts as a string up to its end.
SourceFile parse_source(std::string path, std::string text);

using Files = std::vector<SourceFile>;
using Complaints = std::vector<std::string>;

/// Every quoted include of a room lies in a room that the table of the design allows it.
Complaints check_rooms(const Files& files);
/// No file includes itself, however far around.
Complaints check_cycles(const Files& files);
/// The folders inside a room include each other in one direction only (docs/MAP.md has the order).
/// Tests, their helpers and programs may reach anywhere in their room.
Complaints check_sub_rooms(const Files& files);
/// A file that a comment names (by an ending of sources or of Markdown, with or without folders) is
/// one of `paths`, or the end of one.
Complaints check_named_files(const Files& files, const std::vector<std::string>& paths);
/// MLX, oneDNN, sentencepiece, CLI11 … only where the design lets them in.
Complaints check_libraries(const Files& files);
/// At most 600 lines.
Complaints check_lengths(const Files& files);
/// Library rooms neither print, nor end the process, nor swallow exceptions.
Complaints check_library_manners(const Files& files);
/// `#pragma once` stands in every header before anything but comments.
Complaints check_pragma_once(const Files& files);
/// #if only where CMake cannot choose the file (a short list).
Complaints check_conditionals(const Files& files);
/// No path of a developer's machine, in any file.
Complaints check_machine_paths(const Files& files);

}  // namespace laya::architecture
