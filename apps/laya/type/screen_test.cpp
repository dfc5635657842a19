#include "laya/type/screen.h"

#include <gtest/gtest.h>

namespace laya::apps {
namespace {

TEST(Screen, GivesWideCharactersTwoCellsAndCutsWholeOnes) {
  Screen screen(1, 5);
  EXPECT_EQ(screen.put(0, 0, "a我b", Style::Plain), 4u);
  EXPECT_EQ(screen.at(0, 1).text, "我");
  EXPECT_EQ(screen.at(0, 2).text, "");
  EXPECT_EQ(screen.put(0, 4, "我", Style::Plain), 4u);  // one column is left: not half of it
  EXPECT_EQ(screen.row_text(0), "a我b");
}

TEST(Screen, LetsNoControlCharacterThrough) {
  Screen screen(2, 40);
  screen.put(0, 0, "a\x1b[31mb\x07\xFF\r\n", Style::Plain);
  const std::string bytes = screen.update_from(nullptr);
  EXPECT_EQ(bytes.find("[31m"), bytes.find("�[31m") + 3);
  EXPECT_EQ(bytes.find('\x07'), std::string::npos);
  EXPECT_EQ(bytes.find('\r'), std::string::npos);
}

TEST(Screen, SendsOnlyRowsThatChanged) {
  Screen before(3, 20);
  before.put(0, 0, "same", Style::Plain);
  before.put(1, 0, "old", Style::Plain);
  Screen after(3, 20);
  after.put(0, 0, "same", Style::Plain);
  after.put(1, 0, "new", Style::Ghost);
  const std::string bytes = after.update_from(&before);
  EXPECT_EQ(bytes.find("same"), std::string::npos);
  EXPECT_NE(bytes.find("\x1b[2;1H"), std::string::npos);
  EXPECT_NE(bytes.find("new"), std::string::npos);
  EXPECT_EQ(bytes.find("\x1b[2J"), std::string::npos);
}

TEST(Screen, PaintsAPictureThatIsAlwaysTheSame) {
  const auto picture = [] {
    Screen screen(3, 20);
    screen.put(0, 0, "a <b> & 我", Style::Plain);
    screen.put(1, 0, "ghost", Style::Ghost);
    screen.fill(2, 0, Style::Bar);
    screen.set_caret(1, 3);
    return screen.to_svg("laya type");
  };
  const std::string svg = picture();
  EXPECT_EQ(svg, picture());
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("&lt;"), std::string::npos);
  EXPECT_NE(svg.find("&amp;"), std::string::npos);
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
}

}  // namespace
}  // namespace laya::apps
