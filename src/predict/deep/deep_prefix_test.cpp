// Beginnings that are known are not read again: by another session, on coming back to a field, or
// because every text begins so. And what must not be remembered is not.
#include <gtest/gtest.h>

#include "predict/deep/test_deep_models.h"
#include "predict/deep/test_slow_decoder.h"
#include "predict/engine/deep_service.h"
#include "predict/session/test_engine.h"

namespace laya::predict {
namespace {

constexpr std::string_view kMails =
    "thank you very much for the tom we see you at the thank you very much to see the thank you "
    "for the very very thank at tom for you and see much to the very thank you at the tom at ";
constexpr std::string_view kChat =
    "see you tomorrow at the tom tom see you for the thank very to tomorrow you see the tom for "
    "see tomorrow much the at you see thank the to tomorrow for you tom at the very tomorrow to ";

/// A table and a small real decoder; `opening` tokens before every text.
struct Prefixes {
  explicit Prefixes(std::size_t opening = 1, std::size_t megabytes = 32) {
    EngineOptions options;
    options.deep.first.assign(opening, 0);
    options.deep.prefix_mb = megabytes;
    EngineParts parts = table_parts();
    auto tokenizer = std::make_unique<text::SubwordTokenizer>(small_tokenizer());
    decoder.emplace(tokenizer->size());
    parts.decoder = decoder->load();
    parts.decoder_tokenizer = std::move(tokenizer);
    engine = build_or_abort(std::move(parts), options);
  }
  std::size_t kept() const { return engine->deep_service()->prefixes().entries(); }

  std::optional<SmallDecoder> decoder;  // its file must stay
  std::shared_ptr<const Engine> engine;
};

struct Cost {
  std::uint64_t passes;
  std::uint64_t columns;
  Answer answer;
};

Cost ask_at(Session& session, std::string_view before) {
  const DeepStatistics was = session.deep_statistics();
  session.set_text({.revision = 1, .before = before});
  const Answer answer = copy_of(session.decide({.deep_wait_us = kUntilDone}));
  const DeepStatistics is = session.deep_statistics();
  return {is.passes - was.passes, is.columns - was.columns, answer};
}

TEST(DeepPrefixes, ASecondSessionOnTheSameBeginningReadsItNotAgain) {
  Prefixes with;
  Session first(*with.engine);
  const Cost cold = ask_at(first, kMails);
  ASSERT_GE(cold.columns, 40u);
  EXPECT_EQ(with.kept(), 1u);
  Session second(*with.engine);
  const Cost warm = ask_at(second, kMails);
  EXPECT_LE(warm.columns, cold.columns - 30) << "the beginning was copied";
  EXPECT_LE(warm.passes, 2u) << "the last token, and what may follow it";
  EXPECT_EQ(warm.answer.texts, cold.answer.texts);
  EXPECT_EQ(warm.answer.log_probs, cold.answer.log_probs);
}

TEST(DeepPrefixes, ComingBackToAFieldReadsItNotAgain) {
  Prefixes with;
  Session session(*with.engine);
  const Cost mails = ask_at(session, kMails);
  const Cost chat = ask_at(session, kChat);
  ASSERT_GE(mails.columns, 40u);
  ASSERT_GE(chat.columns, 40u);
  for (int i = 0; i < 3; ++i) {
    const Cost again = ask_at(session, kMails);
    EXPECT_LE(again.passes, 2u);
    EXPECT_EQ(again.answer.log_probs, mails.answer.log_probs);
    const Cost back = ask_at(session, kChat);
    EXPECT_LE(back.passes, 2u);
    EXPECT_EQ(back.answer.log_probs, chat.answer.log_probs);
  }
  // Further on in a text that was left further back, too.
  const Cost more = ask_at(session, std::string(kMails) + "see you tom");
  EXPECT_LE(more.columns, 30u);
  Prefixes fresh;
  Session other(*fresh.engine);
  EXPECT_EQ(more.answer.log_probs,
            ask_at(other, std::string(kMails) + "see you tom").answer.log_probs);
}

TEST(DeepPrefixes, WithoutRoomItIsReadAgain) {
  Prefixes without(1, 0);
  Session session(*without.engine);
  const Cost cold = ask_at(session, kMails);
  ask_at(session, kChat);
  EXPECT_GE(ask_at(session, kMails).columns + 1, cold.columns) << "all but what begins every text";
  EXPECT_EQ(without.kept(), 0u);
}

TEST(DeepPrefixes, TheOpeningIsReadOnceForAllSessions) {
  Prefixes with(90);
  EXPECT_EQ(with.kept(), 1u);
  for (int i = 0; i < 3; ++i) {
    Session session(*with.engine);
    const Cost first_key = ask_at(session, "s");
    EXPECT_LE(first_key.passes, 2u);
    EXPECT_LE(first_key.columns, 14u);
    ask_at(session, kMails);
    session.clear();
    EXPECT_EQ(with.kept(), 1u) << "the opening is nobody's text";
  }
  Prefixes without(90, 0);
  Session session(*without.engine);
  EXPECT_GE(ask_at(session, "s").columns, 90u);
}

// What is cleared is forgotten, everywhere.
TEST(DeepPrefixes, ClearingTakesBackWhatWasLeft) {
  Prefixes with;
  Session session(*with.engine);
  Session other(*with.engine);
  ask_at(session, kMails);
  ask_at(other, kChat);
  EXPECT_EQ(with.kept(), 2u);
  session.clear();
  EXPECT_EQ(with.kept(), 1u) << "the other session's stays";
  EXPECT_GE(ask_at(session, kMails).columns, 40u);
  session.set_text({.revision = 2, .before = "secret", .kind = FieldKind::Password});
  EXPECT_EQ(with.kept(), 1u);
  {
    Session brief(*with.engine);
    ask_at(brief, kMails);
    EXPECT_EQ(with.kept(), 2u);
  }
  EXPECT_EQ(with.kept(), 1u) << "a session that is gone leaves nothing";
}

TEST(DeepPrefixes, PrivateFieldsLeaveNothing) {
  Prefixes with;
  for (const FieldKind kind :
       {FieldKind::Password, FieldKind::Pin, FieldKind::Private, FieldKind::Terminal}) {
    Session session(*with.engine);
    session.set_text({.revision = 1, .before = kMails, .kind = kind});
    session.decide({.deep_wait_us = kUntilDone});
    session.set_text({.revision = 2, .before = kChat, .kind = kind});
    session.decide({.deep_wait_us = kUntilDone});
    EXPECT_EQ(with.kept(), 0u);
  }
}

// A long text is cut at the same place whatever was typed before it.
TEST(DeepPrefixes, ALongTextIsFoundAgainToo) {
  Prefixes with;
  std::string mail;
  std::string book;
  for (int i = 0; i < 40; ++i) {
    mail += kMails;
    book += kChat;
  }
  Session session(*with.engine);
  const Cost cold = ask_at(session, mail);
  ask_at(session, book);
  const Cost again = ask_at(session, mail);
  EXPECT_LE(again.passes, 2u);
  EXPECT_EQ(again.answer.log_probs, cold.answer.log_probs);
}

}  // namespace
}  // namespace laya::predict
