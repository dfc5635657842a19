#include "predict/offers/corrector.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/allocation_counter.h"
#include "predict/offers/correction_source.h"
#include "predict/offers/lexicon_tables.h"
#include "predict/source/word_query.h"

namespace laya::predict {
namespace {

std::shared_ptr<const Lexicon> small_lexicon(LexiconTables* tables) {
  std::vector<LexiconEntry> entries;
  const auto add = [&](std::initializer_list<const char*> words, double weight) {
    for (const char* word : words) {
      entries.push_back({word, weight, false});
    }
  };
  add({"the", "and", "to", "a", "in"}, 5000);
  add({"their", "because", "don't", "lot", "together", "really", "before", "form", "from", "cat",
       "address", "separate", "I'm", "left", "top", "down", "took", "that"},
      400);
  add({"London", "tomorrow", "company", "NASA", "gather", "keyboard", "meeting"}, 60);
  add({"eft"}, 0.02);
  auto made = LexiconTables::make(entries, 100);
  EXPECT_TRUE(made);
  *tables = std::move(*made);
  auto lexicon = tables->lexicon();
  EXPECT_TRUE(lexicon);
  return std::make_shared<const Lexicon>(std::move(*lexicon));
}

class CorrectorTest : public testing::Test {
 protected:
  std::string first(std::string_view typed, std::string_view before = "",
                    Typing typing = Typing::Finished) {
    const auto found = corrector_.correct(before, typed, typing);
    return found.empty() ? "" : std::string(found.front().text);
  }

  LexiconTables tables_;
  std::shared_ptr<const Lexicon> lexicon_ = small_lexicon(&tables_);
  Corrector corrector_{*lexicon_, nullptr};
};

TEST_F(CorrectorTest, CorrectsEveryKindOfSlip) {
  EXPECT_EQ(first("teh"), "the");            // swapped
  EXPECT_EQ(first("tge"), "the");            // the key beside it
  EXPECT_EQ(first("becuase"), "because");    // swapped, inside
  EXPECT_EQ(first("becaus"), "because");     // left out
  EXPECT_EQ(first("beecause"), "because");   // twice
  EXPECT_EQ(first("adress"), "address");     // a double made single
  EXPECT_EQ(first("seperate"), "separate");  // another vowel
  EXPECT_EQ(first("dont"), "don't");         // the apostrophe
  EXPECT_EQ(first("alot"), "a lot");         // the space
  EXPECT_EQ(first("tomorow"), "tomorrow");
}

TEST_F(CorrectorTest, KeepsCapitalsAndEndings) {
  EXPECT_EQ(first("Teh"), "The");
  EXPECT_EQ(first("BECUASE"), "BECAUSE");
  EXPECT_EQ(first("lodnon"), "London");
  EXPECT_EQ(first("comapny's"), "company's");
}

// Complaints 15 and 17: a valid typed word stays.
TEST_F(CorrectorTest, LeavesValidWordsAlone) {
  for (const char* word : {"form", "from", "cat", "London", "london", "don't", "cat's", "lot"}) {
    EXPECT_EQ(first(word), "") << word;
    EXPECT_EQ(corrector_.probability_as_typed(), 1) << word;
  }
}

TEST_F(CorrectorTest, OffersACommonWordForARareOneASlipAway) { EXPECT_EQ(first("eft"), "left"); }

TEST_F(CorrectorTest, PutsTheApostropheBeforeAnS) {
  EXPECT_EQ(first("thats"), "that's");
  EXPECT_EQ(first("that'x"), "that's");
}

TEST_F(CorrectorTest, TakesTwoCapitalsForAShiftHeldTooLong) {
  EXPECT_EQ(first("TOmorow"), "Tomorrow");
  EXPECT_EQ(first("TomoRow"), "");
}

// Each of them is the likelier reading by some nats; more is asked for than of a plain slip.
TEST_F(CorrectorTest, AsksForMoreWhereSpacesChangeOrANameAppears) {
  CorrectionRules strict = correction_rules();
  strict.spaces = 40;
  strict.renamed = 40;
  Corrector corrector(*lexicon_, nullptr, noise_costs(), strict);
  EXPECT_TRUE(corrector.correct("", "alot", Typing::Finished).empty());
  EXPECT_TRUE(corrector.correct("", "lodnon", Typing::Finished).empty());
  EXPECT_FALSE(corrector.correct("", "Lodnon", Typing::Finished).empty());
  EXPECT_FALSE(corrector.correct("", "teh", Typing::Finished).empty());
}

// Complaint 18: hyphens, digits, @, / and _ are never taken away, nor what they join looked at.
TEST_F(CorrectorTest, LeavesWhatIsNoPlainWordAlone) {
  EXPECT_EQ(first("teh", "top-"), "");
  EXPECT_EQ(first("teh", "user@"), "");
  EXPECT_EQ(first("teh", "my_"), "");
  EXPECT_EQ(first("teh", "www."), "");
  EXPECT_EQ(first("teh", "3"), "");
  for (const char* typed : {"te4h", "te-h", "te_h", "te@h", "tehStuff", "\xC3\xA0s", "t", ""}) {
    EXPECT_EQ(first(typed), "") << typed;
  }
  EXPECT_EQ(first(std::string(60, 'a')), "");
}

TEST_F(CorrectorTest, LeavesNamesAndWhatTheWriterUsesAlone) {
  EXPECT_EQ(first("Xinhua", "news from "), "");
  EXPECT_EQ(first("tomorow"), "tomorrow");
  EXPECT_EQ(first("tomorow", "our ship Tomorow, tomorow for short, "), "");
}

TEST_F(CorrectorTest, JoinsAndMovesSpaces) {
  const auto joined = corrector_.correct("come to ", "gether", Typing::Finished);
  bool found = false;
  for (const Correction& correction : joined) {
    found = found || (correction.text == "together" && correction.erase_more == 3);
  }
  EXPECT_TRUE(found);
  const auto moved = corrector_.correct("see th ", "ecat", Typing::Finished);
  ASSERT_FALSE(moved.empty());
  EXPECT_EQ(moved.front().text, "the cat");
  EXPECT_EQ(moved.front().erase_more, 3u);
}

TEST_F(CorrectorTest, CompletesWhileTypingOnlyWhatWentWrong) {
  EXPECT_EQ(first("becua", "", Typing::Open), "because");
  EXPECT_EQ(first("beca", "", Typing::Open), "");  // goes on as a word does
}

TEST_F(CorrectorTest, GivesProbabilitiesThatSumToOneAtMost) {
  const auto found = corrector_.correct("", "teh", Typing::Finished);
  float sum = corrector_.probability_as_typed();
  float last = 1;
  for (const Correction& correction : found) {
    EXPECT_LE(correction.probability, last);
    EXPECT_LE(correction.log_prob, 0);
    EXPECT_LT(correction.log_noise, 0);
    last = correction.probability;
    sum += correction.probability;
  }
  EXPECT_LE(sum, 1.001F);
}

TEST_F(CorrectorTest, SurvivesAnyBytes) {
  for (const char* typed :
       {"\xFF\xFE", "a\xC3", "'''", "’’’", "a'b'c", "zzzzzzzzzzzzzzzzzzzzzzzz"}) {
    static_cast<void>(corrector_.correct(typed, typed, Typing::Finished));
    static_cast<void>(corrector_.correct(typed, typed, Typing::Open));
  }
}

TEST_F(CorrectorTest, AllocatesNothing) {
  const base::AllocationScope counter;
  for (const char* typed : {"teh", "becuase", "xqzvkjw", "tomorow", "alot"}) {
    static_cast<void>(corrector_.correct("some text before ", typed, Typing::Finished));
    static_cast<void>(corrector_.correct("some text before ", typed, Typing::Open));
  }
  EXPECT_EQ(counter.count(), 0u);
}

class CorrectionSourceTest : public CorrectorTest {
 protected:
  std::vector<Offer> offers(std::string_view before) {
    TypedText text;
    text.assign(before, "", LeftEdge::FieldStart);
    PrefixBytes bytes;
    const WordQuery query = word_query(text, &bytes);
    list_.clear();
    source_.offer(text, query, WordPool{}, &list_);
    return {list_.offers().begin(), list_.offers().end()};
  }
  CorrectionSource source_{lexicon_, nullptr};
  OfferList list_;
};

TEST_F(CorrectionSourceTest, OffersForTheOpenWordAndForTheOneJustFinished) {
  const auto open = offers("see teh");
  ASSERT_FALSE(open.empty());
  EXPECT_EQ(open.front().text, "the");
  EXPECT_EQ(open.front().erase_bytes, 3);
  EXPECT_EQ(open.front().origin, Origin::Correction);
  const auto closed = offers("see teh ");
  ASSERT_FALSE(closed.empty());
  EXPECT_EQ(closed.front().text, "the");
  EXPECT_EQ(closed.front().erase_bytes, 4);
  EXPECT_TRUE(offers("see the ").empty());
  EXPECT_TRUE(offers("see the").empty());
  EXPECT_TRUE(offers("").empty());
}

}  // namespace
}  // namespace laya::predict
