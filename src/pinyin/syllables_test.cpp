#include "pinyin/syllables.h"

#include <gtest/gtest.h>

namespace laya::pinyin {
namespace {

TEST(Syllables, AreFoundByTheirSpelling) {
  for (SyllableId id = 0; id < syllable_count(); ++id) {
    EXPECT_EQ(find_syllable(spelling(id)), id) << spelling(id);
  }
  for (const std::string_view none : {"", "zho", "ZHONG", "xx", "i", "u", "v", "zhongg"}) {
    EXPECT_EQ(find_syllable(none), kNoSyllable) << none;
  }
}

TEST(Syllables, KnowOtherSpellings) {
  EXPECT_EQ(find_syllable("lue"), find_syllable("lve"));
  EXPECT_EQ(find_syllable("nue"), find_syllable("nve"));
}

TEST(Syllables, OfOneBeginningAreARange) {
  const SyllableRange range = syllables_with("zho");
  ASSERT_EQ(range.last - range.first, 2);
  EXPECT_EQ(spelling(range.first), "zhong");
  EXPECT_EQ(spelling(static_cast<SyllableId>(range.first + 1)), "zhou");
  EXPECT_TRUE(syllables_with("zhx").empty());
}

TEST(Syllables, KnowWhatIsWrittenInShort) {
  EXPECT_TRUE(is_initial("zh"));
  EXPECT_TRUE(is_initial("b"));
  EXPECT_FALSE(is_initial("zho"));
  EXPECT_FALSE(is_initial("i"));
  EXPECT_FALSE(is_initial(""));
}

}  // namespace
}  // namespace laya::pinyin
