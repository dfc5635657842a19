#include "predict/deep/deep_source.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/allocation_counter.h"
#include "predict/deep/deep_context.h"
#include "predict/deep/deep_han.h"
#include "predict/deep/deep_tree.h"
#include "predict/deep/deep_words.h"
#include "predict/deep/test_deep_models.h"
#include "predict/session/test_engine.h"
#include "predict/source/word_query.h"

namespace laya::predict {
namespace {

// A deep model over the table's engine, with a random decoder.
struct World {
  explicit World(model::DecoderFamily family = model::DecoderFamily::Llama) {
    auto made = DeepModel::from_parts(small_decoder(family),
                                      std::make_unique<text::SubwordTokenizer>(small_tokenizer()),
                                      table_engine().index(), table_engine().ngrams());
    EXPECT_TRUE(made) << made.error().message;
    model = std::move(*made);
  }

  // The decoder's file must stay: SmallDecoder owns both, so a view is handed on.
  std::unique_ptr<const model::Decoder> small_decoder(model::DecoderFamily family) {
    const text::SubwordTokenizer tokenizer = small_tokenizer();
    owner = std::make_unique<SmallDecoder>(tokenizer.size(), family);
    return owner->load();
  }

  std::unique_ptr<SmallDecoder> owner;
  std::unique_ptr<DeepModel> model;
};

TypedText typed(std::string_view before) {
  TypedText text;
  text.assign(before, {}, LeftEdge::FieldStart);
  return text;
}

// ln p of every next token after `tokens`, by the plainest means.
std::vector<float> next(const model::Decoder& decoder, const std::vector<TokenId>& tokens) {
  auto workspace = decoder.make_workspace();
  model::KvCache cache(decoder.config());
  std::vector<float> hidden(decoder.config().hidden_dim);
  std::vector<float> logits(decoder.config().vocabulary_size);
  EXPECT_TRUE(decoder.prefill(*workspace, cache, tokens, hidden));
  EXPECT_TRUE(decoder.logits(*workspace, hidden, 1, logits));
  double sum = 0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit));
  }
  for (float& logit : logits) {
    logit -= static_cast<float>(std::log(sum));
  }
  return logits;
}

// All ways to spell `x` behind `tokens`: visit(tokens so far, the token that reaches its end or
// beyond, probability), by trying every token of the vocabulary.
template <typename Visit>
void each_spelling(const World& world, std::vector<TokenId> tokens, std::string_view x, double p,
                   const Visit& visit) {
  const text::SubwordTokenizer& tokenizer = world.model->tokenizer();
  const std::vector<float> log_probs = next(world.model->decoder(), tokens);
  for (const TokenId token : tokenizer.with_prefix("")) {
    const std::string_view bytes = tokenizer.bytes(token);
    const double here = p * std::exp(static_cast<double>(log_probs[token]));
    if (bytes.size() >= x.size()) {
      if (bytes.starts_with(x)) {
        visit(tokens, token, here);
      }
    } else if (x.starts_with(bytes)) {
      std::vector<TokenId> longer = tokens;
      longer.push_back(token);
      each_spelling(world, longer, x.substr(bytes.size()), here, visit);
    }
  }
}

double mass_by_hand(const World& world, const std::vector<TokenId>& tokens, std::string_view x) {
  double sum = 0;
  each_spelling(world, tokens, x, 1,
                [&](const std::vector<TokenId>&, TokenId, double p) { sum += p; });
  return sum;
}

// p(word, then no letter), all spellings, by hand.
double word_by_hand(const World& world, const std::vector<TokenId>& tokens, std::string_view x) {
  const text::SubwordTokenizer& tokenizer = world.model->tokenizer();
  double sum = 0;
  each_spelling(world, tokens, x, 1,
                [&](const std::vector<TokenId>& before, TokenId token, double p) {
                  std::size_t spelt = 0;  // the last token must end where the word does
                  for (std::size_t i = tokens.size(); i < before.size(); ++i) {
                    spelt += tokenizer.bytes(before[i]).size();
                  }
                  if (spelt + tokenizer.bytes(token).size() != x.size()) {
                    return;
                  }
                  std::vector<TokenId> all = before;
                  all.push_back(token);
                  const std::vector<float> log_probs = next(world.model->decoder(), all);
                  double goes_on = 0;
                  for (const DeepGoingOn& letters : world.model->tables().going_on()) {
                    goes_on += static_cast<double>(letters.share) *
                               std::exp(static_cast<double>(log_probs[letters.token]));
                  }
                  sum += p * (1 - goes_on);
                });
  return sum;
}

// Looks into every token that may stand inside `x`, and into those at its end.
void look_into_all(const World& world, DeepTree* tree, int node, std::string_view x) {
  const text::SubwordTokenizer& tokenizer = world.model->tokenizer();
  for (std::size_t length = 1; length <= x.size(); ++length) {
    const TokenId token = tokenizer.find(x.substr(0, length));
    if (token == kNoToken) {
      continue;
    }
    int child = tree->find(node, token);
    if (child == DeepTree::kNone) {
      child = static_cast<int>(tree->nodes().size());
      const DeepTree::Growth growth{node, token};
      ASSERT_TRUE(tree->grow(std::span(&growth, 1), nullptr));
    }
    look_into_all(world, tree, child, x.substr(length));
  }
}

class DeepExact : public ::testing::TestWithParam<model::DecoderFamily> {};
INSTANTIATE_TEST_SUITE_P(All, DeepExact,
                         ::testing::Values(model::DecoderFamily::Llama,
                                           model::DecoderFamily::Gemma3));

TEST_P(DeepExact, MassIsTheSumOverAllTokenisations) {
  const World world(GetParam());
  const text::SubwordTokenizer& tokenizer = world.model->tokenizer();
  std::vector<TokenId> front = {0};
  tokenizer.encode("see you", front, nullptr);
  for (const std::string_view x : {" ", " t", " the", " you", "我们", "们明", " 我"}) {
    SCOPED_TRACE(x);
    DeepTree tree(world.model->decoder(), world.model->tables(), model::Threads::One, 64, 1);
    ASSERT_TRUE(tree.move_to(front, nullptr));
    look_into_all(world, &tree, DeepTree::kRootNode, x);
    const DeepPaths paths{&tokenizer, &world.model->tables(), &tree};
    const double want = mass_by_hand(world, front, x);
    EXPECT_GT(want, 0);
    EXPECT_NEAR(paths.mass(DeepTree::kRootNode, x), want, 2e-5 * want);
  }
}

TEST_P(DeepExact, WordIsTheSumOverItsTokenisationsAndForms) {
  const World world(GetParam());
  const text::SubwordTokenizer& tokenizer = world.model->tokenizer();
  std::vector<TokenId> front = {0};
  tokenizer.encode("see you", front, nullptr);
  struct Case {
    std::string_view lead, key;
    std::vector<std::string> forms;
  };
  // The third has no space before it: the first word of a line, or one behind a bracket.
  for (const Case& test : {Case{" ", "the", {"the", "The"}}, Case{" ", "to", {"to", "To"}},
                           Case{"", "see", {"see", "See"}}, Case{" ", "at", {"at", "At"}}}) {
    SCOPED_TRACE(test.key);
    DeepTree tree(world.model->decoder(), world.model->tables(), model::Threads::One, 64, 1);
    ASSERT_TRUE(tree.move_to(front, nullptr));
    double want = 0;
    for (const std::string& form : test.forms) {
      const std::string x = std::string(test.lead) + form;
      look_into_all(world, &tree, DeepTree::kRootNode, x);
      want += word_by_hand(world, front, x);
    }
    want /= test.lead.empty() ? 1 : mass_by_hand(world, front, test.lead);
    const DeepOptions options;
    DeepWords words(*world.model, table_engine().index(), nullptr, tree, options);
    words.set_lead(test.lead);
    WordQuery query;
    WordPool pool;
    pool.add(test.key, model::kUnknownWord, kNoGroup);
    words.score(query, &pool);
    EXPECT_NEAR(std::exp(pool.words()[0].log_p_deep), want, 1e-4 * want);
  }
}

TEST_P(DeepExact, TypedLettersRuleOutOtherForms) {
  const World world(GetParam());
  const text::SubwordTokenizer& tokenizer = world.model->tokenizer();
  std::vector<TokenId> front = {0};
  tokenizer.encode("see you", front, nullptr);
  DeepTree tree(world.model->decoder(), world.model->tables(), model::Threads::One, 64, 1);
  ASSERT_TRUE(tree.move_to(front, nullptr));
  look_into_all(world, &tree, DeepTree::kRootNode, " the");
  look_into_all(world, &tree, DeepTree::kRootNode, " The");
  const DeepOptions options;
  DeepWords words(*world.model, table_engine().index(), nullptr, tree, options);
  words.set_lead(" ");
  WordQuery query;
  query.prefix = "t";
  query.typed = "T";
  query.other_case = 0;
  WordPool pool;
  pool.add("the", model::kUnknownWord, kNoGroup);
  words.score(query, &pool);
  const double want = word_by_hand(world, front, " The") / mass_by_hand(world, front, " ");
  EXPECT_NEAR(std::exp(pool.words()[0].log_p_deep), want, 1e-4 * want);
}

TEST_P(DeepExact, NextCharacterHealsTheLastToken) {
  const World world(GetParam());
  const text::SubwordTokenizer& tokenizer = world.model->tokenizer();
  // "我们明": the tail is 明, which begins the token 明天.
  std::vector<TokenId> front = {0};
  tokenizer.encode("我们", front, nullptr);
  DeepTree tree(world.model->decoder(), world.model->tables(), model::Threads::One, 64, 1);
  ASSERT_TRUE(tree.move_to(front, nullptr));
  look_into_all(world, &tree, DeepTree::kRootNode, "明");
  const std::span<const HanPiece> han = table_engine().index().han();
  DeepHan source({&tokenizer, &world.model->tables(), &tree}, han.size());
  source.set_tail("明");
  const double whole = mass_by_hand(world, front, "明");
  std::size_t checked = 0;
  for (std::size_t i = 0; i < han.size(); ++i) {
    if (han[i].code_point != U'天' && han[i].code_point != U'我') {
      continue;
    }
    const std::string character = han[i].code_point == U'天' ? "天" : "我";
    double want = 0;  // without spellings by bytes, which no text has
    each_spelling(world, front, "明" + character, 1,
                  [&](const std::vector<TokenId>& before, TokenId token, double p) {
                    bool bytes = tokenizer.kind(token) == text::SubwordTokenKind::Byte;
                    for (const TokenId earlier : before) {
                      bytes = bytes || tokenizer.kind(earlier) == text::SubwordTokenKind::Byte;
                    }
                    want += bytes ? 0 : p;
                  });
    // Bytes in front of 明 are what mass_by_hand() counts too; they are next to nothing.
    EXPECT_NEAR(source.probs()[i], want / whole, 0.02 * want / whole) << character;
    ++checked;
  }
  EXPECT_GT(checked, 0U);
}

TEST(DeepContext, CutsTheTextWhereTokensAreCertain) {
  const World world;
  const text::SubwordTokenizer& tokenizer = world.model->tokenizer();
  DeepOptions options;
  options.prime = DeepOptions::Prime::Never;
  DeepContext context(tokenizer, deep_openings(tokenizer, options, false), 192, 1);
  struct Case {
    std::string_view before, closed, lead;
  };
  for (const Case& test : {Case{"", "", ""},
                           Case{"se", "", ""},
                           Case{"see", "", ""},
                           Case{"see ", "see", " "},
                           Case{"see you", "see", " "},
                           Case{"see you tom", "see you", " "},
                           Case{"see you ", "see you", " "},
                           Case{"see\n", "see\n", ""},
                           Case{"see\nyo", "see\n", ""},
                           Case{"see  yo", "see ", " "},
                           Case{"don't", "", ""},
                           Case{"see don't", "see", " "},
                           Case{"see (yo", "see ", "("},
                           Case{"see 10", "see 1", "0"},
                           Case{"see.", "see", "."},
                           Case{"我们", "", "我们"},
                           Case{"我们明", "我们", "明"},
                           Case{"我们明天", "我们", "明天"},
                           Case{"我们 yo", "我们", " "},
                           Case{"我们yo", "", "我们"}}) {
    SCOPED_TRACE(test.before);
    const TypedText text = typed(test.before);
    context.read(text);
    EXPECT_EQ(tokenizer.decode(context.tokens()), test.closed);
    EXPECT_EQ(context.lead(), test.lead);
    EXPECT_EQ(context.closed_bytes(), test.closed.size());
    EXPECT_EQ(std::string(test.closed) + std::string(context.tail()), test.before);
  }
}

TEST(DeepContext, LongTextKeepsItsEndAndMovesInSteps) {
  const World world;
  DeepOptions options;
  options.prime = DeepOptions::Prime::Never;
  DeepContext context(world.model->tokenizer(),
                      deep_openings(world.model->tokenizer(), options, false), 32, 1);
  TypedText text;
  std::size_t moved = 0;
  std::vector<TokenId> last;
  for (int i = 0; i < 300; ++i) {
    text.apply(0, 0, i % 2 == 0 ? "see you " : "thank 我们");
    text.apply(0, 0, std::string(1, static_cast<char>('a' + i * i % 23)) + " ");
    context.read(text);
    EXPECT_LE(context.tokens().size(), 32U * 3 / 2 + 1 + 16);
    EXPECT_TRUE(text.before().ends_with(context.tail()));
    // What was read stays in front of what is read now, but for the few steps.
    const std::size_t common = std::min(last.size(), context.tokens().size()) / 2;
    moved += std::equal(last.begin(), last.begin() + static_cast<std::ptrdiff_t>(common),
                        context.tokens().begin())
                 ? 0
                 : 1;
    last.assign(context.tokens().begin(), context.tokens().end());
  }
  EXPECT_GT(moved, 10U);
  EXPECT_LT(moved, 120U);
}

// What a source says of some words: ln p by key.
std::map<std::string, float> say(DeepSource* source, const TypedText& text) {
  PrefixBytes prefix;
  const WordQuery query = word_query(text, &prefix);
  WordPool pool;
  for (const std::string_view key : {"the", "tomorrow", "you", "thank", "to"}) {
    if (key.starts_with(query.prefix)) {
      const model::WordId word = test_table().find(key);
      pool.add(key, word, table_engine().index().group_of(word));
    }
  }
  source->score(text, query, &pool);
  std::map<std::string, float> out;
  for (const PoolWord& word : pool.words()) {
    out[std::string(word.key)] = word.log_p_deep;
  }
  return out;
}

std::map<std::string, float> say_afresh(const World& world, const TypedText& text,
                                        const DeepOptions& options) {
  DeepSource source(*world.model, table_engine().index(), table_engine().ngrams(),
                    model::Threads::One, options);
  EXPECT_TRUE(source.prepare(text));
  return say(&source, text);
}

void expect_same(const std::map<std::string, float>& a, const std::map<std::string, float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [key, value] : a) {
    EXPECT_NEAR(value, b.at(key), 1e-4F) << key;
  }
}

TEST(DeepSource, TypingBackspaceAndPastingGiveWhatReadingAfreshGives) {
  const World world;
  DeepOptions options;
  options.rounds = 0;  // what was looked into earlier would be known better
  DeepSource source(*world.model, table_engine().index(), table_engine().ngrams(),
                    model::Threads::One, options);
  TypedText text;
  const auto apply = [&](std::size_t erase, std::string_view insert) {
    source.follow(text, text.apply(erase, 0, insert));
    ASSERT_TRUE(source.prepare(text));
    if (source.ready()) {  // behind Chinese the small decoder has nothing to say
      expect_same(say(&source, text), say_afresh(world, text, options));
    }
  };
  for (const char letter : std::string("see you tom")) {
    apply(0, std::string(1, letter));
  }
  apply(1, "");
  apply(2, "");
  apply(5, "the ");
  apply(0, "thank you very much 我们明天");
  apply(6, "");
  apply(0, "\nI see ");
  source.follow(text, text.owe_space(PendingSpace::None));
  apply(1, "");
  source.follow(text, text.owe_space(PendingSpace::Owed));  // an accepted word's
  ASSERT_TRUE(source.prepare(text));
  expect_same(say(&source, text), say_afresh(world, text, options));
}

TEST(DeepSource, LettersInsideAWordNeedNoPass) {
  const World world;
  DeepOptions options;
  options.rounds = 0;
  DeepSource source(*world.model, table_engine().index(), table_engine().ngrams(),
                    model::Threads::One, options);
  TypedText text;
  source.follow(text, text.apply(0, 0, "see you "));
  EXPECT_TRUE(source.needs_pass(text));
  ASSERT_TRUE(source.prepare(text));
  const std::uint64_t passes = source.statistics().passes;
  for (const std::string_view letter : {"t", "o", "m", "o"}) {
    source.follow(text, text.apply(0, 0, letter));
    ASSERT_TRUE(source.prepare(text));
  }
  source.follow(text, text.apply(3, 0, "h"));
  ASSERT_TRUE(source.prepare(text));
  EXPECT_EQ(source.statistics().passes, passes);
  EXPECT_EQ(source.statistics().keys, 6U);
  EXPECT_EQ(source.statistics().keys_with_pass, 1U);
}

TEST(DeepSource, AWordThatWasLookedIntoIsTypedWithoutAPass) {
  const World world;
  DeepOptions options;
  options.word_ends = 16;
  options.rounds = 3;
  options.least_share = 0;
  options.columns = 16;
  DeepSource source(*world.model, table_engine().index(), table_engine().ngrams(),
                    model::Threads::One, options);
  TypedText text;
  source.follow(text, text.apply(0, 0, "see yo"));
  ASSERT_TRUE(source.prepare(text));
  const int you = source.tree().find(DeepTree::kRootNode, world.model->tokenizer().find(" you"));
  ASSERT_NE(you, DeepTree::kNone);
  const std::vector<float> known(source.tree().probs(you).begin(), source.tree().probs(you).end());
  source.follow(text, text.apply(0, 0, "u "));
  base::CancelFlag never;
  never.cancel();                              // a pass would be refused
  EXPECT_FALSE(source.prepare(text, &never));  // the next words are not looked into
  ASSERT_TRUE(source.tree().ready());
  const std::span<const float> root = source.root_probs();
  ASSERT_EQ(root.size(), known.size());
  EXPECT_TRUE(std::equal(root.begin(), root.end(), known.begin()));
}

TEST(DeepSource, CancelledPassesLeaveItUsable) {
  const World world;
  DeepOptions options;
  options.rounds = 0;
  DeepSource source(*world.model, table_engine().index(), table_engine().ngrams(),
                    model::Threads::One, options);
  TypedText text;
  base::CancelFlag cancel;
  cancel.cancel();
  for (const std::string_view insert : {"see you ", "tom", "orrow thank you very much ", "the "}) {
    source.follow(text, text.apply(0, 0, insert));
    const Status status = source.prepare(text, &cancel);
    if (!status) {
      EXPECT_EQ(status.error().code, ErrorCode::Cancelled);
      EXPECT_FALSE(source.ready());
      const auto said = say(&source, text);
      for (const auto& [key, value] : said) {
        EXPECT_EQ(value, kImpossible) << key;
      }
    }
  }
  ASSERT_TRUE(source.prepare(text));
  expect_same(say(&source, text), say_afresh(world, text, options));
}

TEST(DeepSource, ForgetsWithTheField) {
  const World world;
  DeepSource source(*world.model, table_engine().index(), table_engine().ngrams(),
                    model::Threads::One);
  TypedText text;
  source.follow(text, text.apply(0, 0, "see you tomorrow "));
  ASSERT_TRUE(source.prepare(text));
  text.clear();
  source.clear();
  EXPECT_FALSE(source.ready());
  ASSERT_TRUE(source.prepare(text));
  expect_same(say(&source, text), say_afresh(world, text, {}));
}

TEST(DeepSource, AllocatesNothingAfterWarmUp) {
  const World world;
  DeepSource source(*world.model, table_engine().index(), table_engine().ngrams(),
                    model::Threads::One);
  TypedText text;
  WordPool pool;
  PrefixBytes prefix;
  const auto type = [&] {
    for (const char letter :
         std::string("see you tomorrow, thank you very much at the (to 我们明天 I")) {
      source.follow(text, text.apply(0, 0, std::string_view(&letter, 1)));
      source.needs_pass(text);
      EXPECT_TRUE(source.prepare(text));
      pool.clear();
      const WordQuery query = word_query(text, &prefix);
      source.propose(text, query, &pool);
      source.score(text, query, &pool);
      source.han_probs();
    }
    source.follow(text, text.apply(20, 0, {}));
    EXPECT_TRUE(source.prepare(text));
    text.clear();
    source.clear();
  };
  type();
  const base::AllocationScope scope;
  type();
  EXPECT_EQ(scope.count(), 1U) << "the string that is typed";
}

TEST(DeepSource, SaysNothingWhereNothingIsOffered) {
  const World world;
  DeepSource source(*world.model, table_engine().index(), table_engine().ngrams(),
                    model::Threads::One);
  TypedText text;
  for (const std::string_view before : {"see \xe6\x88", "tom@exam", "see /usr_bi"}) {
    SCOPED_TRACE(before);
    source.follow(text, text.assign(before, {}, LeftEdge::FieldStart));
    EXPECT_FALSE(source.needs_pass(text));
    ASSERT_TRUE(source.prepare(text));
    EXPECT_FALSE(source.ready());
  }
  EXPECT_EQ(source.statistics().passes, 0U);
}

}  // namespace
}  // namespace laya::predict
