// The small tokenizers of testdata/tokenizers and random texts, for tests of this room.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "text/subword_tokenizer.h"

namespace laya::text {

inline const std::vector<std::string> kAllFamilies = {"gpt2",  "smollm", "llama3",
                                                      "qwen2", "gemma",  "llama2"};

inline std::string tokenizer_testdata(const std::string& name) {
  const std::string path = std::string(LAYA_SOURCE_DIR) + "/testdata/tokenizers/" + name;
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    out.push_back(line);
  }
  return out;
}

/// The texts of strings.jsonl.
inline std::vector<std::string> golden_strings() {
  std::vector<std::string> out;
  for (const std::string& line : lines_of(tokenizer_testdata("strings.jsonl"))) {
    out.push_back(nlohmann::json::parse(line).get<std::string>());
  }
  return out;
}

/// What Hugging Face makes of them.
inline std::vector<std::vector<TokenId>> golden_ids(const std::string& family) {
  std::vector<std::vector<TokenId>> out;
  for (const std::string& line : lines_of(tokenizer_testdata(family + ".ids"))) {
    std::istringstream in(line);
    out.emplace_back(std::istream_iterator<TokenId>(in), std::istream_iterator<TokenId>());
  }
  return out;
}

inline SubwordTokenizer made(Result<SubwordTokenizer> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message;
    std::abort();
  }
  return std::move(result).value();
}

/// One of each for all tests.
inline const SubwordTokenizer& family_tokenizer(const std::string& family) {
  static std::map<std::string, SubwordTokenizer> kept;
  auto found = kept.find(family);
  if (found == kept.end()) {
    const std::string json = tokenizer_testdata(family + ".json");
    found = kept.emplace(family, made(SubwordTokenizer::from_tokenizer_json(json))).first;
  }
  return found->second;
}

/// The same model as GGUF metadata states it; gemma and llama2 only.
inline SubwordParts family_parts(const std::string& family) {
  const auto dump = nlohmann::json::parse(tokenizer_testdata(family + ".parts.json"));
  SubwordParts parts;
  EXPECT_TRUE(set_gguf_tokenizer(dump["model"].get<std::string>(), dump["pre"].get<std::string>(),
                                 parts.options));
  parts.tokens = dump["tokens"].get<std::vector<std::string>>();
  parts.scores = dump["scores"].get<std::vector<float>>();
  for (const int role : dump["token_type"]) {
    parts.roles.push_back(static_cast<PieceRole>(role));
  }
  if (dump["add_space_prefix"].get<bool>()) {
    parts.options.prefix_space = PrefixSpace::Always;
  }
  return parts;
}

/// Mixed pieces that meet every rule of the pre-tokenisers, ill-formed bytes among them.
inline std::string random_text(std::mt19937& random, int most_pieces) {
  static const std::vector<std::string> pieces = {"a",
                                                  "the",
                                                  "The",
                                                  " ",
                                                  "  ",
                                                  "\n",
                                                  "\r\n",
                                                  "\t",
                                                  "1",
                                                  "23",
                                                  "4567",
                                                  "'",
                                                  "'s",
                                                  "'RE",
                                                  "'l",
                                                  "l",
                                                  "!",
                                                  "...",
                                                  "(",
                                                  "=",
                                                  "e",
                                                  "\xCC\x81",
                                                  "\xCC\xB8",
                                                  "é",
                                                  "Å",
                                                  "\xE2\x84\xAB",
                                                  "我",
                                                  "们",
                                                  "明天",
                                                  "，",
                                                  "。",
                                                  "👍",
                                                  "\u200d",
                                                  "한",
                                                  "\xE1\x84\x92",
                                                  "\xE1\x85\xA1",
                                                  "\xE1\x86\xAB",
                                                  "\u3000",
                                                  "\u00a0",
                                                  "\u2028",
                                                  "½",
                                                  "٣",
                                                  "\xFF",
                                                  "\xC3",
                                                  "\xE4\xBD",
                                                  "\xF0\x9F",
                                                  "\x80",
                                                  "\xCC",
                                                  "\x81",
                                                  "我\xE4\xBB",
                                                  "\xAC",
                                                  std::string(1, '\0'),
                                                  "\x04",
                                                  "<td>",
                                                  "<tab",
                                                  "le>",
                                                  "<eos>",
                                                  "\xC5\xBF",
                                                  "Ω",
                                                  "ж",
                                                  "\xE2\x96\x81",
                                                  "    "};
  std::string out;
  const auto count = std::uniform_int_distribution<int>(0, most_pieces)(random);
  for (int i = 0; i < count; ++i) {
    out += pieces[std::uniform_int_distribution<std::size_t>(0, pieces.size() - 1)(random)];
  }
  return out;
}

}  // namespace laya::text
