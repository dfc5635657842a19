#include "train/text/mixture.h"

#include <gtest/gtest.h>

#include <numeric>

namespace laya::train {
namespace {

constexpr const char* kGood = R"(
held_out = ["test/a.txt"]
[languages]
en = 1
zh = 3
[[source]]
name = "a"
path = "train/a.txt.zst"
dev = "dev/a.txt.zst"
language = "en"
weight = 2.0
licence = "CC0"
[[source]]
name = "b"
path = "train/b.txt"
language = "en"
split_lines = 0.25
[[source]]
name = "c"
path = "train/c.txt"
language = "zh"
drop_held_out = true
)";

TEST(Mixture, ReadsSourcesAndResolvesPaths) {
  const Mixture mixture = parse_mixture(kGood, "m.toml", "/data").value();
  ASSERT_EQ(mixture.sources.size(), 3u);
  EXPECT_EQ(mixture.sources[0].path, "/data/train/a.txt.zst");
  EXPECT_EQ(mixture.sources[0].dev, "/data/dev/a.txt.zst");
  EXPECT_EQ(mixture.sources[0].weight, 2.0);
  EXPECT_EQ(mixture.sources[0].licence, "CC0");
  EXPECT_EQ(mixture.sources[1].split_lines, 0.25);
  EXPECT_TRUE(mixture.sources[1].dev.empty());
  EXPECT_FALSE(mixture.sources[1].drop_held_out);
  EXPECT_TRUE(mixture.sources[2].drop_held_out);
  EXPECT_EQ(mixture.held_out.at(0), "/data/test/a.txt");
}

TEST(Mixture, RefusesWhatItDoesNotUnderstand) {
  struct Case {
    const char* name;
    std::string from, to, says;
  };
  const Case cases[] = {
      {"unknown key", "weight = 2.0", "wieght = 2.0", "wieght"},
      {"weight below 0", "weight = 2.0", "weight = -2.0", "'weight' must be a number"},
      {"language", "language = \"zh\"", "language = \"fr\"", "'fr' is not in [languages]"},
      {"twice", "name = \"b\"", "name = \"a\"", "named twice"},
      {"no path", "path = \"train/b.txt\"", "", "'path' is missing"},
      {"share of a language", "zh = 3", "zh = 0", "above 0"},
      {"type of a switch", "drop_held_out = true", "drop_held_out = 1", "true or false"},
      {"syntax", "[languages]", "[languages", "line 3"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::string text = kGood;
    text.replace(text.find(c.from), c.from.size(), c.to);
    const Result<Mixture> mixture = parse_mixture(text, "m.toml", "/data");
    ASSERT_FALSE(mixture.has_value());
    EXPECT_NE(mixture.error().message.find(c.says), std::string::npos) << mixture.error().message;
    EXPECT_EQ(mixture.error().message.find("m.toml"), 0u);
  }
}

TEST(Mixture, SharesFollowLanguageThenWeightTimesSize) {
  const Mixture mixture = parse_mixture(kGood, "m.toml", "/data").value();
  const std::vector<double> shares = source_shares(mixture, {100, 200, 50});
  EXPECT_NEAR(shares[0], 0.125, 1e-12);  // a and b weigh 200 each
  EXPECT_NEAR(shares[1], 0.125, 1e-12);
  EXPECT_NEAR(shares[2], 0.75, 1e-12);
}

TEST(Mixture, CapHandsTheRestToTheSameLanguage) {
  Mixture mixture = parse_mixture(kGood, "m.toml", "/data").value();
  mixture.sources[0].max_share = 0.05;
  const std::vector<double> shares = source_shares(mixture, {100, 200, 50});
  EXPECT_NEAR(shares[0], 0.05, 1e-12);
  EXPECT_NEAR(shares[1], 0.20, 1e-12);
  EXPECT_NEAR(shares[2], 0.75, 1e-12);
}

TEST(Mixture, EmptyLanguageLeavesItsShareToTheOthers) {
  const Mixture mixture = parse_mixture(kGood, "m.toml", "/data").value();
  const std::vector<double> shares = source_shares(mixture, {100, 200, 0});
  EXPECT_EQ(shares[2], 0.0);
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1.0, 1e-12);
}

TEST(Mixture, ShippedOneParses) {
  const Result<Mixture> mixture =
      load_mixture(LAYA_SOURCE_DIR "/models/instant/mixture.toml", "data");
  ASSERT_TRUE(mixture.has_value()) << mixture.error().message;
  EXPECT_GT(mixture->sources.size(), 20u);
  for (const MixtureSource& source : mixture->sources)
    EXPECT_FALSE(source.licence.empty()) << source.name;
}

}  // namespace
}  // namespace laya::train
