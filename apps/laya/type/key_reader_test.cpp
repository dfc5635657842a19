#include "laya/type/key_reader.h"

#include <gtest/gtest.h>

namespace laya::apps {
namespace {

std::vector<Key> keys_of(std::string_view bytes) {
  KeyReader reader;
  std::vector<Key> keys;
  reader.feed(bytes, keys);
  reader.flush(keys);
  return keys;
}

TEST(KeyReader, UnderstandsWhatTerminalsSend) {
  struct Case {
    const char* name;
    std::string bytes;
    std::vector<Key> want;
  };
  const Case cases[] = {
      {"letters", "aé我", {{KeyKind::Text, "a"}, {KeyKind::Text, "é"}, {KeyKind::Text, "我"}}},
      {"digits are text", "1", {{KeyKind::Text, "1"}}},
      {"Alt picks",
       "\x1b"
       "2",
       {{KeyKind::Pick, "", 2}}},
      {"F keys pick",
       "\x1bOP\x1b[12~\x1b[15~",
       {{KeyKind::Pick, "", 1}, {KeyKind::Pick, "", 2}, {KeyKind::Pick, "", 5}}},
      {"arrows", "\x1b[C\x1bOD", {{KeyKind::Right, ""}, {KeyKind::Left, ""}}},
      {"home, end",
       "\x1b[H\x1b[4~\x01\x05",
       {{KeyKind::Home, ""}, {KeyKind::End, ""}, {KeyKind::Home, ""}, {KeyKind::End, ""}}},
      {"lone escape", "\x1b", {{KeyKind::Escape, ""}}},
      {"escape twice", "\x1b\x1b", {{KeyKind::Escape, ""}, {KeyKind::Escape, ""}}},
      {"escape and a letter", "\x1bx", {{KeyKind::Escape, ""}, {KeyKind::Text, "x"}}},
      {"control keys",
       "\t\r\x7f\x15\x17\x03",
       {{KeyKind::Tab, ""},
        {KeyKind::Enter, ""},
        {KeyKind::Backspace, ""},
        {KeyKind::EraseLine, ""},
        {KeyKind::EraseWord, ""},
        {KeyKind::Quit, ""}}},
      {"unknown sequences mean nothing", "\x1b[99;3Rz", {{KeyKind::Text, "z"}}},
      {"ill-formed bytes are no keys",
       "\xFF"
       "a\xC3(",
       {{KeyKind::Text, "a"}, {KeyKind::Text, "("}}},
      {"paste",
       "\x1b[200~two\r\nlines\x1b[31m\x1b[201~!",
       {{KeyKind::Paste, "two\nlines[31m"}, {KeyKind::Text, "!"}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(keys_of(c.bytes), c.want);
  }
}

TEST(KeyReader, GivesTheSameKeysHoweverTheBytesAreCut) {
  const std::string bytes = "a我\x1b[C\x1b[200~x我\x1b[201~\x1b[15~é\x1bOP";
  const std::vector<Key> want = keys_of(bytes);
  KeyReader reader;
  std::vector<Key> keys;
  for (const char byte : bytes) {
    reader.feed({&byte, 1}, keys);
  }
  EXPECT_FALSE(reader.waits());
  EXPECT_EQ(keys, want);
}

TEST(KeyReader, HoldsBackHalfACharacter) {
  KeyReader reader;
  std::vector<Key> keys;
  reader.feed("\xE6\x88", keys);
  EXPECT_TRUE(keys.empty());
  EXPECT_TRUE(reader.waits());
  reader.feed("\x91", keys);
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys[0].text, "我");
}

TEST(KeyReader, APasteWithoutItsEndMarkSwallowsNoKey) {
  KeyReader reader;
  std::vector<Key> keys;
  reader.feed("\x1b[200~half a paste", keys);
  EXPECT_TRUE(keys.empty());
  EXPECT_TRUE(reader.pastes());
  reader.flush(keys);  // nothing came for kPasteWaitMs
  EXPECT_EQ(keys, (std::vector<Key>{{KeyKind::Paste, "half a paste"}}));
  EXPECT_FALSE(reader.pastes());
  keys.clear();
  reader.feed("\x03", keys);
  EXPECT_EQ(keys, (std::vector<Key>{{KeyKind::Quit, ""}}));

  keys.clear();
  reader.feed("\x1b[200~half", keys);
  reader.feed("\x03", keys);  // while the end mark may still come
  EXPECT_EQ(keys, (std::vector<Key>{{KeyKind::Paste, "half"}, {KeyKind::Quit, ""}}));
  EXPECT_FALSE(reader.pastes());
}

TEST(KeyReader, TakesAMegabyteOfPasteAsOneKey) {
  const std::string text(1u << 20, 'x');
  const std::vector<Key> keys = keys_of("\x1b[200~" + text + "\x1b[201~");
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys[0].text, text);
}

}  // namespace
}  // namespace laya::apps
