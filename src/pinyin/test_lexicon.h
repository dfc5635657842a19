// A small lexicon for tests: "ni'hao 你好 -3" a row.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "pinyin/lexicon.h"

namespace laya::pinyin {

struct TestWord {
  std::string_view spelling;
  std::string_view text;
  float log_prob;
};

/// The words' numbers in the word model are their places in `words`.
inline Lexicon make_lexicon(const std::vector<TestWord>& words) {
  LexiconBuilder builder;
  std::uint32_t number = 0;
  for (const TestWord& word : words) {
    std::vector<SyllableId> syllables;
    for (std::size_t at = 0; at <= word.spelling.size();) {
      const std::size_t end = std::min(word.spelling.find('\'', at), word.spelling.size());
      syllables.push_back(find_syllable(word.spelling.substr(at, end - at)));
      EXPECT_NE(syllables.back(), kNoSyllable) << word.spelling;
      at = end + 1;
    }
    EXPECT_TRUE(builder.add(syllables, word.text, number++, 0, word.log_prob));
  }
  auto lexicon = builder.build();
  EXPECT_TRUE(lexicon);
  return std::move(*lexicon);
}

inline const std::vector<TestWord>& everyday_words() {
  static const std::vector<TestWord> words{
      {"ni", "你", -4},    {"ni", "泥", -9},          {"hao", "好", -4},
      {"hao", "号", -6},   {"ni'hao", "你好", -6},    {"xi'an", "西安", -8},
      {"xian", "先", -6},  {"xian", "现", -7},        {"xi", "西", -6},
      {"an", "安", -6},    {"zhong'guo", "中国", -5}, {"zhong", "中", -5},
      {"guo", "国", -5},   {"guo", "过", -5},         {"ming'tian", "明天", -6},
      {"tian", "天", -5},  {"ming", "明", -6},        {"wo", "我", -3},
      {"qu", "去", -4},    {"la", "啦", -6},          {"bao", "宝", -7},
      {"bao", "包", -6},   {"bao", "报", -6.5F},      {"zhi'fu", "支付", -8},
      {"shi", "是", -3},   {"shi", "时", -5},         {"sheng'ri", "生日", -8},
      {"men", "们", -5},   {"wo'men", "我们", -5},    {"ma", "吗", -5},
      {"ma", "马", -6},    {"wei", "为", -4},         {"chang", "长", -6},
      {"zhang", "长", -7},
  };
  return words;
}

}  // namespace laya::pinyin
