#include "laya/type/type_pinyin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/run_laya.h"
#include "laya/type/pty_program.h"
#include "laya/type/test_engine.h"
#include "laya/type/type_editor.h"
#include "pinyin/libime_data.h"
#include "pinyin/test_libime.h"

namespace laya::apps {
namespace {

const std::string kToggle(1, '\0');

class TypePinyin : public testing::Test {
 protected:
  void SetUp() override {
    if (pinyin::built_without_libime()) GTEST_SKIP() << "built without libime";
  }

  void press(std::string_view bytes) {
    KeyReader reader;
    std::vector<Key> keys;
    reader.feed(bytes, keys);
    reader.flush(keys);
    for (const Key& key : keys) {
      editor_.handle(key);
      if (!editor_.is_hidden()) editor_.decide();
    }
  }

  std::string offer(std::size_t number) const {
    return number <= editor_.offers().size() ? editor_.offers()[number - 1].text : "";
  }

  TypeEditor editor_{test_engine()};
};

TEST_F(TypePinyin, LettersWaitBesideTheTextUntilSpaceChooses) {
  press(kToggle + "nihao");
  EXPECT_TRUE(editor_.is_pinyin());
  EXPECT_EQ(editor_.before(), "");
  EXPECT_EQ(editor_.composed_letters(), "nihao");
  EXPECT_EQ(editor_.ghost(), "");
  EXPECT_EQ(offer(1), "你好");
  press(" ");
  EXPECT_EQ(editor_.before(), "你好");
  EXPECT_FALSE(editor_.is_composing());
  EXPECT_EQ(editor_.keys(), 6u) << "the switch, which types nothing, is not counted";
  EXPECT_EQ(editor_.characters(), 2u);
}

TEST_F(TypePinyin, ANumberChoosesAndTheRestStaysToBeChosen) {
  press(kToggle + "nihaoshijie");
  ASSERT_TRUE(offer(1).starts_with("你好")) << offer(1);
  std::size_t word = 0;
  for (int page = 0; page < 10 && word == 0; ++page) {
    for (std::size_t i = 1; i <= PinyinInput::kPage; ++i) word = offer(i) == "你好" ? i : word;
    if (word == 0) press("=");
  }
  ASSERT_GT(word, 0u) << "words for the first letters follow the sentences";
  press(std::to_string(word));
  EXPECT_EQ(editor_.before(), "你好");
  EXPECT_EQ(editor_.composed_letters(), "shijie");
  press("1");
  EXPECT_TRUE(editor_.before().starts_with("你好")) << editor_.before();
  EXPECT_FALSE(editor_.is_composing());
}

TEST_F(TypePinyin, EnterKeepsTheLettersEscapeDropsThemBackspaceTakesOne) {
  press(kToggle + "iphone\r");
  EXPECT_EQ(editor_.before(), "iphone");
  press("nihao\x1b");
  EXPECT_EQ(editor_.before(), "iphone");
  EXPECT_FALSE(editor_.is_composing());
  press("nihao\x7f");
  EXPECT_EQ(editor_.composed_letters(), "niha");
  press("\x7f\x7f\x7f\x7f");
  EXPECT_FALSE(editor_.is_composing());
  press("\x7f");
  EXPECT_EQ(editor_.before(), "iphon") << "nothing is composed: the text's own";
}

TEST_F(TypePinyin, EnglishIsOnTheFirstPage) {
  press(kToggle + "iphone");
  const auto& offers = editor_.offers();
  const auto at =
      std::find_if(offers.begin(), offers.end(), [](const auto& o) { return o.text == "iphone"; });
  ASSERT_NE(at, offers.end());
  press(std::to_string(at - offers.begin() + 1));
  EXPECT_EQ(editor_.before(), "iphone");
}

TEST_F(TypePinyin, TurnsPages) {
  press(kToggle + "shi");
  const std::string first = offer(1);
  ASSERT_EQ(editor_.offers().size(), PinyinInput::kPage);
  press("-");
  EXPECT_EQ(offer(1), first) << "there is none before the first";
  press("=");
  EXPECT_NE(offer(1), first);
  const std::string second = offer(2);
  press("2");
  EXPECT_EQ(editor_.before(), second);
}

TEST_F(TypePinyin, MarksAreChineseAndChooseWhatWaits) {
  press(kToggle + "nihao,");
  EXPECT_EQ(editor_.before(), "你好，");
  press("3.5");
  EXPECT_EQ(editor_.before(), "你好，3.5");
}

TEST_F(TypePinyin, SwitchingBackKeepsTheLettersAndTypesEnglish) {
  press(kToggle + "nihao" + kToggle + ", you.");
  EXPECT_EQ(editor_.before(), "nihao, you.");
  EXPECT_FALSE(editor_.is_pinyin());
}

TEST_F(TypePinyin, APasteComesBehindTheLetters) {
  press(kToggle + "ni\x1b[200~pasted\x1b[201~");
  EXPECT_EQ(editor_.before(), "nipasted");
}

TEST_F(TypePinyin, TakesMoreLettersThanFit) {
  press(kToggle + std::string(2000, 'a'));
  EXPECT_EQ(editor_.composed_letters().size(), field::kMaxPinyinLetters);
  EXPECT_FALSE(editor_.notice().empty()) << "says why the last ones are not there";
  press(" ");
  EXPECT_FALSE(editor_.before().empty());
  EXPECT_EQ(editor_.notice(), "");
}

TEST_F(TypePinyin, IsSeenOnTheTerminal) {
  PtyProgram program(
      {"type", "--model", std::string(LAYA_SOURCE_DIR) + "/testdata/predict/ngram.laya", "--deep",
       "none"},
      24, 80);
  ASSERT_TRUE(program.wait_until([](const PtyProgram& p) { return p.shows("p50"); }));
  program.send(kToggle);
  ASSERT_TRUE(
      program.wait_until([](const PtyProgram& p) { return p.row(23).starts_with(" 拼 "); }));
  program.send("nihao");
  ASSERT_TRUE(program.wait_until([](const PtyProgram& p) {
    return p.row(1).starts_with("nihao") && p.row(22).starts_with(" 1 你好");
  })) << program.row(22);
  program.send("\x1b");
  ASSERT_TRUE(program.wait_until([](const PtyProgram& p) { return p.row(1).empty(); }));
  program.send("nihao ");
  ASSERT_TRUE(program.wait_until([](const PtyProgram& p) { return p.row(1).starts_with("你好"); }));
  program.send(kToggle + "x");
  ASSERT_TRUE(program.wait_until([](const PtyProgram& p) {
    return p.row(1).starts_with("你好x") && !p.row(23).starts_with(" 拼 ");
  }));
  program.send("\x03");
  EXPECT_EQ(program.wait_for_end(), 0);
}

TEST(TypePinyinWithoutData, SaysWhyAndStaysOff) {
  if (!pinyin::built_without_libime()) GTEST_SKIP() << "built with libime";
  TypeEditor editor(test_engine());
  editor.handle({KeyKind::Pinyin, {}});
  EXPECT_FALSE(editor.is_pinyin());
  EXPECT_FALSE(editor.notice().empty());
  editor.handle({KeyKind::Text, "a"});
  EXPECT_EQ(editor.before(), "a");
  EXPECT_EQ(editor.notice(), "");
}

// `laya eval pinyin`, the real program.
TEST_F(TypePinyin, EvalCountsWhatIsRight) {
  const base::TestFolder folder;
  const std::string file = folder.file("pinyin.tsv");
  std::ofstream(file) << "#before\t我们\nni hao\t你好！\nqqqq\t你好\n";
  const Ran ran = run_laya("eval pinyin --json --peer none --model " LAYA_SOURCE_DIR
                           "/testdata/predict/ngram.laya --file " +
                           file);
  ASSERT_EQ(ran.code, 0) << ran.error;
  const auto json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json.at("sentences"), 2);
  EXPECT_EQ(json.at("p_at_1"), 0.5);
  EXPECT_EQ(json.at("p_at_5"), 0.5);
  EXPECT_GT(json.at("key_us").at("p99"), 0);
  EXPECT_TRUE(json.at("libime").is_null());
}

TEST_F(TypePinyin, EvalNamesTheLineThatIsWrong) {
  const base::TestFolder folder;
  const std::string file = folder.file("pinyin.tsv");
  std::ofstream(file) << "ni hao\t你好\nno tab\n";
  const Ran ran = run_laya("eval pinyin --file " + file);
  EXPECT_NE(ran.code, 0);
  EXPECT_NE(ran.error.find("line 2"), std::string::npos) << ran.error;
  EXPECT_EQ(ran.error.find("no tab"), std::string::npos) << "what was typed is not repeated";
}

TEST_F(TypePinyin, EvalRefusesAFileWithoutSentences) {
  const base::TestFolder folder;
  const std::string file = folder.file("empty.tsv");
  std::ofstream(file) << "\n";
  const Ran ran = run_laya("eval pinyin --file " + file);
  EXPECT_NE(ran.code, 0);
  EXPECT_NE(ran.error.find("empty.tsv: has no line"), std::string::npos) << ran.error;
}

}  // namespace
}  // namespace laya::apps
