// What users of other keyboards complain about (33 cases collected from their issue trackers), as
// tests of the engine as it ships. Named after what the ideal system does; the number is the case.
// Those that are held elsewhere:
//    1  here, and Session.PrefixAndInsertGiveTheShownWordAtEverySplit
//    2  GhostState.DropsAReplyToAnOlderRevision, .TypingTheNextLetterShortensAnyOtherClears
//    3  here, and Session.DoesNotRepeatWhatFollowsTheCaret
//    4  here, and Session.NeverShowsPunctuationAlone
//    5  GhostState.ALetterJoinsAnAcceptedWord, .PunctuationAttachesAndASpaceIsNotDoubled,
//       Session.AnOwedSpacePredictsTheNextWord
//    6  here, and GhostState.TypedKeysComeOutAsTyped
//    7, 8, 10  here, and Casing.*, TypedText.StartsASentenceOnlyWhereOneStarts
//   15, 17, 18  here, and CorrectorTest.LeavesValidWordsAlone, .LeavesWhatIsNoPlainWordAlone
//   16  nothing is ever corrected by itself: here, as 6
//   19, 20, 21, 22, 23, 24, 30  complaints_session_test.cpp
//   25, 26, 27  RealPinyin.KeepsAnExactPhraseAboveComposedNonsense, .ListensToTheTextBefore,
//       PinyinSession.KeepsCapitalsAndNamesAsTyped, .RefusesEndlessInput (22)
//   28  GhostState.BlurAndDismissLeaveNothing, SessionDeep.BlurDropsWhatWasAsked
//   31  SessionDeep.AnEditTakesTheQuestionBackWithinALayer, Remote.TierAnswersTheLatestQuestionOnly
// Not the engine's yet: 9 (shortcuts), 11, 12, 13, 14, 32, 33 (what is learnt: the learn room), 29
// (whose key Tab is: the front ends).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "predict/session/test_engine.h"
#include "predict/session/test_shipped_engine.h"
#include "predict/source/block_list.h"

namespace laya::predict {
namespace {

/// A candidate, copied out.
struct Entry {
  std::string text;
  std::string insert;
  std::size_t erase;
  Origin origin;
};

struct Shown {
  std::vector<Entry> list;
  std::string ghost;
};

Shown shown(const Engine& engine, std::string_view before, std::string_view after = {},
            LeftEdge edge = LeftEdge::FieldStart) {
  Session session(engine);
  session.set_text({.revision = 1, .before = before, .after = after, .left_edge = edge});
  const Reply& reply = session.decide({.candidates = 10});
  Shown result;
  for (const Candidate& c : reply.candidates) {
    result.list.push_back({std::string(c.text), std::string(c.insert), c.erase_before, c.origin});
  }
  result.ghost = reply.has_ghost ? std::string(reply.ghost.text) : std::string();
  return result;
}

bool offers(const Shown& shown, std::string_view text) {
  return std::any_of(shown.list.begin(), shown.list.end(),
                     [&](const Entry& entry) { return entry.text == text; });
}

// 1
TEST(Complaints, AcceptingMidWordGivesTheShownWordByteForByte) {
  const model::NgramModel& table = *shipped_table_engine().ngrams();
  Session session(shipped_table_engine());
  std::size_t words = 0;
  for (model::WordId id = model::kFirstLexiconWord; id < table.size() && words < 1000; id += 41) {
    if (!table.is_word(id)) {
      continue;
    }
    ++words;
    const std::string key(table.text(id));
    for (std::size_t split = 1; split < key.size(); ++split) {
      const std::string before = "we " + key.substr(0, split);
      if (base::complete_utf8_length(before) != before.size()) {
        continue;
      }
      session.set_text({.revision = 1, .before = before});
      for (const Candidate& c : session.decide({.candidates = 10, .ghost = Want::No}).candidates) {
        ASSERT_LE(c.erase_before, before.size());
        const std::string result =
            before.substr(0, before.size() - c.erase_before) + std::string(c.insert);
        ASSERT_TRUE(result.ends_with(c.text)) << before << "|" << c.insert;
        if (c.erase_before == 0 && c.origin != Origin::Correction) {
          ASSERT_EQ(key.substr(0, split) + std::string(c.insert), c.text);
        }
      }
    }
  }
  EXPECT_GE(words, 900U);
}

// 3
TEST(Complaints, WhatStandsRightOfTheCaretIsNotInsertedAgain) {
  EXPECT_TRUE(offers(shown(shipped_engine(), "thank you very "), "much"));
  struct Case {
    const char* before;
    const char* after;
    const char* repeated;
  };
  for (const Case& c : {Case{"thank you very ", "much for", "much"},
                        {"thank you very mu", " much", "much"},
                        {"thank ", "you", "you"},
                        {"see you ", "tomorrow", "tomorrow"},
                        {"我们明", "天见", "天"},
                        {"write to ", "me@example.org", "me"},
                        {"call ", "me at 12345", "me"}}) {
    SCOPED_TRACE(std::string(c.before) + "|" + c.after);
    const Shown answer = shown(shipped_engine(), c.before, c.after);
    EXPECT_FALSE(offers(answer, c.repeated));
    EXPECT_FALSE(answer.ghost.starts_with(c.repeated));
  }
}

// 4
TEST(Complaints, PunctuationAloneIsNeverOffered) {
  for (const char* before :
       {"wait...", "wait... ", "so ", "ok. ", "好。", "我们走吧", "what?! ", "- ", "e.g. "}) {
    SCOPED_TRACE(before);
    const Shown answer = shown(shipped_engine(), before);
    const auto says_something = [](std::string_view text) {
      return std::any_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               static_cast<unsigned char>(c) >= 0x80U;
      });
    };
    EXPECT_TRUE(answer.ghost.empty() || says_something(answer.ghost)) << answer.ghost;
    for (const Entry& entry : answer.list) {
      EXPECT_TRUE(says_something(entry.text)) << entry.text;
    }
  }
}

// 6, 16: correcting is an offer, so there is nothing to undo and nothing that fires later.
TEST(Complaints, OnlyTheUserChangesTheText) {
  for (const char* before : {"teh", "i dont know", "recieve", "see you ,", "wrok.", "Hello ,"}) {
    SCOPED_TRACE(before);
    Session session(shipped_engine());
    session.set_text({.revision = 1, .before = before});
    const Reply& reply = session.decide({.candidates = 10});
    // The ghost only ever extends; a candidate that would change something says how much.
    for (const Candidate& c : reply.candidates) {
      if (c.erase_before > 0) {
        EXPECT_TRUE(c.origin == Origin::Correction || c.origin == Origin::Emoji);
        EXPECT_EQ(c.insert, c.text);
      } else {
        EXPECT_TRUE(c.text.ends_with(c.insert));
      }
    }
  }
}

// 7
TEST(Complaints, ASentenceStartRaisesOneLetter) {
  for (const char* before : {"", "Hello. ", "好吧。"}) {
    SCOPED_TRACE(before);
    std::size_t raised = 0;
    for (const Entry& entry : shown(shipped_engine(), before).list) {
      const std::string& text = entry.text;
      raised += text[0] >= 'A' && text[0] <= 'Z' ? 1 : 0;
      EXPECT_FALSE(text.size() > 3 && std::all_of(text.begin(), text.end(),
                                                  [](char c) { return c >= 'A' && c <= 'Z'; }))
          << text;
    }
    EXPECT_TRUE(raised > 0 || std::string_view(before).ends_with("。"));
  }
}

// 8
TEST(Complaints, TypedCapitalsStay) {
  for (const char* typed : {"TOM", "Tom", "ToM", "i", "I", "THANK", "Than"}) {
    SCOPED_TRACE(typed);
    const Shown answer = shown(shipped_engine(), std::string("we met ") + typed);
    for (const Entry& entry : answer.list) {
      if (entry.erase == 0) {
        EXPECT_TRUE(entry.text.starts_with(typed)) << entry.text;
      }
    }
  }
  EXPECT_TRUE(offers(shown(shipped_engine(), "see you TOM"), "TOMORROW"));
}

// 10
TEST(Complaints, AnUnknownLeftContextRaisesNothing) {
  for (const auto& [before, edge] :
       {std::pair{"", LeftEdge::Unknown}, std::pair{"see e.g. ", LeftEdge::FieldStart},
        std::pair{"it costs 3. ", LeftEdge::FieldStart}}) {
    SCOPED_TRACE(before);
    const Shown answer = shown(shipped_engine(), before, "", edge);
    EXPECT_TRUE(std::any_of(answer.list.begin(), answer.list.end(), [](const Entry& entry) {
      return entry.text[0] >= 'a' && entry.text[0] <= 'z';
    }));
  }
}

// 15
TEST(Complaints, ABlockedWordThatIsTypedStaysAsItIs) {
  EnginePaths paths = shipped_paths();
  paths.block_list_path.clear();
  auto parts = open_parts(paths, model::cpu_backend());
  ASSERT_TRUE(parts) << parts.error().message;
  parts->block_list =
      std::make_shared<const BlockList>(*BlockList::parse("[en test]\nthat\n", "list"));
  const auto engine = Engine::build(std::move(*parts), {});
  ASSERT_TRUE(engine) << engine.error().message;
  EXPECT_TRUE(offers(shown(shipped_engine(), "I think tha"), "that"));
  const Shown beginning = shown(**engine, "I think tha");
  EXPECT_FALSE(offers(beginning, "that"));
  const Shown typed = shown(**engine, "I think that");
  for (const Entry& entry : typed.list) {
    EXPECT_EQ(entry.erase, 0U) << "'" << entry.text << "' in place of a valid word";
  }
}

// 17
TEST(Complaints, ValidWordsAreNotCorrected) {
  for (const char* before :
       {"the café", "naïve", "we went to town", "I have its", "their", "we'll", "my résumé"}) {
    SCOPED_TRACE(before);
    for (const Entry& entry : shown(shipped_engine(), before).list) {
      EXPECT_EQ(entry.erase, 0U) << entry.text;
    }
  }
}

// 18
TEST(Complaints, HyphensDigitsAndSignsAreNeverTakenAway) {
  for (const char* before : {"top-down", "well-knwon", "x2y", "mail@exampel", "a/bcd", "snake_caes",
                             "v1.2", "100", "C3PO", "--hlep"}) {
    SCOPED_TRACE(before);
    for (const Entry& entry : shown(shipped_engine(), before).list) {
      const std::string_view text(before);
      const std::string_view erased = text.substr(text.size() - entry.erase);
      EXPECT_EQ(erased.find_first_of("-@/_0123456789"), std::string_view::npos)
          << entry.text << " for " << erased;
    }
  }
}

// What must never be suggested, by no source (the point 3).
TEST(NeverSuggested, BlockedPhrasesDoNotComeUpHoweverTheyBegin) {
  const BlockList& list = *shipped_engine().block_list();
  for (const char* phrase :
       {"I want to kill myself", "I want to die", "i will hurt myself", "he said suicide",
        "better off dead", "end my life", "我想自杀", "我不想活了", "他想去死", "结束生命",
        "andreu is", "seeit", "tomw ok", "call 91234567"}) {
    const std::string text(phrase);
    for (std::size_t end = 1; end <= text.size(); ++end) {
      const std::string before = text.substr(0, end);
      if (base::complete_utf8_length(before) != before.size()) {
        continue;
      }
      SCOPED_TRACE(before);
      const Shown answer = shown(shipped_engine(), before);
      for (const Entry& entry : answer.list) {
        const std::string_view kept = std::string_view(before).substr(0, end - entry.erase);
        EXPECT_FALSE(list.blocks_after(kept, entry.insert)) << entry.text;
      }
      EXPECT_FALSE(list.blocks_after(before, answer.ghost)) << answer.ghost;
    }
  }
}

// The same engine without the list would offer them: the test above can fail.
TEST(NeverSuggested, WithoutTheListJunkDoesComeUp) {
  EnginePaths paths = shipped_paths();
  paths.block_list_path.clear();
  const auto open = open_or_fail(paths);
  std::size_t without = 0;
  std::size_t with = 0;
  for (const char* junk : {"andreu", "seeit", "tomw", "shuhui"}) {
    const std::string word(junk);
    const std::string before = "ok " + word.substr(0, word.size() - 1);
    without += offers(shown(*open, before), word) ? 1 : 0;
    with += offers(shown(shipped_engine(), before), word) ? 1 : 0;
  }
  EXPECT_GE(without, 1U);
  EXPECT_EQ(with, 0U);
}

}  // namespace
}  // namespace laya::predict
