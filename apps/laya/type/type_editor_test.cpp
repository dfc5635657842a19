#include "laya/type/type_editor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "laya/type/simulated_user.h"
#include "laya/type/test_engine.h"
#include "laya/type/type_view.h"
#include "predict/session/test_shipped_engine.h"
#include "text/grapheme.h"

namespace laya::apps {
namespace {

/// Presses one key after another, deciding after each.
void press(TypeEditor& editor, std::string_view bytes) {
  KeyReader reader;
  std::vector<Key> keys;
  reader.feed(bytes, keys);
  reader.flush(keys);
  for (const Key& key : keys) {
    editor.handle(key);
    if (!editor.is_hidden()) editor.decide();
  }
}

TEST(TypeEditor, OffersAGhostAndAcceptsItByWordOrWhole) {
  TypeEditor editor(test_engine());
  press(editor, "see you tom");
  ASSERT_TRUE(std::string_view("orrow morning").starts_with(editor.ghost().substr(0, 5)));
  ASSERT_FALSE(editor.offers().empty());
  EXPECT_EQ(editor.offers()[0].text, "tomorrow");
  press(editor, "\t");
  EXPECT_EQ(editor.before(), "see you tomorrow");
  EXPECT_EQ(editor.keys(), 12u);
  EXPECT_EQ(editor.characters(), 16u);
  EXPECT_NEAR(editor.saved_percent(), 25, 1e-9);
}

TEST(TypeEditor, TypedThroughGhostGetsShorterAndAnotherLetterClearsIt) {
  TypeEditor editor(test_engine());
  press(editor, "see you tom");
  ASSERT_FALSE(editor.ghost().empty());
  const std::string ghost(editor.ghost());
  editor.handle({KeyKind::Text, "o"});
  EXPECT_EQ(editor.ghost(), ghost.substr(1));
  editor.handle({KeyKind::Text, "q"});
  EXPECT_EQ(editor.ghost(), "");
}

TEST(TypeEditor, EscapeHidesUntilTheNextKey) {
  TypeEditor editor(test_engine());
  press(editor, "see you tom\x1b");
  EXPECT_EQ(editor.ghost(), "");
  EXPECT_TRUE(editor.offers().empty());
  press(editor, "o");
  EXPECT_FALSE(editor.offers().empty());
}

TEST(TypeEditor, PickedWordOwesASpaceThatIsNotDoubled) {
  TypeEditor editor(test_engine());
  press(editor,
        "see you tom\x1b"
        "1");
  EXPECT_EQ(editor.before(), "see you tomorrow");
  EXPECT_TRUE(editor.owes_space());
  press(editor, " ");
  EXPECT_EQ(editor.before(), "see you tomorrow ");
  EXPECT_FALSE(editor.owes_space());
  press(editor, "\x7f");
  EXPECT_EQ(editor.before(), "see you tomorrow");
}

/// Picks the offer `text` of what `typed` brings; it must be among them and take bytes away.
std::string picked_instead_of(const std::string& typed, std::string_view text) {
  TypeEditor editor(predict::shipped_table_engine());
  press(editor, typed);
  const std::vector<TypeEditor::Offer>& offers = editor.offers();
  for (std::size_t i = 0; i < offers.size(); ++i) {
    if (offers[i].text != text) continue;
    EXPECT_GT(offers[i].erase_before, 0u) << text;
    const auto keys = editor.keys();
    press(editor, "\x1b" + std::to_string(i + 1));
    EXPECT_EQ(editor.keys(), keys + 1);
    return std::string(editor.before()) + "|" + std::string(editor.after());
  }
  ADD_FAILURE() << text << " is not offered for " << typed;
  return {};
}

TEST(TypeEditor, PickedCorrectionStandsInPlaceOfWhatWasTyped) {
  EXPECT_EQ(picked_instead_of("see you tomorow", "tomorrow"), "see you tomorrow|");
  EXPECT_EQ(picked_instead_of("生日快乐 see you tomorow", "tomorrow"),
            "生日快乐 see you tomorrow|");
  EXPECT_EQ(picked_instead_of("tomorow", "tomorrow"), "tomorrow|") << "from the first byte on";
}

TEST(TypeEditor, PickedCorrectionLeavesWhatStandsRightOfTheCaret) {
  EXPECT_EQ(picked_instead_of("see you tomorow .\x1b[D\x1b[D", "tomorrow"), "see you tomorrow| .");
}

TEST(TypeEditor, GoesOnFromACorrection) {
  TypeEditor corrected(predict::shipped_table_engine());
  press(corrected, "see you tomorow");
  const auto& offers = corrected.offers();
  const auto at = std::find_if(offers.begin(), offers.end(),
                               [](const auto& offer) { return offer.text == "tomorrow"; });
  ASSERT_NE(at, offers.end());
  press(corrected, "\x1b" + std::to_string(at - offers.begin() + 1) + " the");
  EXPECT_EQ(corrected.before(), "see you tomorrow the");
  TypeEditor straight(predict::shipped_table_engine());
  press(straight, "see you tomorrow the");
  ASSERT_FALSE(corrected.offers().empty());
  EXPECT_EQ(corrected.offers()[0].text, straight.offers()[0].text)
      << "the session has erased what the screen has";
}

TEST(TypeEditor, ErasesAndMovesByWholeClusters) {
  TypeEditor editor(test_engine());
  press(editor, "a👨‍👩‍👧é");
  press(editor, "\x1b[D\x1b[D");
  EXPECT_EQ(editor.before(), "a");
  EXPECT_EQ(editor.after(), "👨‍👩‍👧é");
  press(editor, "\x1b[3~");
  EXPECT_EQ(editor.after(), "é");
  press(editor, "\x1b[C\x7f\x7f\x7f\x7f");
  EXPECT_EQ(editor.before(), "");
}

TEST(TypeEditor, ErasesALineAndAWord) {
  TypeEditor editor(test_engine());
  press(editor, "one two\rthree four\x17");
  EXPECT_EQ(editor.before(), "one two\nthree ");
  press(editor, "\x15");
  EXPECT_EQ(editor.before(), "one two\n");
  press(editor, "\x1b[A\x1b[C\x1b[C");
  EXPECT_EQ(editor.before().substr(0, 2), "on");
}

TEST(TypeEditor, TakesAMegabyteOfPasteAndGoesOn) {
  TypeEditor editor(test_engine());
  std::string big;
  while (big.size() < (1u << 20)) big += "some 文字 \xFF and 👍 ";
  press(editor, "\x1b[200~" + big + "\x1b[201~see you tom");
  EXPECT_EQ(editor.before().size(), big.size() + 11);
  EXPECT_EQ(editor.keys(), 11u);
  ASSERT_FALSE(editor.offers().empty());
  EXPECT_EQ(editor.offers()[0].text, "tomorrow");
  const Screen screen = draw(editor, 24, 80, "");
  bool seen = false;
  for (std::size_t row = 0; row < 24; ++row) {
    seen = seen || screen.row_text(row).find("tom") != std::string::npos;
  }
  EXPECT_TRUE(seen);
}

TEST(TypeView, FitsEverySizeWithTheCaretInside) {
  TypeEditor editor(test_engine());
  press(editor, "我们 see you tom");
  for (std::size_t rows = 1; rows < 12; ++rows) {
    for (std::size_t columns = 1; columns < 30; ++columns) {
      const Screen screen = draw(editor, rows, columns, "model");
      ASSERT_EQ(screen.rows(), rows);
      ASSERT_LT(screen.caret_row(), rows);
      ASSERT_LT(screen.caret_column(), columns);
      for (std::size_t row = 0; row < rows; ++row) {
        ASSERT_LE(text::display_width(screen.row_text(row)), columns);
      }
    }
  }
}

TEST(TypeView, ShowsTextGhostListAndFigures) {
  TypeEditor editor(test_engine());
  press(editor, "我们 see you tom");
  const Screen screen = draw(editor, 10, 60, "model");
  EXPECT_TRUE(screen.row_text(1).starts_with("我们 see you tomorrow")) << screen.row_text(1);
  EXPECT_EQ(screen.caret_row(), 1u);
  EXPECT_EQ(screen.caret_column(), 16u);
  EXPECT_EQ(screen.at(1, 15).style, Style::Plain);
  EXPECT_EQ(screen.at(1, 16).style, Style::Ghost);
  EXPECT_TRUE(screen.row_text(8).starts_with(" 1 tomorrow")) << screen.row_text(8);
  EXPECT_NE(screen.row_text(9).find("p50"), std::string::npos);
}

TEST(SimulatedUser, TypesWhatWasMeantAndSavesKeys) {
  TypeEditor editor(test_engine());
  const std::string text = "see you tomorrow morning\nthank you very much for your help\n我们去\n";
  editor.decide();
  while (editor.before().size() < text.size()) {
    const Move move = best_move(editor, std::string_view(text).substr(editor.before().size()));
    editor.handle(move.key);
    editor.decide();
    ASSERT_TRUE(text.starts_with(editor.before())) << editor.before();
  }
  EXPECT_GT(editor.saved_percent(), 30);
}

TEST(TypeView, NamesTheDecoderWhereThereIsRoomAndTellsNothingOfItWithout) {
  TypeEditor editor(test_engine());
  press(editor, "see you");
  EXPECT_EQ(editor.deep_fd(), -1);
  EXPECT_FALSE(editor.take_deep_answers());
  EXPECT_EQ(status_line(editor).find("deep"), std::string::npos);
  const auto title = [&](std::size_t columns) {
    return draw(editor, 10, columns, "", "some-decoder").row_text(0);
  };
  EXPECT_NE(title(100).find("some-decoder"), std::string::npos);
  EXPECT_EQ(title(60).find("some-decoder"), std::string::npos);
}

}  // namespace
}  // namespace laya::apps
