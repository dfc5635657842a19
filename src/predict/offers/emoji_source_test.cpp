#include "predict/offers/emoji_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/allocation_counter.h"
#include "predict/session/test_engine.h"
#include "text/grapheme.h"

namespace laya::predict {
namespace {

constexpr std::string_view kTable =
    "# laya emoji 1\n"
    "family\t2\t👨‍👩‍👧 👪\n"
    "pizza\t2\t🍕\n"
    "smile\t1\t😄 😊 😍\n"
    "smirk\t1\t😏\n"
    "thumbs up\t1\t👍\n"
    "生日\t2\t🎂\n"
    "生日蛋糕\t2\t🎂\n";

std::shared_ptr<const EmojiTable> table() {
  auto parsed = EmojiTable::parse(kTable, "table");
  EXPECT_TRUE(parsed) << parsed.error().message;
  return std::make_shared<const EmojiTable>(std::move(*parsed));
}

const Engine& emoji_engine() {
  static const auto engine = [] {
    EngineParts parts = table_parts();
    parts.offer_sources.push_back(
        [shared = table()] { return std::make_unique<EmojiSource>(shared); });
    return build_or_abort(std::move(parts));
  }();
  return *engine;
}

/// The emoji that are offered behind `before`, as the text will read.
std::vector<std::string> offered(std::string_view before, std::string_view after = {}) {
  Session session(emoji_engine());
  session.set_text({.revision = 1, .before = before, .after = after});
  std::vector<std::string> texts;
  for (const Candidate& candidate : session.decide({.candidates = 10}).candidates) {
    if (candidate.origin == Origin::Emoji) {
      texts.push_back(std::string(before.substr(0, before.size() - candidate.erase_before)) +
                      std::string(candidate.insert));
    }
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(EmojiSource, AColonAndANameAskForEmoji) {
  EXPECT_EQ(offered(":smile"), (Texts{"😄", "😊", "😍"}));
  EXPECT_EQ(offered("so nice :smile").front(), "so nice 😄");
  EXPECT_EQ(offered("nice :smi"), (Texts{"nice 😄", "nice 😏", "nice 😊", "nice 😍"}));
  EXPECT_EQ(offered(":Smirk"), Texts{"😏"});
  EXPECT_EQ(offered("(:smirk"), Texts{"(😏"});
  EXPECT_EQ(offered("好:smirk"), Texts{"好😏"});
  EXPECT_EQ(offered(":thumbs_u"), Texts{"👍"});
  EXPECT_EQ(offered(":生日").front(), "🎂");
  EXPECT_EQ(offered("祝你：生日").front(), "祝你🎂");
}

TEST(EmojiSource, TimesAddressesAndWordsAreNoQuestion) {
  for (const char* before : {"10:sm", "http:smile", "a:smile", "::smile", ":s", ":", ":qzx", "",
                             "smile", "smi", ":smile ", "：", "http://smile"}) {
    SCOPED_TRACE(before);
    EXPECT_TRUE(offered(before).empty());
  }
}

TEST(EmojiSource, AWordThatNamesOneOffersItBehindTheWord) {
  EXPECT_EQ(offered("I want pizza"), Texts{"I want pizza 🍕"});
  EXPECT_EQ(offered("I want PIZZA"), Texts{"I want PIZZA 🍕"});
  EXPECT_EQ(offered("I want pizza "), Texts{"I want pizza 🍕"});
  EXPECT_EQ(offered("祝你生日"), Texts{"祝你生日🎂"});
  EXPECT_EQ(offered("我的生日蛋糕"), Texts{"我的生日蛋糕🎂"});
  EXPECT_TRUE(offered("I want pizzas ").empty());
  EXPECT_TRUE(offered("I want piz").empty());
  EXPECT_TRUE(offered("pizza  ").empty());
  EXPECT_TRUE(offered("pizza", "ria").empty()) << "inside a word nothing is put";
}

// Complaint 30: a sequence joined by ZWJ is offered whole or not at all.
TEST(EmojiSource, SequencesStayWhole) {
  const Texts family = offered("my family ");
  ASSERT_EQ(family, Texts{"my family 👨‍👩‍👧"});
  EXPECT_EQ(text::count_graphemes(family[0]), text::count_graphemes("my family ") + 1);
  EXPECT_EQ(offered(":family").front(), "👨‍👩‍👧");
}

TEST(EmojiSource, NeverTheGhostAndNeverInASecretField) {
  Session session(emoji_engine());
  session.set_text({.revision = 1, .before = ":smile"});
  const Reply& reply = session.decide({});
  EXPECT_TRUE(!reply.has_ghost || reply.ghost.text.find("\xF0\x9F") == std::string_view::npos);
  session.set_text({.revision = 2, .before = ":smile", .kind = FieldKind::Password});
  EXPECT_TRUE(session.decide({}).candidates.empty());
}

TEST(EmojiSource, OffersWithoutAllocating) {
  Session session(emoji_engine());
  session.warm_up();
  const std::string text = "pizza :smile 生日 :thumbs_up 10:30 my family ";
  session.set_text({.revision = 0, .before = {}});
  const std::size_t before = base::allocations_so_far();
  for (const char key : text) {
    if (!session.edit({.revision = 1, .insert = {&key, 1}})) {
      FAIL();
    }
    session.decide({.candidates = 10});
  }
  EXPECT_EQ(base::allocations_so_far() - before, 0U);
}

TEST(EmojiTable, TheShippedOneNamesWhatItShould) {
  const auto shipped = EmojiTable::open(std::string(LAYA_SOURCE_DIR) + "/models/emoji/emoji.tsv");
  ASSERT_TRUE(shipped) << shipped.error().message;
  EXPECT_GT(shipped->size(), 5000U);
  struct Case {
    const char* key;
    const char* emoji;
    bool plain;
  };
  for (const Case& c : {Case{"pizza", "🍕", true},
                        {"生日", "🎂", true},
                        {"thumbs up", "👍", false},
                        {"rocket", "🚀", true},
                        {"火箭", "🚀", true},
                        {"love", "💌", false}}) {
    SCOPED_TRACE(c.key);
    const EmojiTable::Entry* entry = shipped->find(c.key);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->plain, c.plain);
    EXPECT_NE(entry->emoji.find(c.emoji), std::string_view::npos);
  }
  for (const char* word : {"you", "good", "the", "see", "time", "on"}) {
    const EmojiTable::Entry* entry = shipped->find(word);
    EXPECT_TRUE(entry == nullptr || !entry->plain) << word;
  }
  // Every one of them is one grapheme cluster.
  for (std::size_t i = 0; i < shipped->size(); ++i) {
    std::string_view rest = shipped->at(i).emoji;
    while (!rest.empty()) {
      const std::string_view emoji = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), emoji.size() + 1));
      ASSERT_EQ(text::count_graphemes(emoji), 1U) << emoji;
    }
  }
}

TEST(EmojiTable, NamesTheLineThatIsWrong) {
  EXPECT_EQ(EmojiTable::parse("pizza\t2\t🍕\n", "t").error().code, ErrorCode::Version);
  EXPECT_TRUE(EmojiTable::parse("# laya emoji 1\n", "t"));
  const std::string long_key = "# laya emoji 1\n" + std::string(65, 'a') + "\t1\t🍕\n";
  const std::string long_emoji = "# laya emoji 1\na\t1\t" + std::string(65, 'b') + "\n";
  for (const char* text :
       {"# laya emoji 1\npizza\n", "# laya emoji 1\n\t1\t🍕\n", "# laya emoji 1\npizza\t3\t🍕\n",
        "# laya emoji 1\npizza\t1\t\n", "# laya emoji 1\nb\t1\t🍕\na\t1\t🍕\n",
        "# laya emoji 1\na\t1\t🍕\na\t1\t🍕\n", "# laya emoji 1\na\t1\t\xFF\xFE\n", long_key.c_str(),
        long_emoji.c_str()}) {
    const auto table = EmojiTable::parse(text, "t.tsv");
    ASSERT_FALSE(table) << text;
    EXPECT_EQ(table.error().code, ErrorCode::Corrupt);
    EXPECT_TRUE(table.error().message.starts_with("t.tsv: line ")) << table.error().message;
  }
}

}  // namespace
}  // namespace laya::predict
