#include "predict/session/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/allocation_counter.h"
#include "base/utf8.h"
#include "predict/session/test_engine.h"
#include "predict/source/decide_options.h"
#include "predict/source/source.h"
#include "text/grapheme.h"

namespace laya::predict {
namespace {

void must(const Status& status) { ASSERT_TRUE(status.has_value()); }

bool offers(const Answer& answer, std::string_view text) {
  return std::find(answer.texts.begin(), answer.texts.end(), text) != answer.texts.end();
}

std::vector<std::string> sample_texts() {
  return {"",
          "s",
          "see",
          "see you tom",
          "Thank you for your ",
          "I don't th",
          "TOM",
          "我们",
          "我们明天去吃",
          "把 PPT 发我 tom",
          "Hello. ",
          "see you on Mon",
          "(see yo",
          "top-dow"};
}

TEST(Session, CompletesTheWordFromItsContext) {
  const Answer answer = ask(table_engine(), "see you tom");
  ASSERT_FALSE(answer.texts.empty());
  EXPECT_EQ(answer.texts[0], "tomorrow");
  EXPECT_EQ(answer.inserts[0], "orrow");
  EXPECT_TRUE(answer.ghost.starts_with("orrow")) << answer.ghost;
}

TEST(Session, PredictsTheNextWordBeforeItsFirstLetter) {
  EXPECT_EQ(ask(table_engine(), "thank you very ").texts[0], "much");
  EXPECT_EQ(ask(table_engine(), "thank ").ghost.substr(0, 3), "you");
}

// Complaint 26: what stands before decides.
TEST(Session, PredictsChineseCharactersAndWords) {
  EXPECT_TRUE(offers(ask(table_engine(), "我们明"), "天"));
  const Answer answer = ask(table_engine(), "生日");
  ASSERT_FALSE(answer.texts.empty());
  EXPECT_EQ(answer.texts[0], "快乐");
  EXPECT_EQ(answer.inserts[0], "快乐");
}

// Complaint 1: for every split of the table's words, prefix + insert == the word that is shown.
TEST(Session, PrefixAndInsertGiveTheShownWordAtEverySplit) {
  for (const Engine* engine : {&table_engine(), &full_engine()}) {
    Session session(*engine);
    const model::NgramModel& table = test_table();
    for (model::WordId word = model::kFirstLexiconWord; word < table.size(); ++word) {
      if (!table.is_word(word)) {
        continue;
      }
      const std::string key(table.text(word));
      for (std::size_t split = 0; split < key.size(); ++split) {
        if (base::complete_utf8_length(key.substr(0, split)) != split) {
          continue;
        }
        session.set_text({.revision = 1, .before = key.substr(0, split)});
        for (const Candidate& candidate : session.decide({.candidates = 10}).candidates) {
          ASSERT_EQ(key.substr(0, split) + std::string(candidate.insert), candidate.text);
          ASSERT_FALSE(candidate.insert.empty());
          ASSERT_NE(candidate.insert.front(), ' ');
        }
      }
    }
  }
}

// Complaint 8 and 2: the list and the ghost only extend what was typed; nothing is half a
// character.
TEST(Session, GhostAndCandidatesAreWholeCharactersAndExtend) {
  for (const Engine* engine : {&table_engine(), &full_engine(), &network_engine()}) {
    for (const std::string& before : sample_texts()) {
      SCOPED_TRACE(before);
      const Answer answer = ask(*engine, before);
      for (const std::string& text : answer.texts) {
        EXPECT_TRUE(base::is_valid_utf8(text));
        EXPECT_EQ(text.find('<'), std::string::npos);  // no <EMAIL>, <URL>, <NUM>
      }
      EXPECT_TRUE(base::is_valid_utf8(answer.ghost));
      EXPECT_EQ(answer.ghost.find('<'), std::string::npos);
      EXPECT_EQ(answer.ghost.find('\n'), std::string::npos);
    }
  }
}

// Complaint 4.
TEST(Session, NeverShowsPunctuationAlone) {
  for (const Engine* engine : {&table_engine(), &full_engine(), &network_engine()}) {
    for (const std::string& before : sample_texts()) {
      SCOPED_TRACE(before);
      const Answer answer = ask(*engine, before);
      const auto has_letter = [](std::string_view text) {
        return std::any_of(text.begin(), text.end(), [](char c) {
          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                 static_cast<unsigned char>(c) >= 0x80;
        });
      };
      EXPECT_TRUE(answer.ghost.empty() || has_letter(answer.ghost)) << answer.ghost;
      for (const std::string& text : answer.texts) {
        EXPECT_TRUE(has_letter(text)) << text;
      }
    }
  }
}

// Complaint 3: what stands right of the caret is not said again.
TEST(Session, DoesNotRepeatWhatFollowsTheCaret) {
  EXPECT_EQ(ask(table_engine(), "see you ").texts[0], "tomorrow");
  EXPECT_FALSE(offers(ask(table_engine(), "see you ", "tomorrow morning"), "tomorrow"));
  const Answer answer = ask(table_engine(), "see you ", " tomorrow");
  EXPECT_FALSE(offers(answer, "tomorrow"));
  EXPECT_EQ(answer.ghost.find("tomorrow"), std::string::npos);
  EXPECT_FALSE(offers(ask(table_engine(), "see you tom", " tomorrow"), "tomorrow"));
  EXPECT_FALSE(offers(ask(table_engine(), "我们明", "天见"), "天"));
}

TEST(Session, InsideAWordItsEndIsRespected) {
  const Answer answer = ask(table_engine(), "see you tom", "row");
  for (std::size_t i = 0; i < answer.texts.size(); ++i) {
    EXPECT_EQ(answer.texts[i] + "row", "tomorrow");
    EXPECT_EQ(answer.inserts[i], "or");
  }
  EXPECT_EQ(answer.texts.size(), 1U);
  EXPECT_TRUE(answer.ghost.empty());
  EXPECT_EQ(ask(table_engine(), "see you tom", "zzz").silence, Silence::MidWord);
  EXPECT_EQ(ask(table_engine(), "see you ", "tomorrow").silence, Silence::MidWord);
}

// Complaints 7, 8 and 10.
TEST(Session, CaseFollowsTheTypedLettersAndTheSentence) {
  EXPECT_TRUE(offers(ask(table_engine(), "Hello. "), "The"));
  EXPECT_FALSE(offers(ask(table_engine(), "Hello. "), "THE"));
  EXPECT_TRUE(offers(ask(table_engine(), "see e.g. "), "the"));
  EXPECT_EQ(ask(table_engine(), "see you TOM").texts[0], "TOMORROW");
  EXPECT_EQ(ask(table_engine(), "see you Tom").texts[0], "Tomorrow");
  EXPECT_EQ(ask(table_engine(), "we met in lon").texts[0], "london");
  EXPECT_TRUE(offers(ask(table_engine(), "I am going to "), "London"));
  const Answer unknown = ask(table_engine(), "", "", LeftEdge::Unknown);
  EXPECT_TRUE(offers(unknown, "the")) << "an unknown left context raises nothing";
}

// Complaints 17 and 18: nothing that was typed is taken away, whatever it is.
TEST(Session, NeverTouchesTypedLetters) {
  for (const char* before : {"às", "top-down", "naïve caf", "a_b", "x@y", "1/2", "thr"}) {
    SCOPED_TRACE(before);
    for (const Engine* engine : {&table_engine(), &full_engine()}) {
      const Answer answer = ask(*engine, before);
      for (std::size_t i = 0; i < answer.texts.size(); ++i) {
        const std::string typed =
            answer.texts[i].substr(0, answer.texts[i].size() - answer.inserts[i].size());
        EXPECT_TRUE(std::string_view(before).ends_with(typed));
      }
    }
  }
}

// Complaint 24.
TEST(Session, TheSameTextGivesTheSameOrderHoweverItCameThere) {
  const std::string text = "I will see you tom";
  const Answer at_once = ask(full_engine(), text);
  Session session(full_engine());
  session.set_text({.revision = 0, .before = {}});
  for (const char key : text) {
    ASSERT_TRUE(session.edit({.revision = 1, .insert = {&key, 1}}));
    session.decide({});
  }
  const Answer typed = copy_of(session.decide({.candidates = 10}));
  EXPECT_EQ(typed.texts, at_once.texts);
  EXPECT_EQ(typed.ghost, at_once.ghost);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(copy_of(session.decide({.candidates = 10})).texts, at_once.texts);
  }
}

TEST(Session, BackspaceGivesTheStateBefore) {
  const std::string text = "thank you very ";
  const Answer before = ask(full_engine(), text);
  Session session(full_engine());
  session.set_text({.revision = 0, .before = text});
  session.decide({});
  ASSERT_TRUE(session.edit({.revision = 1, .insert = "much for "}));
  session.decide({});
  const std::uint64_t passes = session.passes();
  ASSERT_TRUE(session.edit({.revision = 2, .erase_before = 9}));
  const Answer after = copy_of(session.decide({.candidates = 10, .ghost = Want::No}));
  EXPECT_EQ(after.texts, before.texts);
  EXPECT_LE(session.passes() - passes, 2U) << "truncated, not run again";
}

// A pass only where a token boundary is crossed.
TEST(Session, LettersOfAWordNeedNoPassOfTheNetwork) {
  Session session(network_engine());
  session.set_text({.revision = 0, .before = "thank you "});
  session.decide({.ghost = Want::No});
  const std::uint64_t passes = session.passes();
  for (const char key : std::string("governm")) {
    ASSERT_TRUE(session.edit({.revision = 1, .insert = {&key, 1}}));
    session.decide({.ghost = Want::No});
  }
  EXPECT_LE(session.passes() - passes, 7U * 2U);
  // The same prefix again: everything is there already.
  const std::uint64_t again = session.passes();
  ASSERT_TRUE(session.edit({.revision = 2, .erase_before = 1}));
  session.decide({.ghost = Want::No});
  EXPECT_EQ(session.passes(), again);
}

// The network's probability of a word of several pieces is the product along the tokeniser's cut;
// the form with the other case counts a tenth (WordQuery::other_case).
TEST(Session, WordsOfSeveralPiecesGetTheProductOfTheirPieces) {
  const Engine& engine = full_engine();
  Session session(engine);
  session.set_text({.revision = 0, .before = "I do"});
  session.decide({.candidates = 10, .ghost = Want::No});
  const auto pool = session.pool();
  const auto word =
      std::find_if(pool.begin(), pool.end(), [](const PoolWord& w) { return w.key == "don't"; });
  ASSERT_NE(word, pool.end());

  const auto network = test_network();
  const auto workspace = network->make_workspace();
  const auto probability = [&](const std::string& text) {
    double p = 0;
    for (const std::string& last : {text + " ", text}) {
      model::State state(network->config());
      must(network->advance(*workspace, state, engine.tokenizer()->vocabulary().begin_id()));
      std::vector<TokenId> tokens = engine.tokenizer()->encode("I ");
      const std::size_t context = tokens.size();
      const std::vector<TokenId> pieces = engine.tokenizer()->encode(last);
      tokens.insert(tokens.end(), pieces.begin(), pieces.end());
      double log_p = 0;
      std::vector<float> logits(network->config().vocabulary_size);
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (i >= context) {
          must(network->logits(*workspace, state.output(), 1, logits));
          log_p += logits[tokens[i]] - model::log_sum_exp(logits);
        }
        must(network->advance(*workspace, state, tokens[i]));
      }
      p += (last.back() == ' ' ? 1.0 : 0.7) * std::exp(log_p);
    }
    return p;
  };
  EXPECT_NEAR(word->log_p_network, std::log(probability("don't") + 0.1 * probability("Don't")),
              0.02);
}

// Complaints 19 and 20: of a blocked field not one byte reaches the engine.
TEST(Session, ABlockedFieldGivesNotOneByte) {
  for (const FieldKind kind :
       {FieldKind::Password, FieldKind::Pin, FieldKind::Private, FieldKind::Terminal}) {
    Session session(full_engine());
    session.set_text({.revision = 1, .before = "hunter2", .after = "x", .kind = kind});
    ASSERT_TRUE(session.edit({.revision = 2, .insert = "secret"}));
    ASSERT_TRUE(session.edit({.revision = 3, .erase_before = 1000}));
    const Reply& reply = session.decide({});
    EXPECT_EQ(reply.revision, 3U);
    EXPECT_EQ(reply.silence, Silence::FieldBlocked);
    EXPECT_TRUE(reply.candidates.empty());
    EXPECT_FALSE(reply.has_ghost);
    EXPECT_EQ(session.bytes_read(), 0U);
    EXPECT_EQ(session.passes(), 0U);
    NextHan han;
    EXPECT_EQ(session.next_han({&han, 1}), 0U);
  }
}

TEST(Session, AFieldThatTurnsSecretForgetsItsText) {
  Session session(table_engine());
  session.set_text({.revision = 1, .before = "see you "});
  session.decide({});
  const std::uint64_t read = session.bytes_read();
  session.set_text({.revision = 2, .before = "see you hunter2", .kind = FieldKind::Password});
  EXPECT_EQ(session.decide({}).silence, Silence::FieldBlocked);
  EXPECT_EQ(session.bytes_read(), read);
  session.set_text({.revision = 3, .before = ""});
  EXPECT_EQ(copy_of(session.decide({.candidates = 10})).texts, ask(table_engine(), "").texts);
}

TEST(Session, EveryReplyCarriesItsRevision) {
  Session session(table_engine());
  session.set_text({.revision = 41, .before = "s"});
  EXPECT_EQ(session.decide({}).revision, 41U);
  ASSERT_TRUE(session.edit({.revision = 42, .insert = "e"}));
  EXPECT_EQ(session.decide({}).revision, 42U);
}

TEST(Session, OddTextHasAClearOutcome) {
  for (const Engine* engine : {&table_engine(), &full_engine(), &network_engine()}) {
    const Answer empty = ask(*engine, "");
    EXPECT_EQ(empty.silence, Silence::Answered);
    EXPECT_FALSE(empty.texts.empty());
    EXPECT_TRUE(empty.ghost.empty()) << "a ghost in an empty field is a guess about a stranger";
    EXPECT_EQ(ask(*engine, "see \xE6\x98").silence, Silence::HalfCharacter);
    EXPECT_TRUE(ask(*engine, "see \xE6\x98").texts.empty());
    for (const char* text : {"\xFF\xFE\x80", "😀😀", "👨‍👩‍👧", "\x01\x02", "<EMAIL>",
                             "42", "!!!", "こんにちは", "qzxjvkqzxjvk", "foo@bar.co",
                             "ssssssssssssssssssssssssssssssssssssssssssssssssssss"}) {
      SCOPED_TRACE(text);
      const Answer answer = ask(*engine, text);
      EXPECT_EQ(answer.texts.empty(), answer.silence != Silence::Answered);
      for (const std::string& candidate : answer.texts) {
        EXPECT_TRUE(base::is_valid_utf8(candidate));
      }
    }
    EXPECT_EQ(ask(*engine, "42").silence, Silence::NeedsSpace);
    EXPECT_EQ(ask(*engine, "foo@bar.co").silence, Silence::NothingKnown);
    EXPECT_EQ(ask(table_engine(), "qzxjvkqzxjvk").silence, Silence::NothingKnown);
  }
}

// Complaint 5, the engine's side: while a space is owed the next word is predicted, and a letter
// joins.
TEST(Session, AnOwedSpacePredictsTheNextWord) {
  Session session(table_engine());
  session.set_text(
      {.revision = 1, .before = "thank you very", .pending_space = PendingSpace::Owed});
  EXPECT_EQ(copy_of(session.decide({})).texts[0], "much");
  session.set_text({.revision = 2, .before = "the title", .pending_space = PendingSpace::Owed});
  session.decide({});
  ASSERT_TRUE(session.edit({.revision = 3, .insert = "s"}));
  EXPECT_EQ(copy_of(session.decide({})).texts, ask(table_engine(), "the titles").texts);
}

TEST(Session, ErasingMoreThanIsKeptIsAnError) {
  Session session(table_engine());
  session.set_text({.revision = 1, .before = "abc", .after = "d"});
  const Status status = session.edit({.revision = 2, .erase_before = 4});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::BadArgument);
  EXPECT_FALSE(session.edit({.revision = 3, .erase_after = 2}));
  EXPECT_TRUE(session.edit({.revision = 4, .erase_before = 3, .erase_after = 1}));
}

// Complaint 22: a megabyte of text costs what a line costs.
TEST(Session, AMegabyteOfTextAnswersLikeItsEnd) {
  std::string book;
  while (book.size() < (1U << 20)) {
    book += "The weather is good today. 今天天气很好。\n";
  }
  Session session(full_engine());
  session.set_text({.revision = 1, .before = book + "see you tom"});
  const Answer long_answer = copy_of(session.decide({.candidates = 3}));
  ASSERT_FALSE(long_answer.texts.empty());
  EXPECT_EQ(long_answer.texts[0], "tomorrow");
  const std::uint64_t passes = session.passes();
  EXPECT_LE(passes, kContextTokens + 20);
  book += "see you tom";
  for (int i = 0; i < 200; ++i) {
    book += 'o';
    ASSERT_TRUE(session.edit({.revision = 2, .insert = "o"}));
    session.decide({.candidates = 3, .ghost = Want::No});
  }
  // A front end that sends the whole text each time pays for what changed only.
  const std::uint64_t before = session.passes();
  session.set_text({.revision = 3, .before = book + " a"});
  session.decide({.candidates = 3, .ghost = Want::No});
  EXPECT_LE(session.passes() - before, 100U);
}

TEST(Session, ALongLineNeverRunsBackThroughTheNetwork) {
  Session session(network_engine());
  session.set_text({.revision = 0, .before = {}});
  std::uint64_t worst = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t before = session.passes();
    ASSERT_TRUE(session.edit({.revision = 1, .insert = i % 3 == 2 ? " " : "ab"}));
    session.decide({.candidates = 1, .ghost = Want::No});
    worst = std::max(worst, session.passes() - before);
  }
  EXPECT_LE(worst, 8U);
}

TEST(Session, NamesTheNextChineseCharacter) {
  Session session(full_engine());
  session.set_text({.revision = 0, .before = "祝你生日"});
  std::array<NextHan, 64> next;
  const std::size_t count = session.next_han(next);
  ASSERT_GE(count, 3U);
  EXPECT_TRUE(
      std::is_sorted(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(count),
                     [](const NextHan& a, const NextHan& b) { return a.log_prob > b.log_prob; }));
  EXPECT_TRUE(std::any_of(next.begin(), next.begin() + 3,
                          [](const NextHan& h) { return h.code_point == U'快'; }));
}

// 0 allocations per key after warm-up, whatever is typed.
TEST(Session, AllocatesNothingPerKeyAfterWarmUp) {
  for (const Engine* engine : {&table_engine(), &full_engine(), &network_engine()}) {
    Session session(*engine);
    session.warm_up();
    session.set_text({.revision = 0, .before = {}});
    const std::string text =
        "Thank you for your help, I don't know what you mean. 我们明天去吃饭吧 see you tomorrow at "
        "the café 😀 "
        "foo@bar.com 42 unbelievable systemctl";
    const std::size_t before = base::allocations_so_far();
    for (int round = 0; round < 3; ++round) {
      for (const char key : text) {
        if (!session.edit({.revision = 1, .insert = {&key, 1}})) {
          FAIL();
        }
        session.decide({.candidates = 10});
      }
      for (int i = 0; i < 40; ++i) {
        if (!session.edit({.revision = 2, .erase_before = 1})) {
          FAIL();
        }
        session.decide({.candidates = 10});
      }
    }
    EXPECT_EQ(base::allocations_so_far() - before, 0U);
  }
}

TEST(Session, SessionsDoNotDisturbEachOther) {
  Session a(full_engine());
  Session b(full_engine());
  a.set_text({.revision = 1, .before = "see you tom"});
  b.set_text({.revision = 1, .before = "thank you very "});
  a.decide({});
  b.decide({});
  EXPECT_EQ(copy_of(a.decide({.candidates = 10})).texts, ask(full_engine(), "see you tom").texts);
}

TEST(Engine, SaysWhatIsMissing) {
  EXPECT_EQ(Engine::open({}, {}).error().code, ErrorCode::BadArgument);
  EXPECT_EQ(Engine::open({.ngram_path = "no/such/file.laya"}, {}).error().code, ErrorCode::Io);
  const std::string text = std::string(LAYA_SOURCE_DIR) + "/testdata/predict/text.txt";
  EXPECT_EQ(Engine::open({.ngram_path = text}, {}).error().code, ErrorCode::Corrupt);
  const std::string table = std::string(LAYA_SOURCE_DIR) + "/testdata/predict/ngram.laya";
  EXPECT_TRUE(Engine::open({.ngram_path = table}, {}));
  EXPECT_EQ(Engine::open({.network_path = table}, {}).error().code, ErrorCode::BadArgument);
  EXPECT_EQ(Engine::open({.ngram_path = table}, {.threads = 3}).error().code,
            ErrorCode::BadArgument);
}

}  // namespace
}  // namespace laya::predict
