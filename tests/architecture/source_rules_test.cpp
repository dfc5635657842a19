// The rules on files that break them: a checker that cannot fail checks nothing.
#include "source_rules.h"

#include <gtest/gtest.h>

namespace laya::architecture {
namespace {

Files one(std::string path, std::string text) {
  Files files;
  files.push_back(parse_source(std::move(path), std::move(text)));
  return files;
}

TEST(ParseSource, LooksPastCommentsAndLiterals) {
  const SourceFile file =
      parse_source("src/base/a.cpp",
                   "// #include \"simd/no.h\"\n/* #include \"simd/no.h\"\n#include \"simd/no.h\" "
                   "*/\n#include \"base/yes.h\"  // exit(1)\n"
                   "#  include <vector>\nconst char* s = \"exit(1) // \\\" still\"; int n = "
                   "1'000'000; char q = '\"'; f(n);\n"
                   "const char* raw = R\"x(exit(1) \" )y\" )x\"; g();\nint main(int) {}\n");
  ASSERT_EQ(file.includes.size(), 2u);
  EXPECT_EQ(file.includes[0].target, "base/yes.h");
  EXPECT_TRUE(file.includes[0].quoted);
  EXPECT_EQ(file.includes[0].line, 4);
  EXPECT_EQ(file.includes[1].target, "vector");
  EXPECT_EQ(file.code[3].find("exit"), std::string::npos);
  EXPECT_EQ(file.code[5].find("exit"), std::string::npos);
  EXPECT_NE(file.code[5].find("f(n);"), std::string::npos) << file.code[5];
  EXPECT_EQ(file.code[6].find("exit"), std::string::npos);
  EXPECT_NE(file.code[6].find("g();"), std::string::npos) << file.code[6];
  EXPECT_TRUE(file.has_main);
}

TEST(Rules, ARoomIncludesOnlyItsRow) {
  EXPECT_TRUE(check_rooms(one("src/text/a.h",
                              "#include \"base/utf8.h\"\n#include \"text/b.h\"\n#include <map>\n"))
                  .empty());
  const Complaints found = check_rooms(one("src/text/a.h", "\n#include \"model/x.h\"\n"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0], "src/text/a.h:2: text may not include model");
  EXPECT_EQ(check_rooms(one("src/base/a.h", "#include \"format/x.h\"\n")).size(), 1u);
  EXPECT_EQ(check_rooms(one("src/base/a.h", "#include \"b.h\"\n")).size(), 1u)
      << "not written from src";
  EXPECT_EQ(check_rooms(one("src/base/a.h", "#include \"base/../simd/x.h\"\n")).size(), 1u);
  EXPECT_EQ(check_rooms(one("src/nowhere/a.h", "")).size(), 1u);
  EXPECT_EQ(check_rooms(one("frontends/ibus/a.cpp", "#include \"model/x.h\"\n")).size(), 1u);
  EXPECT_TRUE(
      check_rooms(one("apps/laya/a.cpp", "#include \"model/x.h\"\n#include \"b.h\"\n")).empty());
  EXPECT_EQ(check_rooms(one("src/text/a.cpp", "#include \"observe/x.h\"\n")).size(), 1u);
  EXPECT_TRUE(check_rooms(one("src/text/a_test.cpp", "#include \"observe/x.h\"\n")).empty());
}

TEST(Rules, CyclesAreFoundHoweverLong) {
  Files files;
  files.push_back(parse_source("src/base/a.h", "#include \"base/b.h\"\n"));
  files.push_back(parse_source("src/base/b.h", "#include \"base/c.h\"\n"));
  files.push_back(parse_source("src/base/c.h", "#include <vector>\n"));
  EXPECT_TRUE(check_cycles(files).empty());
  files.push_back(parse_source("src/base/d.h", "#include \"base/d.h\"\n"));
  EXPECT_EQ(check_cycles(files).size(), 1u);
  files[2] = parse_source("src/base/c.h", "#include \"base/a.h\"\n");
  ASSERT_EQ(check_cycles(files).size(), 2u);
  EXPECT_NE(check_cycles(files)[0].find("base/a.h -> base/b.h -> base/c.h -> base/a.h"),
            std::string::npos);
}

TEST(Rules, LibrariesStayWhereTheyBelong) {
  EXPECT_EQ(check_libraries(one("src/predict/a.cpp", "#include <mlx/array.h>\n")).size(), 1u);
  EXPECT_EQ(check_libraries(one("src/predict/a.cpp", "#include \"mlx/array.h\"\n")).size(), 1u);
  EXPECT_TRUE(check_libraries(one("src/model/gru/gru_mlx_backend.cpp", "#include <mlx/array.h>\n"))
                  .empty());
  EXPECT_EQ(
      check_libraries(one("src/model/gru/gru_cpu_backend.cpp", "#include <immintrin.h>\n")).size(),
      1u);
}

TEST(Rules, LongFilesAreNamed) {
  EXPECT_TRUE(check_lengths(one("src/base/a.cpp", std::string(600, '\n'))).empty());
  EXPECT_EQ(check_lengths(one("src/base/a.cpp", std::string(601, '\n'))).size(), 1u);
}

TEST(Rules, SubRoomsIncludeEachOtherOneWay) {
  Files files;
  files.push_back(parse_source("src/model/list/a.h", "#include \"model/deep/a.h\"\n"));
  files.push_back(parse_source("src/model/list/b.h", "#include \"model/list/a.h\"\n"));
  files.push_back(parse_source("src/model/deep/a.h", "#include \"model/top.h\"\n"));
  files.push_back(parse_source("src/model/top.h", "#include \"model/core/b.h\"\n"));
  files.push_back(parse_source("src/model/deep/a_test.cpp", "#include \"model/list/a.h\"\n"));
  files.push_back(parse_source("src/model/deep/b.h", "#include \"text/list/a.h\"\n"));
  EXPECT_TRUE(check_sub_rooms(files).empty());  // no file includes itself, tests reach anywhere
  files.push_back(parse_source("src/model/core/a.h", "\n#include \"model/list/b.h\"\n"));
  EXPECT_TRUE(check_sub_rooms(files).empty());
  files.push_back(parse_source("src/model/deep/c.cpp", "\n\n#include \"model/core/a.h\"\n"));
  const Complaints found = check_sub_rooms(files);
  ASSERT_EQ(found.size(), 1u) << "three folders in a ring, though no file includes itself";
  EXPECT_NE(found[0].find("model/core -> model/list -> model/deep -> model/core"),
            std::string::npos)
      << found[0];
  EXPECT_TRUE(check_cycles(files).empty());
}

TEST(Rules, CommentsNameFilesThatExist) {
  const std::vector<std::string> paths{"src/base/utf8.h", "src/format/FORMAT.md"};
  for (const char* good : {"// see utf8.h.", "/* base/utf8.h */", "// src/base/utf8.h, FORMAT.md",
                           "// *_test.cpp", "// llama.cpp does so", "// a.b.c, 1.h2, .md",
                           "const char* s = \"// gone.h\";", "#include \"gone.h\"  // (utf8.h)"}) {
    EXPECT_TRUE(check_named_files(one("src/base/a.h", good), paths).empty()) << good;
  }
  for (const char* bad : {"// see gone.h.", "/* x\ngone.cpp */", "int a;  ///< gone.md, 3",
                          "// (text/utf8.h)", "// tf8.h"}) {
    EXPECT_EQ(check_named_files(one("src/base/a.h", bad), paths).size(), 1u) << bad;
  }
}

TEST(Rules, LibrariesNeitherPrintNorExit) {
  for (const char* bad : {"std::printf(\"x\");", "exit(1);", "std::abort ();", "std::cerr << x;",
                          "#include <iostream>", "try { f(); } catch (...) {}", "  puts(s);"}) {
    EXPECT_EQ(check_library_manners(one("src/base/a.cpp", std::string(bad) + "\n")).size(), 1u)
        << bad;
  }
  for (const char* good : {"std::snprintf(b, n, \"x\");", "loop.exit();", "p->abort();",
                           "on_exit(1);", "int exit = 1;", "// exit(1)", "outputs(s);"}) {
    EXPECT_TRUE(check_library_manners(one("src/base/a.cpp", std::string(good) + "\n")).empty())
        << good;
  }
  EXPECT_TRUE(check_library_manners(one("apps/laya/a.cpp", "exit(1);\n")).empty());
  EXPECT_TRUE(
      check_library_manners(one("src/base/tool.cpp", "int main() {\n  puts(x);\n}\n")).empty());
}

TEST(Rules, HeadersBeginWithPragmaOnce) {
  EXPECT_TRUE(check_pragma_once(one("src/base/a.h", "// about\n\n#pragma once\n")).empty());
  EXPECT_EQ(
      check_pragma_once(one("src/base/a.h", "// about\n#include <map>\n#pragma once\n")).size(),
      1u);
  EXPECT_EQ(check_pragma_once(one("src/base/a.h", "")).size(), 1u);
  EXPECT_TRUE(check_pragma_once(one("src/base/a.cpp", "")).empty());
}

TEST(Rules, ConditionalsOnlyWhereTheSystemIsAsked) {
  EXPECT_EQ(check_conditionals(one("src/model/a.cpp", "#ifdef LAYA_HAVE_MLX\n#endif\n")).size(),
            1u);
  EXPECT_EQ(check_conditionals(one("src/model/a.cpp", "# if defined(X)\n#elif Y\n#endif\n")).size(),
            2u);
  EXPECT_TRUE(
      check_conditionals(one("src/simd/impl/a.h", "#if defined(__AVX2__)\n#endif\n")).empty());
}

TEST(Rules, MachinePathsAreFoundInCommentsToo) {
  EXPECT_EQ(check_machine_paths(one("README.md", std::string("see /wo") + "rk/shared\n")).size(),
            1u);
  EXPECT_TRUE(check_machine_paths(one("README.md", "this framework/that\n")).empty());
}

}  // namespace
}  // namespace laya::architecture
