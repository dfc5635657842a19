#include "predict/source/block_list.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/allocation_counter.h"
#include "base/test_folder.h"

namespace laya::predict {
namespace {

constexpr std::string_view kEntries = R"(# a small list
[en self-harm]
hurt myself
glim*
blorp
do n't do it
[zh self-harm]
坏事
做坏事情
[en junk]
seeit
can't've
)";

BlockList list_of(std::string_view text) {
  auto list = BlockList::parse(text, "list");
  if (!list) {
    ADD_FAILURE() << list.error().message;
    return {};
  }
  return std::move(*list);
}

TEST(BlockList, BlocksWordsStemsPhrasesAndChinese) {
  const BlockList list = list_of(kEntries);
  struct Case {
    const char* candidate;
    bool blocked;
  };
  for (const Case& c : {Case{"blorp", true},      {"Blorp", true},         {"BLORP", true},
                        {"blorp's", true},        {"'blorp'", true},       {"a blorp, then", true},
                        {"blorps", false},        {"ablorp", false},       {"blor", false},
                        {"glim", true},           {"Glimmering", true},    {"aglimmer", false},
                        {"hurt myself", true},    {"Hurt  Myself.", true}, {"hurt-myself", true},
                        {"hurt my self", false},  {"hurt", false},         {"hurt yourself", false},
                        {"unhurt myself", false}, {"坏事", true},          {"不要做坏事了", true},
                        {"坏 事", false},         {"坏，事", false},       {"坏人", false},
                        {"我们blorp吧", true},    {"seeit", true},         {"SeeIt", true},
                        {"seeits", false},        {"can't've", true},      {"can’t’ve", true},
                        {"can't", false},         {"see it", false},       {"", false},
                        {"don't do it", false},   {"do n't do it", true}}) {
    SCOPED_TRACE(c.candidate);
    EXPECT_EQ(list.blocks(c.candidate), c.blocked);
  }
  EXPECT_EQ(list.size(), 8U);
}

TEST(BlockList, ACandidateThatCompletesAnEntryIsBlocked) {
  const BlockList list = list_of(kEntries);
  struct Case {
    const char* before;
    const char* candidate;
    bool blocked;
  };
  for (const Case& c : {Case{"I will hurt ", "myself", true},
                        {"I will hurt my", "self", true},
                        {"I will hurt", " myself", true},
                        {"I will hurt", " you", false},
                        {"HURT\n", "Myself", true},
                        {"unhurt ", "myself", false},
                        {"they hurt me. ", "myself", false},
                        {"blo", "rp", true},
                        {"a", "blorp", false},
                        {"glim", "mer", true},
                        {"坏", "事", true},
                        {"坏 ", "事", false},
                        {"see", "it", true},
                        {"see ", "it", false},
                        // What is typed already is nobody's business: it goes on as usual.
                        {"I hurt myself ", "yesterday", false},
                        {"I hurt myself", " yesterday", false},
                        {"blorp ", "you", false},
                        {"blorp", " you", false},
                        {"glimmer ", "of", false},
                        {"坏事", "很多", false},
                        {"seeit ", "is", false}}) {
    SCOPED_TRACE(std::string(c.before) + "|" + c.candidate);
    EXPECT_EQ(list.blocks_after(c.before, c.candidate), c.blocked);
    EXPECT_EQ(list.blocks(list.after(c.before), c.candidate), c.blocked);
  }
}

TEST(BlockList, AFarBeginningDoesNotMatterHoweverLongTheTextIs) {
  const BlockList list = list_of(kEntries);
  std::string book;
  while (book.size() < 100000) {
    book += "坏人不要坏人。It hurt. ";
  }
  EXPECT_TRUE(list.blocks_after(book + "we hurt ", "myself"));
  EXPECT_TRUE(list.blocks_after(book + "坏", "事"));
  EXPECT_FALSE(list.blocks_after(book, "fine"));
}

TEST(BlockList, AddressesAndLongNumbersArePersonalWhateverTheListSays) {
  const BlockList list;
  EXPECT_TRUE(list.blocks("ann@example"));
  EXPECT_TRUE(list.blocks_after("ann@", "example"));
  EXPECT_FALSE(list.blocks("@ann"));
  EXPECT_FALSE(list.blocks("me @ home"));
  EXPECT_TRUE(list.blocks("91234567"));
  EXPECT_TRUE(list.blocks("call 912345"));
  EXPECT_TRUE(list.blocks_after("91234", "5"));
  EXPECT_FALSE(list.blocks("12345"));
  EXPECT_FALSE(list.blocks("2026 11 29"));
  EXPECT_FALSE(list.blocks("tomorrow"));
  EXPECT_EQ(list.size(), 0U);
}

TEST(BlockList, AnyBytesAreReadWithoutHarm) {
  const BlockList list = list_of(kEntries);
  for (const char* text : {"\xFF\xFE", "\xE5\x9D", "blorp\xFF", "\xF0\x9F", "''''", "' blorp '",
                           "👨‍👩‍👧", "\x01"}) {
    list.blocks(text);
    list.blocks_after(text, text);
  }
  EXPECT_TRUE(list.blocks("blorp\xFF"));
  EXPECT_FALSE(list.blocks(std::string(100000, 'a')));
}

TEST(BlockList, LooksWithoutAllocating) {
  const BlockList list = list_of(kEntries);
  const std::size_t before = base::allocations_so_far();
  bool any = false;
  for (int i = 0; i < 100; ++i) {
    any = list.blocks_after("I will hurt ", "myself") && list.blocks("坏事");
  }
  EXPECT_TRUE(any);
  EXPECT_EQ(base::allocations_so_far() - before, 0U);
}

TEST(BlockList, NamesTheLineThatIsWrong) {
  struct Case {
    const char* text;
    const char* message;
  };
  const std::string long_entry = "[en x]\n" + std::string(97, 'a') + "\n";
  for (const Case& c : {Case{"blorp\n", "line 1: an entry stands before"},
                        {"[en]\n", "line 1: a section is"},
                        {"[en self-harm\n", "line 1: a section is"},
                        {"[en x]\n\n#\n*\n", "line 4: an entry is empty"},
                        {"[en x]\n坏*\n", "line 2: an entry is empty, or '*'"},
                        {"[en x]\na, b\n", "line 2: an entry is words"},
                        {"[en x]\n坏 事\n", "line 2: a space beside"},
                        {"[en junk]\ntwo words\n", "line 2: junk is one whole word"},
                        {"[en junk]\nstem*\n", "line 2: junk is one whole word"},
                        {"[en x]\n\xFF\n", "line 2: not UTF-8"},
                        {"[en x]\n'tis\n", "line 2: an apostrophe outside"},
                        {long_entry.c_str(), "line 2: an entry is longer than 96"}}) {
    SCOPED_TRACE(c.message);
    const auto list = BlockList::parse(c.text, "some.txt");
    ASSERT_FALSE(list);
    EXPECT_EQ(list.error().code, ErrorCode::Corrupt);
    EXPECT_TRUE(list.error().message.starts_with(std::string("some.txt: ") + c.message))
        << list.error().message;
  }
}

TEST(BlockList, AFolderIsAllItsTextFiles) {
  const base::TestFolder folder;
  std::ofstream(folder.path() / "en.txt") << "[en slur]\nblorp\n";
  std::ofstream(folder.path() / "zh.txt") << "[zh slur]\n坏事\n";
  std::ofstream(folder.path() / "README.md") << "no list\n";
  const auto list = BlockList::open(folder.path().string());
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(list->size(), 2U);
  EXPECT_TRUE(list->blocks("blorp"));
  EXPECT_TRUE(list->blocks("坏事"));
  std::ofstream(folder.path() / "zz.txt") << "blorp\n";
  EXPECT_EQ(BlockList::open(folder.path().string()).error().code, ErrorCode::Corrupt)
      << "a section ends with its file";
  EXPECT_EQ(BlockList::open((folder.path() / "none").string()).error().code, ErrorCode::Io);
  const base::TestFolder empty;
  EXPECT_EQ(BlockList::open(empty.path().string()).error().code, ErrorCode::BadArgument);
}

TEST(BlockList, ManyJunkWordsAreAllFound) {
  std::string text = "[en junk]\n";
  for (int i = 0; i < 5000; ++i) {
    text += "w";
    for (int n = i; n > 0; n /= 26) {
      text += static_cast<char>('a' + n % 26);
    }
    text += "q\n";
  }
  const BlockList list = list_of(text);
  EXPECT_EQ(list.size(), 5000U);
  EXPECT_TRUE(list.blocks("wq"));
  EXPECT_TRUE(list.blocks("wbq"));
  EXPECT_TRUE(list.blocks("so wabq then"));
  EXPECT_FALSE(list.blocks("wzzzzq"));
  EXPECT_FALSE(list.blocks("w"));
}

}  // namespace
}  // namespace laya::predict
