#include "text/vocabulary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "text/test_vocabulary.h"

namespace laya::text {
namespace {

/// The smallest vocabulary that is accepted, and some words.
std::vector<Piece> small_pieces() {
  std::vector<Piece> pieces = {{"", 0, PieceType::Unknown},
                               {"", 0, PieceType::Begin},
                               {"\n", 0, PieceType::Newline},
                               {"<NUM>", 0, PieceType::Symbol}};
  for (int byte = 0; byte < 256; ++byte) {
    pieces.push_back({std::string(1, static_cast<char>(byte)), 0, PieceType::Byte});
  }
  for (const char* word : {"the ", "the", "then ", "t", "他"}) {
    pieces.push_back({word, -2.5f, PieceType::Normal});
  }
  return pieces;
}

TEST(Vocabulary, SurvivesSerialising) {
  const Vocabulary made = Vocabulary::create(small_pieces()).value();
  const Vocabulary read = Vocabulary::parse(made.serialize()).value();
  ASSERT_EQ(read.size(), made.size());
  for (TokenId id = 0; id < made.size(); ++id) {
    EXPECT_EQ(read.text(id), made.text(id));
    EXPECT_EQ(read.type(id), made.type(id));
    EXPECT_EQ(read.score(id), made.score(id));
  }
  EXPECT_EQ(read.fingerprint(), made.fingerprint());
  EXPECT_EQ(read.serialize(), made.serialize());
}

TEST(Vocabulary, ShippedOneHasWhatTheDesignAsksFor) {
  const Vocabulary vocabulary = shipped_vocabulary();
  EXPECT_EQ(vocabulary.size(), 16384u);
  EXPECT_EQ(vocabulary.begin_id(), 1u);
  EXPECT_EQ(vocabulary.newline_id(), 2u);
  EXPECT_EQ(vocabulary.type(vocabulary.find("<EMAIL>")), PieceType::Symbol);
  EXPECT_NE(vocabulary.find("the "), kNoToken);
  EXPECT_NE(vocabulary.find("的"), kNoToken);
  EXPECT_EQ(vocabulary.find("no such piece"), kNoToken);
}

TEST(Vocabulary, FindsEveryPieceWithAPrefix) {
  const Vocabulary vocabulary = shipped_vocabulary();
  for (const char* prefix : {"", "t", "the", "the ", "pro", "我", "\xE6", "zzzzzz", "\xFF"}) {
    SCOPED_TRACE(prefix);
    std::size_t want = 0;
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
      want += vocabulary.type(id) == PieceType::Normal && vocabulary.text(id).starts_with(prefix);
    }
    const auto got = vocabulary.with_prefix(prefix);
    EXPECT_EQ(got.size(), want);
    for (const TokenId id : got) {
      EXPECT_TRUE(vocabulary.text(id).starts_with(prefix));
    }
  }
}

TEST(Vocabulary, RefusesPiecesThatContradictThemselves) {
  struct Case {
    const char* name;
    void (*spoil)(std::vector<Piece>&);
    const char* message;
  };
  const Case cases[] = {
      {"no byte", [](auto& p) { p.erase(p.begin() + 4 + 65); }, "Byte piece for 65"},
      {"two begins",
       [](auto& p) {
         p.push_back({"", 0, PieceType::Begin});
       },
       "second Begin"},
      {"no newline", [](auto& p) { p.erase(p.begin() + 2); }, "no Newline"},
      {"newline text", [](auto& p) { p[2].text = "x"; }, "Newline but"},
      {"twice",
       [](auto& p) {
         p.push_back({"the", -3, PieceType::Normal});
       },
       "another piece"},
      {"as symbol",
       [](auto& p) {
         p.push_back({"<NUM>", -3, PieceType::Normal});
       },
       "another piece"},
      {"NaN", [](auto& p) { p.back().score = std::nanf(""); }, "log-probability"},
      {"positive", [](auto& p) { p.back().score = 1; }, "log-probability"},
      {"very low", [](auto& p) { p.back().score = -1e30f; }, "log-probability"},
      {"empty", [](auto& p) { p.back().text.clear(); }, "no text"},
      {"text of begin", [](auto& p) { p[1].text = "<s>"; }, "must not have text"},
      {"too long", [](auto& p) { p.back().text.assign(256, 'x'); }, "at most 255"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<Piece> pieces = small_pieces();
    c.spoil(pieces);
    const Result<Vocabulary> made = Vocabulary::create(pieces);
    ASSERT_FALSE(made.has_value());
    EXPECT_NE(made.error().message.find(c.message), std::string::npos) << made.error().message;
  }
}

TEST(Vocabulary, RefusesEveryTruncationAndEveryFlippedByte) {
  const std::vector<std::byte> blob = Vocabulary::create(small_pieces()).value().serialize();
  for (std::size_t size = 0; size < blob.size(); ++size) {
    ASSERT_FALSE(Vocabulary::parse(std::span(blob).first(size)).has_value()) << size;
  }
  for (std::size_t at = 0; at < blob.size(); ++at) {
    std::vector<std::byte> damaged = blob;
    damaged[at] ^= std::byte{0x10};
    ASSERT_FALSE(Vocabulary::parse(damaged).has_value()) << at;
  }
  std::vector<std::byte> longer = blob;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(Vocabulary::parse(longer).has_value());
}

TEST(Vocabulary, NamesAnotherVersion) {
  std::vector<std::byte> blob = Vocabulary::create(small_pieces()).value().serialize();
  blob[4] = std::byte{9};
  const Result<Vocabulary> read = Vocabulary::parse(blob);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::Version);
  EXPECT_NE(read.error().message.find("version 9, this build reads 1"), std::string::npos);
}

}  // namespace
}  // namespace laya::text
