#include "train/ngram/ngram_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>

#include "base/test_folder.h"
#include "format/model_file.h"
#include "train/ngram/ngram_eval.h"

namespace laya::train {
namespace {

constexpr std::string_view kEnglish =
    "I live in London.\nI live in Paris now.\nwe live in London too\nsee you at 10 on Monday\n"
    "See you on Monday!\nI'll see you in London on Monday\nhe lives in Berlin\nshe sees you\n";
constexpr std::string_view kChinese =
    "我们明天开会。\n我们今天开会\n他们明天去北京\n我明天去上海 review PPT\n明天见。\n";

NgramRecipe small_recipe() {
  NgramRecipe recipe;
  recipe.count = {.order = 4, .min_context = 1.0f};
  recipe.lexicon = {.min_weight = 2.0, .min_han_weight = 1.0, .max_common = 40, .max_units = 60};
  return recipe;
}

struct Built {
  NgramText text;
  std::vector<NgramLevel> levels;
  std::vector<NgramProbabilities> probabilities;
  NgramTable table;
};

Built build(const NgramRecipe& recipe) {
  NgramTextReader reader;
  reader.add(kEnglish, 2.0, 1.0);
  reader.add(kChinese, 1.0, 1.0);
  Built built;
  built.text = std::move(reader).finish(recipe.lexicon);
  built.levels = count_ngrams(built.text, recipe.count, [](double) {});
  built.probabilities =
      estimate_ngrams(built.levels, built.text.han_begin, built.text.word_begin, recipe.estimate);
  built.table = NgramTable::make(built.text, built.levels, built.probabilities);
  return built;
}

model::NgramModel open(const Built& built) {
  auto opened = model::NgramModel::from_blobs(built.table.blobs(), "test");
  EXPECT_TRUE(opened) << opened.error().message;
  return std::move(opened).value();
}

model::NgramContext after(const model::NgramModel& ngrams, std::vector<std::string> units) {
  model::NgramContext context = ngrams.start();
  for (const std::string& unit : units) {
    ngrams.push(&context, ngrams.find(unit));
  }
  return context;
}

double sum_of(const model::NgramModel& ngrams, const model::NgramContext& context,
              std::uint32_t common_count) {
  double sum = 0.0;
  for (model::WordId word = 0; word < common_count; ++word) {
    sum += word == model::kLineStart ? 0.0 : std::exp(ngrams.log_prob(context, word));
  }
  return sum;
}

TEST(NgramBuilder, ProbabilitiesSumToOneInEveryContextPrunedOrNot) {
  for (const double prune : {0.0, 2e-3, 1.0}) {
    NgramRecipe recipe = small_recipe();
    recipe.estimate.prune_words = recipe.estimate.prune_han = prune;
    recipe.estimate.smoothing[2].strength = 1.5;
    recipe.estimate.smoothing[3].spread = 0.5;
    recipe.estimate.smoothing_han[2].continuation = 0.5;
    const Built built = build(recipe);
    const model::NgramModel ngrams = open(built);
    for (const std::vector<std::string>& units : std::vector<std::vector<std::string>>{
             {}, {"i"}, {"i", "live"}, {"we", "live", "in"}, {"我", "们"}, {"明", "天"}, {"?"}}) {
      EXPECT_NEAR(sum_of(ngrams, after(ngrams, units), built.text.common_count), 1.0, 0.02)
          << prune << " after " << units.size() << " units";
    }
  }
}

TEST(NgramBuilder, PredictsWhatTheTextSaysInBothLanguages) {
  const Built built = build(small_recipe());
  const model::NgramModel ngrams = open(built);
  std::array<model::Scored, 3> out;
  ASSERT_GT(ngrams.top_words(after(ngrams, {"i", "live", "in"}), "", out), 0u);
  EXPECT_EQ(ngrams.display(out[0].word), "London");
  ASSERT_GT(ngrams.top_words(after(ngrams, {"see", "you", "on"}), "m", out), 0u);
  EXPECT_EQ(ngrams.display(out[0].word), "Monday");
  ASSERT_GT(ngrams.top_han(after(ngrams, {"我", "们", "明"}), out), 0u);
  EXPECT_EQ(ngrams.text(out[0].word), "天");
  EXPECT_EQ(ngrams.display(ngrams.find("i")), "I");
  EXPECT_EQ(ngrams.display(ngrams.find("see")), "see")
      << "a capital at the line's start says nothing";
}

TEST(NgramBuilder, TopListsAreExact) {
  NgramRecipe recipe = small_recipe();
  recipe.estimate.prune_words = 1e-3;
  recipe.lexicon.max_common = 24;
  recipe.lexicon.min_weight = 1.0;
  const Built built = build(recipe);
  const model::NgramModel ngrams = open(built);
  for (const char* prefix : {"", "l", "s", "se"}) {
    for (const std::vector<std::string>& units :
         std::vector<std::vector<std::string>>{{}, {"i", "live"}, {"see", "you"}, {"on"}}) {
      const model::NgramContext context = after(ngrams, units);
      std::array<model::Scored, 5> out;
      const std::size_t n = ngrams.top_words(context, prefix, out);
      std::vector<float> all;
      for (model::WordId word = 0; word < ngrams.size(); ++word) {
        if (ngrams.is_word(word) && ngrams.text(word).starts_with(prefix)) {
          all.push_back(ngrams.log_prob(context, word));
        }
      }
      std::sort(all.rbegin(), all.rend());
      ASSERT_EQ(n, std::min<std::size_t>(5, all.size()));
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_FLOAT_EQ(out[i].log_prob, all[i]);
        EXPECT_FLOAT_EQ(out[i].log_prob, ngrams.log_prob(context, out[i].word));
      }
    }
  }
}

TEST(NgramBuilder, AvoidedSequencesAreNotOfferedAndTheRestStillSumsToOne) {
  NgramRecipe recipe = small_recipe();
  recipe.lexicon.min_weight = 1.0;
  recipe.estimate.prune_words = recipe.estimate.prune_han = 1e-3;
  NgramTextReader reader;
  reader.add(kEnglish, 2.0, 1.0);
  reader.add(kChinese, 1.0, 1.0);
  const NgramText text = std::move(reader).finish(recipe.lexicon);
  recipe.estimate.avoid = ids_of_sequences(text, {"on Monday", "明天", "berlin", "not there"});
  EXPECT_EQ(recipe.estimate.avoid.size(), 3u) << "one has units outside the lexicon";
  const Built built = build(recipe);
  const model::NgramModel ngrams = open(built);
  for (const auto& [units, avoided] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"see", "you", "on"}, "monday"},
           {{"on"}, "monday"},
           {{"们", "明"}, "天"},
           {{"he", "lives", "in"}, "berlin"}}) {
    const model::NgramContext context = after(ngrams, units);
    EXPECT_LT(ngrams.log_prob(context, ngrams.find(avoided)), std::log(1e-5)) << avoided;
    EXPECT_NEAR(sum_of(ngrams, context, built.text.common_count), 1.0, 0.02);
  }
  EXPECT_GT(ngrams.log_prob(after(ngrams, {"see"}), ngrams.find("monday")), std::log(1e-4));
}

TEST(NgramBuilder, PruningKeepsFewerNgrams) {
  NgramRecipe recipe = small_recipe();
  const std::size_t all = build(recipe).table.size_bytes();
  recipe.estimate.prune_words = recipe.estimate.prune_han = 5e-3;
  EXPECT_LT(build(recipe).table.size_bytes(), all);
}

TEST(NgramBuilder, SavesKeystrokesOnItsOwnTextAndMoreWithRecentWords) {
  const Built built = build(small_recipe());
  const model::NgramModel ngrams = open(built);
  NgramEvalOptions options;
  const KeystrokeSavings plain = keystroke_savings(ngrams, kEnglish, {1, 3}, options);
  EXPECT_GT(plain.saved_percent[0], 25.0);
  EXPECT_GE(plain.saved_percent[1], plain.saved_percent[0]);
  EXPECT_EQ(keystroke_savings(ngrams, "zz zzz", {1}, options).saved_percent[0], 0.0);
  const NextCharacter next = next_character(ngrams, kChinese, options);
  EXPECT_EQ(next.characters, 28u);
  EXPECT_GT(next.top1_percent, 50.0);
  EXPECT_GE(next.top3_percent, next.top1_percent);
}

TEST(NgramBuilder, KeystrokesAreCountedAsTheBaselineDoes) {
  // One word known: "london" offered before its first key costs 1 of 6 keys; with a space after it
  // 1 of 7.
  NgramTextReader reader;
  reader.add("london\nlondon\n", 1.0, 1.0);
  NgramRecipe recipe = small_recipe();
  Built built;
  built.text = std::move(reader).finish(recipe.lexicon);
  built.levels = count_ngrams(built.text, recipe.count, [](double) {});
  built.probabilities =
      estimate_ngrams(built.levels, built.text.han_begin, built.text.word_begin, recipe.estimate);
  built.table = NgramTable::make(built.text, built.levels, built.probabilities);
  const model::NgramModel ngrams = open(built);
  const auto saved = [&](std::string_view text) {
    return keystroke_savings(ngrams, text, {1}, {}).saved_percent[0];
  };
  EXPECT_NEAR(saved("London"), 100.0 * (1 - 1.0 / 6), 1e-9);
  EXPECT_NEAR(saved("London x"), 100.0 * (1 - 2.0 / 8), 1e-9);
  EXPECT_NEAR(saved("London, x"), 0.0, 1e-9) << "a word with its comma is another word";
}

TEST(NgramBuilder, BuildsFromAMixtureTheSameTwiceAndRefusesHeldOutText) {
  base::TestFolder folder;
  const auto write = [&](const std::string& name, std::string_view text) {
    std::ofstream(folder.path() / name) << text;
  };
  write("en.txt", kEnglish);
  write("zh.txt", kChinese);
  write("dev.txt", "nothing of this stands in the training text\n");
  const std::string mixture_text =
      "held_out = [\"dev.txt\"]\n[languages]\nen = 0.5\nzh = 0.5\n"
      "[[source]]\nname = \"en\"\npath = \"en.txt\"\nlanguage = \"en\"\nlicence = \"CC0\"\n"
      "[[source]]\nname = \"zh\"\npath = \"zh.txt\"\nlanguage = \"zh\"\nlicence = \"CC0\"\n";
  const auto mixture = parse_mixture(mixture_text, "mixture", folder.path());
  ASSERT_TRUE(mixture) << mixture.error().message;
  const auto recipe = parse_ngram_recipe(
      "order = 3\n[lexicon]\nmin_weight = 2\n[sources]\nen = { weight = 2 }\nzh = { part = 0.5 }\n",
      "recipe");
  ASSERT_TRUE(recipe) << recipe.error().message;
  const auto bytes = [&](const std::string& name) {
    const auto built = build_ngrams(*mixture, *recipe, [](std::string_view, double) {});
    EXPECT_TRUE(built) << built.error().message;
    const auto path = folder.path() / name;
    EXPECT_TRUE(write_ngrams(*built, *recipe, path));
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string first = bytes("a.laya");
  EXPECT_EQ(first, bytes("b.laya"));
  const auto file =
      format::ModelFile::open((folder.path() / "a.laya").string(), format::Verify::Full);
  ASSERT_TRUE(file) << file.error().message;
  const auto ngrams = model::NgramModel::open(*file);
  ASSERT_TRUE(ngrams) << ngrams.error().message;
  EXPECT_EQ(ngrams->order(), 3);

  write("dev.txt", "I'll see you in London on Monday\n");
  const auto overlapping = build_ngrams(*mixture, *recipe, [](std::string_view, double) {});
  ASSERT_FALSE(overlapping);
  EXPECT_EQ(overlapping.error().code, ErrorCode::BadArgument);
}

TEST(NgramRecipe, RefusesUnknownKeysAndValuesOutOfRange) {
  for (const char* text : {
           "ordr = 3\n[sources]\na = {}\n",
           "order = 9\n[sources]\na = {}\n",
           "order = 3\n",
           "order = 3\n[sources]\na = { weight = 0 }\n",
           "order = 3\n[sources]\na = { wieght = 2 }\n",
           "order = 3\n[sources]\na = 2\n",
           "order = 3\n[[smoothing]]\nstrength = 1\n[sources]\na = {}\n",
           "order = 2\n[[smoothing]]\ndiscount = [1]\n[[smoothing]]\n[sources]\na = {}\n",
       }) {
    SCOPED_TRACE(text);
    const auto recipe = parse_ngram_recipe(text, "recipe");
    ASSERT_FALSE(recipe);
    EXPECT_EQ(recipe.error().code, ErrorCode::BadArgument);
    EXPECT_TRUE(recipe.error().message.starts_with("recipe: "));
  }
  const auto broken = parse_ngram_recipe("order = ", "recipe");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::Corrupt);
}

TEST(NgramCodebook, StandsForValuesWithLittleError) {
  std::vector<float> values;
  for (int i = 0; i < 5000; ++i) {
    values.push_back(-static_cast<float>(i % 977) * 0.013f - 0.5f);
  }
  const std::vector<float> codes = make_codebook(values);
  ASSERT_EQ(codes.size(), 256u);
  EXPECT_TRUE(std::is_sorted(codes.begin(), codes.end()));
  for (const float value : values) {
    EXPECT_NEAR(codes[nearest_code(codes, value)], value, 0.04f);
  }
  EXPECT_EQ(make_codebook({}).size(), 256u);
}

}  // namespace
}  // namespace laya::train
