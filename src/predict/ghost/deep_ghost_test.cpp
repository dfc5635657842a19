#include "predict/ghost/deep_ghost.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/utf8.h"
#include "model/gru/language_model.h"
#include "predict/deep/test_deep_models.h"
#include "predict/instant/network_source.h"
#include "predict/instant/ngram_source.h"
#include "predict/list/ghost_rules.h"
#include "predict/session/test_engine.h"
#include "predict/source/softmax.h"
#include "text/tokenizer.h"

namespace laya::predict {
namespace {

/// Sources at a caret, and a decoder that has read the text up to its open end.
struct Caret {
  Caret(const Engine& e, const model::Decoder& decoder, const text::SubwordTokenizer& tokenizer,
        std::string_view before, std::string_view after = {})
      : engine(&e),
        ngrams(*e.ngrams(), e.index()),
        network(*e.network(), *e.tokenizer(), e.index(), e.ngrams(), model::Threads::One),
        workspace(decoder.make_workspace()),
        cache(decoder.config()),
        probs(decoder.config().vocabulary_size) {
    const TypedText::Delta delta = text.assign(before, after, LeftEdge::FieldStart);
    ngrams.follow(text, delta);
    network.follow(text, delta);
    closed = tokenizer.closed_bytes(before);
    std::vector<TokenId> tokens{tokenizer.bos()};
    tokenizer.encode(before.substr(0, closed), tokens, nullptr);
    std::vector<float> hidden(decoder.config().hidden_dim);
    EXPECT_TRUE(decoder.prefill(*workspace, cache, tokens, hidden));
    EXPECT_TRUE(decoder.logits(*workspace, hidden, 1, probs));
    softmax_in_place(probs);
  }
  DeepGhostRequest request(std::span<const GhostStart> starts) {
    DeepGhostRequest all;
    all.workspace = workspace.get();
    all.cache = &cache;
    all.root_probs = probs;
    all.closed_bytes = closed;
    all.text = &text;
    all.sources = {&network, &ngrams, &engine->index(), &engine->mixing(), nullptr};
    all.vocabulary = &engine->tokenizer()->vocabulary();
    all.starts = starts;
    all.limits.next_word_after = text.next_word_after();
    return all;
  }
  const Engine* engine;
  TypedText text;
  NgramSource ngrams;
  NetworkSource network;
  std::unique_ptr<model::Workspace> workspace;
  model::KvCache cache;
  std::vector<float> probs;
  std::size_t closed = 0;
};

GhostStart word(std::string_view insert, float log_prob = -0.1F) {
  GhostStart start;
  start.kind = GhostStart::Kind::Word;
  start.insert = insert;
  start.log_prob = log_prob;
  return start;
}

struct Fixture {
  text::SubwordTokenizer tokenizer = small_tokenizer();
  SmallDecoder model{tokenizer.size(), model::DecoderFamily::Gemma3, 3};
};

const char* const kTexts[] = {"see you ", "thank you very ", "see you tom", "我们", "我们明天去吃"};

// The text does not depend on the guesses, only the passes do.
TEST(DeepGhost, DraftsChangeNothingButThePasses) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const text::SubwordTokenizer tokenizer = small_tokenizer();
    const SmallDecoder model(tokenizer.size(), model::DecoderFamily::Llama, seed);
    for (const char* before : kTexts) {
      SCOPED_TRACE(before);
      std::string phrases[2];
      for (const int drafting : {1, 0}) {
        Caret caret(full_engine(), model.get(), tokenizer, before);
        DeepGhost ghost(model.get(), tokenizer, full_engine().network());
        ghost.set_length(DeepGhost::Length::Full);
        ghost.set_drafting(drafting == 1 ? DeepGhost::Drafting::On : DeepGhost::Drafting::Off);
        const GhostStart start = word(std::string_view(before).ends_with("tom") ? "orrow" : "the");
        ASSERT_TRUE(ghost.search(caret.request(std::span(&start, 1))));
        phrases[drafting] = ghost.whole_text();
      }
      EXPECT_EQ(phrases[0], phrases[1]);
    }
  }
}

TEST(DeepGhost, ShowsOnlyWhatIsWorthAGlance) {
  Fixture f;
  Caret caret(full_engine(), f.model.get(), f.tokenizer, "see you tom");
  DeepGhost ghost(f.model.get(), f.tokenizer, full_engine().network());
  const GhostStart sure = word("orrow", std::log(0.9F));
  ASSERT_TRUE(*ghost.search(caret.request(std::span(&sure, 1))));
  EXPECT_TRUE(ghost.text().starts_with("orrow"));
  EXPECT_GT(ghost_benefit(ghost.text(), ghost.log_prob(), GhostRules::kDeepGlance), 0);
  EXPECT_LE(ghost.log_prob(), std::log(0.9F) + 1e-5F);
  const GhostStart doubtful = word("orrow", std::log(0.3F));  // 1.5 keys saved, 2.8 glances lost
  EXPECT_FALSE(*ghost.search(caret.request(std::span(&doubtful, 1))));
  const GhostStart unlikely = word("orrow", std::log(0.2F));
  EXPECT_FALSE(*ghost.search(caret.request(std::span(&unlikely, 1))));
  EXPECT_EQ(ghost.passes(), 0u);  // it could not be shown whatever follows
}

// Complaint 3.
TEST(DeepGhost, DoesNotRepeatWhatStandsRightOfTheCaret) {
  Fixture f;
  DeepGhost ghost(f.model.get(), f.tokenizer, full_engine().network());
  const GhostStart start = word("tomorrow", -0.01F);
  Caret free(full_engine(), f.model.get(), f.tokenizer, "see you ");
  EXPECT_TRUE(*ghost.search(free.request(std::span(&start, 1))));
  Caret taken(full_engine(), f.model.get(), f.tokenizer, "see you ", " Tomorrow then");
  EXPECT_FALSE(*ghost.search(taken.request(std::span(&start, 1))));
  const GhostStart han = word("天", -0.01F);
  Caret chinese(full_engine(), f.model.get(), f.tokenizer, "我们明", "天去");
  EXPECT_FALSE(*ghost.search(chinese.request(std::span(&han, 1))));
}

TEST(DeepGhost, IsCancelledAndForgets) {
  Fixture f;
  Caret caret(full_engine(), f.model.get(), f.tokenizer, "see you ");
  DeepGhost ghost(f.model.get(), f.tokenizer, full_engine().network());
  const GhostStart start = word("tomorrow", -0.01F);
  DeepGhostRequest request = caret.request(std::span(&start, 1));
  base::CancelFlag cancel;
  cancel.cancel();
  request.cancel = &cancel;
  const Result<bool> stopped = ghost.search(request);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
  EXPECT_TRUE(ghost.text().empty());
  request.cancel = nullptr;
  ASSERT_TRUE(*ghost.search(request));
  ghost.forget();
  EXPECT_TRUE(ghost.text().empty());
  EXPECT_TRUE(ghost.whole_text().empty());
}

// What was said in one field is of no use to whoever looks into the next one.
TEST(DeepGhost, KeepsNothingThatWasSaidOnceTheFieldIsOver) {
  Fixture f;
  DeepGhost ghost(f.model.get(), f.tokenizer, nullptr);
  ghost.set_length(DeepGhost::Length::Full);
  const GhostStart start = word("the");
  const auto agreed = [&] {
    Caret caret(full_engine(), f.model.get(), f.tokenizer, "see you ");
    const std::uint64_t before = ghost.counts().agreed;
    EXPECT_TRUE(ghost.search(caret.request(std::span(&start, 1))));
    ghost.forget();
    return ghost.counts().agreed - before;
  };
  const std::uint64_t at_first = agreed();
  EXPECT_GT(agreed(), at_first) << "it repeats itself, and its guesses come from there";
  ghost.forget_said();
  EXPECT_EQ(agreed(), at_first);
}

TEST(GhostTokens, MayHoldLettersAndMarksOnly) {
  const text::SubwordTokenizer tokenizer = small_tokenizer();
  const GhostTokens tokens(tokenizer);
  const auto allowed = [&](std::string_view text) { return tokens.allowed(tokenizer.find(text)); };
  for (const char* good : {"see", " see", "我们", ".", "，", "'", "orrow"}) {
    const TokenId token = tokenizer.find(good);
    EXPECT_TRUE(token == kNoToken || tokens.allowed(token)) << good;
  }
  EXPECT_FALSE(allowed(" "));
  EXPECT_FALSE(tokens.allowed(tokenizer.bos()));
  EXPECT_FALSE(tokens.allowed(tokenizer.eos()));
  EXPECT_FALSE(allowed("\n"));
  EXPECT_FALSE(tokens.allowed(kNoToken));
  EXPECT_TRUE(tokens.continues_word(tokenizer.find("orrow")));
  EXPECT_FALSE(tokens.continues_word(tokenizer.find(" see")));
  EXPECT_FALSE(tokens.continues_word(tokenizer.find("我们")));
}

TEST(InstantDrafter, GuessesWhatTheTableKnows) {
  Fixture f;
  InstantDrafter drafter(nullptr);
  Caret caret(full_engine(), f.model.get(), f.tokenizer, "thank ");
  SearchSources table{nullptr, &caret.ngrams, &full_engine().index(), &full_engine().mixing(),
                      nullptr};
  drafter.begin(table, nullptr, caret.text);
  const auto guesses = drafter.draft("you");
  ASSERT_FALSE(guesses.empty());
  EXPECT_TRUE(std::any_of(guesses.begin(), guesses.end(), [](const InstantDrafter::Draft& draft) {
    return draft.text == " very";
  }));
  for (std::size_t i = 0; i < guesses.size(); ++i) {
    EXPECT_LE(guesses[i].log_prob, 1e-5F);
    EXPECT_TRUE(i == 0 || guesses[i].log_prob <= guesses[i - 1].log_prob);
    EXPECT_TRUE(base::is_valid_utf8(guesses[i].text));
  }
  EXPECT_GT(drafter.log_prob_of_last("you"), std::log(0.05F));
  EXPECT_GT(drafter.log_prob_of_last("you very"), drafter.log_prob_of_last("you tomorrow"));
  // Far along a phrase, back and forth.
  for (const char* phrase :
       {"you very much", "you very much for", "you", "you very", "you, and", ""}) {
    drafter.draft(phrase);
  }
  drafter.forget();
  EXPECT_TRUE(drafter.draft("you").empty());
}

}  // namespace
}  // namespace laya::predict
