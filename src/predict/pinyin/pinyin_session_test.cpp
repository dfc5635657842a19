#include "predict/pinyin/pinyin_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/allocation_counter.h"
#include "pinyin/test_lexicon.h"
#include "pinyin/test_libime.h"
#include "predict/session/test_engine.h"
#include "predict/source/block_list.h"

namespace laya::predict {
namespace {

const PinyinModel& small_model() {
  static const PinyinModel model(full_engine(),
                                 {pinyin::make_lexicon(pinyin::everyday_words()), nullptr});
  return model;
}

/// libime's own data and the shipped model: what users have. nullptr where libime cannot be loaded.
const PinyinModel* real_model() {
  static const auto engine = [] {
    const std::string folder = std::string(LAYA_SOURCE_DIR) + "/models/instant/";
    return Engine::open({.network_path = folder + "gru.laya", .ngram_path = folder + "ngram.laya"},
                        {});
  }();
  static const std::unique_ptr<PinyinModel> model = [] {
    auto data = pinyin::load_libime({});
    EXPECT_TRUE(engine);
    return data && engine ? std::make_unique<PinyinModel>(**engine, std::move(*data)) : nullptr;
  }();
  return model.get();
}

std::vector<std::string> list(PinyinSession& session) {
  std::vector<std::string> texts;
  for (const PinyinCandidate& candidate : session.candidates()) {
    texts.emplace_back(candidate.text);
  }
  return texts;
}

std::string first_for(const PinyinModel& model, std::string_view before, std::string_view letters) {
  PinyinSession session(model);
  EXPECT_TRUE(session.set_context(before));
  EXPECT_TRUE(session.type(letters));
  return list(session).at(0);
}

bool holds(const std::vector<std::string>& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

TEST(PinyinSession, OffersSentenceThenWordsThenTheLetters) {
  PinyinSession session(small_model());
  ASSERT_TRUE(session.set_context(""));
  ASSERT_TRUE(session.type("nihao"));
  const auto candidates = session.candidates();
  ASSERT_GT(candidates.size(), 2U);
  EXPECT_EQ(candidates.front().kind, PinyinKind::Sentence);
  EXPECT_EQ(candidates.front().consumed, 5);
  EXPECT_EQ(candidates.back().kind, PinyinKind::Letters);
  EXPECT_EQ(candidates.back().text, "nihao");
  const auto texts = list(session);
  EXPECT_TRUE(holds(texts, "你好"));
  EXPECT_TRUE(holds(texts, "你")) << "a word for the first letters";
}

TEST(PinyinSession, KeepsTheLettersThatACandidateDoesNotStandFor) {
  PinyinSession session(small_model());
  ASSERT_TRUE(session.set_context(""));
  ASSERT_TRUE(session.type("nihao"));
  const auto texts = list(session);
  const auto at = std::find(texts.begin(), texts.end(), "你");
  ASSERT_NE(at, texts.end());
  const auto committed = session.commit(static_cast<std::size_t>(at - texts.begin()));
  ASSERT_TRUE(committed);
  EXPECT_EQ(*committed, "你");
  EXPECT_EQ(session.letters(), "hao");
  EXPECT_EQ(session.commit(1000).error().code, ErrorCode::BadArgument);
}

// What a letter added is gone when it is taken back: the same list, in the same order (24).
TEST(PinyinSession, OffersTheSameAfterALetterWasTakenBack) {
  PinyinSession typed(small_model());
  PinyinSession edited(small_model());
  ASSERT_TRUE(typed.set_context("我"));
  ASSERT_TRUE(edited.set_context("我"));
  for (const char letter : std::string_view("womenmingtianquxian")) {
    ASSERT_TRUE(typed.type({&letter, 1}));
    ASSERT_TRUE(edited.type("x"));
    ASSERT_TRUE(edited.type("z"));
    edited.erase();
    edited.erase();
    ASSERT_TRUE(edited.type({&letter, 1}));
    EXPECT_EQ(list(typed), list(edited)) << typed.letters();
  }
}

TEST(PinyinSession, ScoresLikeTheNetworkReadFromTheBeginning) {
  // Two sessions that reached the letters by different keys hold different states; the scores
  // agree.
  PinyinSession once(small_model());
  PinyinSession again(small_model());
  ASSERT_TRUE(once.set_context("我们"));
  ASSERT_TRUE(again.set_context("明天"));
  ASSERT_TRUE(again.type("zhongguo"));
  ASSERT_TRUE(again.set_context("我们"));
  ASSERT_TRUE(once.type("mingtianqu"));
  ASSERT_TRUE(again.type("mingtianqu"));
  const auto a = once.candidates();
  const auto b = again.candidates();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].text, b[i].text);
    EXPECT_FLOAT_EQ(a[i].score, b[i].score);
  }
}

// 27: capitals stay as they are, and what follows an underscore is a name.
TEST(PinyinSession, KeepsCapitalsAndNamesAsTyped) {
  EXPECT_EQ(first_for(small_model(), "", "woquKTVla"), "我去KTV啦");
  EXPECT_EQ(first_for(small_model(), "", "ava_app"), "ava_app");
}

TEST(PinyinSession, WritesEnglishAsUsualUnlessCapitalsAreTyped) {
  EXPECT_EQ(first_for(small_model(), "", "womentomorrowqu"), "我们tomorrow去");
  EXPECT_EQ(first_for(small_model(), "", "womenTOMORROWqu"), "我们TOMORROW去");
  EXPECT_EQ(first_for(small_model(), "", "see'you'tomorrow"), "see you tomorrow");
  EXPECT_EQ(first_for(small_model(), "", "womentomorrow'qu"), "我们tomorrow去");
}

TEST(PinyinEnglish, FindsTheWordsThatEndHere) {
  PinyinEnglish english(full_engine());
  const auto found = english.ending("womentomorrow");
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].start, 5);
  EXPECT_EQ(full_engine().ngrams()->text(found[0].word), "tomorrow");
  EXPECT_FALSE(english.pieces(found[0]).empty());
  EXPECT_TRUE(english.ending("").empty());
  EXPECT_FALSE(english.ending("Tomorrow").empty());
  EXPECT_TRUE(english.ending("tomorroW").empty());
  EXPECT_TRUE(english.ending("XTOMORROW").empty()) << "the end of another word";
  EXPECT_TRUE(english.ending("tomorrow'").empty());
  EXPECT_TRUE(english.ending("3").empty());
  const model::NgramContext none = full_engine().ngrams()->none();
  EXPECT_TRUE(std::isfinite(english.log_prob_of_begun(none, "tomor")));
  EXPECT_FALSE(std::isfinite(english.log_prob_of_begun(none, "qqqq")));
  EXPECT_FALSE(std::isfinite(english.log_prob_of_begun(none, "to"))) << "too short to tell";
  EXPECT_FALSE(std::isfinite(english.log_prob_of_begun(none, std::string(40, 't'))));
}

// English words weigh a reading up; they do not make initials a word spelt in full.
TEST(PinyinSession, BlocksWhatInitialsMayMeanBehindEnglishWordsToo) {
  EngineParts parts = table_parts();
  parts.block_list =
      std::make_shared<const BlockList>(*BlockList::parse("[zh test]\n中国\n", "list"));
  const auto engine = build_or_abort(std::move(parts));
  const PinyinModel model(*engine, {pinyin::make_lexicon(pinyin::everyday_words()), nullptr});
  PinyinSession session(model);
  for (const char* words : {"", "tomorrow", "see'you'tomorrow"}) {
    ASSERT_TRUE(session.set_context(""));
    ASSERT_TRUE(session.type(std::string(words) + "zhg"));
    for (const std::string& text : list(session)) {
      EXPECT_EQ(text.find("中国"), std::string::npos) << text;
    }
  }
}

// 22: long input is bounded, and what is typed beyond it is refused, not dropped in silence.
TEST(PinyinSession, RefusesEndlessInput) {
  PinyinSession session(small_model());
  ASSERT_TRUE(session.set_context(""));
  const std::string letters(pinyin::Paths::kMaxLetters, 's');
  ASSERT_TRUE(session.type(letters));
  EXPECT_EQ(session.type("s").error().code, ErrorCode::TooLarge);
  EXPECT_EQ(session.letters(), letters);
}

TEST(PinyinSession, TellsWhyLettersWereNotTaken) {
  PinyinSession session(small_model());
  ASSERT_TRUE(session.set_context(""));
  ASSERT_TRUE(session.type(std::string(PinyinSearch::kMaxLetters, 'a')));
  EXPECT_EQ(session.reply().refusal, PinyinRefusal::None);
  EXPECT_EQ(session.type(std::string(100000, 'a')).error().code, ErrorCode::TooLarge);
  const PinyinReply reply = session.reply();
  EXPECT_EQ(reply.refusal, PinyinRefusal::TooManyLetters);
  EXPECT_EQ(reply.letters.size(), PinyinSearch::kMaxLetters);
  EXPECT_FALSE(reply.candidates.empty());
  session.erase();
  EXPECT_EQ(session.reply().refusal, PinyinRefusal::None);
}

TEST(PinyinSession, TakesLettersAsAWhole) {
  PinyinSession whole(small_model());
  PinyinSession typed(small_model());
  ASSERT_TRUE(whole.set_context("我"));
  ASSERT_TRUE(typed.set_context("我"));
  ASSERT_TRUE(whole.set_letters("womenqux"));
  ASSERT_TRUE(whole.set_letters("women mingtian"));
  ASSERT_TRUE(typed.type("women mingtian"));
  EXPECT_EQ(whole.letters(), "women'mingtian");
  EXPECT_EQ(list(whole), list(typed));
  ASSERT_TRUE(whole.set_letters(""));
  EXPECT_TRUE(list(whole).empty());
}

TEST(PinyinSession, StopsWhenCancelledAndGoesOnWhereItWas) {
  PinyinSession session(small_model());
  base::CancelFlag cancel;
  cancel.cancel();
  EXPECT_EQ(session.set_context("我们明天", FieldKind::Text, &cancel).error().code,
            ErrorCode::Cancelled);
  EXPECT_EQ(session.type("nihao", &cancel).error().code, ErrorCode::Cancelled);
  EXPECT_EQ(session.reply().refusal, PinyinRefusal::Failed);
  EXPECT_TRUE(session.letters().empty());
  ASSERT_TRUE(session.type("nihao"));
  PinyinSession straight(small_model());
  ASSERT_TRUE(straight.set_context("我们明天"));
  ASSERT_TRUE(straight.type("nihao"));
  EXPECT_EQ(list(session), list(straight));
  EXPECT_FLOAT_EQ(session.candidates()[0].score, straight.candidates()[0].score);
}

TEST(PinyinSession, KeepsNoLetterOfABlockedField) {
  for (const FieldKind kind :
       {FieldKind::Password, FieldKind::Pin, FieldKind::Private, FieldKind::Terminal}) {
    PinyinSession session(small_model());
    ASSERT_TRUE(session.set_context("secret", kind));
    ASSERT_TRUE(session.type("nihao"));
    ASSERT_TRUE(session.set_letters("womenqu"));
    session.erase();
    EXPECT_TRUE(session.reorder());
    EXPECT_TRUE(session.letters().empty());
    EXPECT_TRUE(session.candidates().empty());
    EXPECT_EQ(session.reply().refusal, PinyinRefusal::FieldBlocked);
    EXPECT_EQ(session.commit(0).error().code, ErrorCode::BadArgument);
    EXPECT_EQ(session.bytes_read(), 0U);
    // Text before and after it is read as if the field had never been.
    ASSERT_TRUE(session.set_context("我"));
    ASSERT_TRUE(session.type("nihao"));
    EXPECT_EQ(list(session).at(0), first_for(small_model(), "我", "nihao"));
    const std::uint64_t read = session.bytes_read();
    EXPECT_EQ(read, std::string_view("我nihao").size());
    ASSERT_TRUE(session.set_context("我nihao", kind));
    EXPECT_TRUE(session.letters().empty()) << "what waited is dropped";
    ASSERT_TRUE(session.type("hunter"));
    EXPECT_EQ(session.bytes_read(), read);
  }
}

TEST(PinyinSession, NeedsADecoderToReorder) {
  PinyinSession session(small_model());
  ASSERT_TRUE(session.set_context(""));
  ASSERT_TRUE(session.type("nihao"));
  EXPECT_EQ(session.reorder().error().code, ErrorCode::BadArgument);
}

class RealPinyin : public testing::Test {
 protected:
  void SetUp() override {
    if (pinyin::built_without_libime()) GTEST_SKIP() << "built without libime";
    ASSERT_NE(real_model(), nullptr);
  }
};

// 25: a phrase of the lexicon stands above a sentence composed of other words.
TEST_F(RealPinyin, KeepsAnExactPhraseAboveComposedNonsense) {
  EXPECT_EQ(first_for(*real_model(), "", "yibuzuoerbuxiu"), "一不做二不休");
  EXPECT_EQ(first_for(*real_model(), "", "zhongguorenminjiefangjun"), "中国人民解放军");
}

// 26: the text before changes what is first.
TEST_F(RealPinyin, ListensToTheTextBefore) {
  EXPECT_EQ(first_for(*real_model(), "我用支付", "bao"), "宝");
  EXPECT_NE(first_for(*real_model(), "我买了一个", "bao"), "宝");
  EXPECT_EQ(first_for(*real_model(), "你还好", "ma"), "吗");
  EXPECT_EQ(first_for(*real_model(), "他骑着一匹", "ma"), "马");
}

TEST_F(RealPinyin, UnderstandsInitialsAndUnfinishedSyllables) {
  PinyinSession session(*real_model());
  ASSERT_TRUE(session.set_context(""));
  ASSERT_TRUE(session.type("zhg"));
  EXPECT_TRUE(holds(list(session), "中国"));
  ASSERT_TRUE(session.set_context(""));
  ASSERT_TRUE(session.type("zenmeb"));
  EXPECT_TRUE(holds(list(session), "怎么办"));
  EXPECT_EQ(first_for(*real_model(), "", "womenmingtianquchif"), "我们明天去吃饭");
}

// Nobody changes the input method for one English word.
TEST_F(RealPinyin, UnderstandsEnglishWordsAmongTheSyllables) {
  EXPECT_EQ(first_for(*real_model(), "", "woxiangmaiiphone"), "我想买iPhone");
  EXPECT_EQ(first_for(*real_model(), "", "xiawuyougemeeting"), "下午有个meeting");
  EXPECT_EQ(first_for(*real_model(), "", "zhegeappbucuo"), "这个app不错");
  EXPECT_EQ(first_for(*real_model(), "", "women"), "我们");
  EXPECT_EQ(first_for(*real_model(), "", "tamenhaode"), "他们好的");
  PinyinSession session(*real_model());
  ASSERT_TRUE(session.set_context(""));
  ASSERT_TRUE(session.type("woxiangmaiipho"));
  EXPECT_TRUE(holds(list(session), "我想买ipho")) << "not finished yet";
}

// After warm-up a key allocates nothing, worst cases included.
TEST_F(RealPinyin, AllocatesNothingOnceWarm) {
  PinyinSession session(*real_model());
  const auto type_all = [&] {
    for (const std::string_view letters :
         {"womenmingtianquzhongguoyinhang", "zhzhzhzhzhzhzhzh", "ssssssssssssssss",
          "woxiangmaiiphonehemacbook", "nihaoHelloWorld"}) {
      ASSERT_TRUE(session.set_context("我想"));
      for (const char letter : letters) {
        ASSERT_TRUE(session.type({&letter, 1}));
        session.candidates();
      }
    }
  };
  type_all();
  const std::uint64_t before = base::allocations_so_far();
  type_all();
  EXPECT_EQ(base::allocations_so_far() - before, 0U);
}

// What looped for ever: more letters than the network's tree once held texts for.
TEST_F(RealPinyin, EndsForMoreLettersThanTheTreeHolds) {
  PinyinSession session(*real_model());
  std::string letters;
  while (letters.size() < 700) letters += "woxiang";
  ASSERT_TRUE(session.set_context(""));
  EXPECT_EQ(session.type(letters).error().code, ErrorCode::TooLarge);
  EXPECT_EQ(session.letters(), letters.substr(0, PinyinSearch::kMaxLetters));
  EXPECT_TRUE(list(session).at(0).starts_with("我想我想"));
  ASSERT_TRUE(session.set_letters(letters.substr(0, 210) + "ni"));
  EXPECT_TRUE(list(session).at(0).ends_with("我想你")) << "letters taken back leave readings";
}

// Of many states held at once, one that a later word asks for was given up for a new one.
TEST(PinyinSession, KeepsTheStatesThatALetterAsksAbout) {
  if (pinyin::built_without_libime()) GTEST_SKIP() << "built without libime";
  const PinyinModel* model = real_model();
  ASSERT_NE(model, nullptr);
  PinyinSession session(*model);
  ASSERT_TRUE(session.set_context(""));
  ASSERT_TRUE(session.type("bainiantingweiyuxianbolanfuluociwafu"));
  EXPECT_FALSE(list(session).empty());
}

}  // namespace
}  // namespace laya::predict
