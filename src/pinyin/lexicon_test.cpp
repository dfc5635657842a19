#include "pinyin/lexicon.h"

#include <gtest/gtest.h>

#include "pinyin/libime_data.h"
#include "pinyin/test_lexicon.h"
#include "pinyin/test_libime.h"

namespace laya::pinyin {
namespace {

NodeIndex walk(const Lexicon& lexicon, std::initializer_list<std::string_view> syllables) {
  NodeIndex node = kRootNode;
  for (const std::string_view syllable : syllables) {
    node = node == kNoNode ? kNoNode : lexicon.child(node, find_syllable(syllable));
  }
  return node;
}

std::vector<std::string_view> words_at(const Lexicon& lexicon, NodeIndex at) {
  std::vector<std::string_view> texts;
  const Node& node = lexicon.node(at);
  for (WordIndex i = 0; i < node.words; ++i) {
    texts.push_back(lexicon.text(lexicon.word(node.first_word + i)));
  }
  return texts;
}

TEST(Lexicon, HoldsWordsUnderTheirSyllablesLikeliestFirst) {
  const Lexicon lexicon = make_lexicon(everyday_words());
  EXPECT_EQ(lexicon.size(), everyday_words().size());
  EXPECT_EQ(words_at(lexicon, walk(lexicon, {"bao"})),
            (std::vector<std::string_view>{"包", "报", "宝"}));
  EXPECT_EQ(words_at(lexicon, walk(lexicon, {"ni", "hao"})), std::vector<std::string_view>{"你好"});
  EXPECT_EQ(walk(lexicon, {"hao", "ni"}), kNoNode);
}

TEST(Lexicon, FindsRangesOfChildren) {
  const Lexicon lexicon = make_lexicon(everyday_words());
  const auto [first, last] = lexicon.children(kRootNode, syllables_with("zh"));
  std::vector<std::string_view> found;
  for (NodeIndex node = first; node != last; ++node) {
    found.push_back(spelling(lexicon.node(node).syllable));
  }
  EXPECT_EQ(found, (std::vector<std::string_view>{"zhang", "zhi", "zhong"}));
}

TEST(Lexicon, SharesCharactersBetweenWords) {
  const Lexicon lexicon = make_lexicon(everyday_words());
  const auto whole = lexicon.word(lexicon.node(walk(lexicon, {"ni", "hao"})).first_word);
  const auto first = lexicon.word(lexicon.node(walk(lexicon, {"ni"})).first_word);
  ASSERT_EQ(lexicon.characters(whole).size(), 2U);
  EXPECT_EQ(lexicon.characters(whole)[0], lexicon.characters(first)[0]);
  EXPECT_EQ(lexicon.code_points()[lexicon.characters(first)[0]], U'你');
}

TEST(LexiconBuilder, RefusesWhatIsNoWord) {
  LexiconBuilder builder;
  const std::vector<SyllableId> one{find_syllable("ni")};
  const std::vector<SyllableId> many(16, one[0]);
  EXPECT_EQ(builder.add({}, "你", 0, 0, 0).error().code, ErrorCode::BadArgument);
  EXPECT_EQ(builder.add(many, "你", 0, 0, 0).error().code, ErrorCode::BadArgument);
  EXPECT_EQ(builder.add(one, "", 0, 0, 0).error().code, ErrorCode::BadArgument);
  EXPECT_EQ(builder.add(one, "\xff", 0, 0, 0).error().code, ErrorCode::Corrupt);
}

TEST(LibimeData, IsReadWhereInstalled) {
  if (built_without_libime()) GTEST_SKIP() << "built without libime";
  const auto data = load_libime({});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_GT(data->lexicon.size(), 100000U);
  EXPECT_EQ(words_at(data->lexicon, walk(data->lexicon, {"zhong", "guo"})).at(0), "中国");
  EXPECT_EQ(words_at(data->lexicon, walk(data->lexicon, {"lve"})).at(0), "略");
  ASSERT_NE(data->words, nullptr);
  WordState after;
  const WordModel& words = *data->words;
  const float known = words.log_prob(words.start(), words.find("中国"), &after);
  EXPECT_GT(known, words.log_prob(words.start(), words.find("中过"), &after));
}

TEST(LibimeData, SaysWhichFileIsMissing) {
  const auto data = load_libime({.dictionary = "/nowhere/sc.dict"});
  ASSERT_FALSE(data);
  if (data.error().code != ErrorCode::Unsupported) {
    EXPECT_EQ(data.error().code, ErrorCode::Io);
    EXPECT_NE(data.error().message.find("/nowhere/sc.dict"), std::string::npos);
  }
}

}  // namespace
}  // namespace laya::pinyin
