// Files that lie: each is refused, and the message says where.
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/fnv1a.h"
#include "text/test_subwords.h"

namespace laya::text {
namespace {

void expect_refused(const Result<SubwordTokenizer>& result, ErrorCode code,
                    const std::string& part) {
  ASSERT_FALSE(result) << "accepted; wanted: " << part;
  EXPECT_EQ(result.error().code, code) << result.error().message;
  EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
}

/// A sentencepiece model of 256 bytes and `more` pieces.
SubwordParts small_parts(const std::vector<std::string>& more) {
  SubwordParts parts;
  parts.options.kind = SubwordKind::Sentencepiece;
  for (int byte = 0; byte < 256; ++byte) {
    static constexpr std::string_view kHex = "0123456789ABCDEF";
    parts.tokens.push_back(std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + ">");
    parts.roles.push_back(PieceRole::Byte);
  }
  for (const std::string& piece : more) {
    parts.tokens.push_back(piece);
    parts.roles.push_back(PieceRole::Normal);
  }
  return parts;
}

TEST(SubwordHostile, PartsAreCheckedFieldByField) {
  SubwordParts good = small_parts({"a", "b", "ab", "\xE2\x96\x81"});
  good.merge_ids = {{256, 257}};
  ASSERT_TRUE(SubwordTokenizer::from_parts(good));

  SubwordParts parts = good;
  parts.tokens.push_back("c");
  expect_refused(SubwordTokenizer::from_parts(parts), ErrorCode::Corrupt,
                 "tokenizer: token types: 260 for 261");
  parts = good;
  parts.merge_ids.clear();
  parts.scores.assign(7, 0);
  expect_refused(SubwordTokenizer::from_parts(parts), ErrorCode::Corrupt, "scores: 7 for 260");
  parts.scores.assign(parts.tokens.size(), 0);
  parts.scores[258] = std::numeric_limits<float>::quiet_NaN();
  expect_refused(SubwordTokenizer::from_parts(parts), ErrorCode::Corrupt, "scores[258]");
  parts = good;
  parts.roles[3] = static_cast<PieceRole>(9);
  expect_refused(SubwordTokenizer::from_parts(parts), ErrorCode::Corrupt, "token types[3] is 9");
  parts = good;
  parts.tokens[10] = "<0xZZ>";
  expect_refused(SubwordTokenizer::from_parts(parts), ErrorCode::Corrupt, "tokens[10]");
  parts = good;
  parts.tokens[10] = "<0x0B>";
  expect_refused(SubwordTokenizer::from_parts(parts), ErrorCode::Corrupt, "tokens[11]");
  parts = good;
  parts.roles[10] = PieceRole::Unused;
  expect_refused(SubwordTokenizer::from_parts(parts), ErrorCode::Unsupported, "byte 10");
  parts = good;
  parts.tokens[257] = "a";
  expect_refused(SubwordTokenizer::from_parts(parts), ErrorCode::Corrupt,
                 "tokens[257] has the same bytes as tokens[256]");
  parts = good;
  parts.tokens[257] = "";
  expect_refused(SubwordTokenizer::from_parts(parts), ErrorCode::Corrupt, "tokens[257]");
  parts = good;
  parts.tokens[257] = "\xFFz";
  parts.merge_ids.clear();
  expect_refused(SubwordTokenizer::from_parts(parts), ErrorCode::Corrupt, "tokens[257]");
  parts = good;
  parts.tokens[257] = std::string(5000, 'x');
  expect_refused(SubwordTokenizer::from_parts(parts), ErrorCode::TooLarge, "tokens[257]");
  parts = good;
  parts.options.bos = 260;
  expect_refused(SubwordTokenizer::from_parts(parts), ErrorCode::Corrupt, "bos");
  parts = good;
  parts.options.kind = SubwordKind::ByteLevel;
  expect_refused(SubwordTokenizer::from_parts(parts), ErrorCode::Corrupt,
                 "tokens[259] has characters that stand for no byte");
  parts = good;
  parts.options.pre_tokenizer = PreTokenizer::Gpt2;
  expect_refused(SubwordTokenizer::from_parts(parts), ErrorCode::Corrupt, "pre_tokenizer");
  parts = good;
  parts.merges = {"a b"};
  expect_refused(SubwordTokenizer::from_parts(parts), ErrorCode::BadArgument, "merges");
  expect_refused(SubwordTokenizer::from_parts({}), ErrorCode::Corrupt, "pre_tokenizer");
}

TEST(SubwordHostile, MergesMustMakeWhatThereIs) {
  const SubwordParts base = small_parts({"a", "b", "ab", "\xE2\x96\x81"});
  const auto with = [&](std::vector<std::string> merges) {
    SubwordParts parts = base;
    parts.merges = std::move(merges);
    return SubwordTokenizer::from_parts(parts);
  };
  ASSERT_TRUE(with({"a b"}));
  expect_refused(with({"a b", "a c"}), ErrorCode::Corrupt, "merges[1]");
  expect_refused(with({"ab"}), ErrorCode::Corrupt, "merges[0]");
  expect_refused(with({""}), ErrorCode::Corrupt, "merges[0]");
  expect_refused(with({"b a"}), ErrorCode::Corrupt, "merges[0]");
  // ab from ab and …: a cycle would need a piece that is longer than itself.
  expect_refused(with({"ab a"}), ErrorCode::Corrupt, "merges[0]");
  SubwordParts parts = base;
  parts.merge_ids = {{256, 0xFFFFFFF0u}};
  expect_refused(SubwordTokenizer::from_parts(parts), ErrorCode::Corrupt, "merges[0]");
  parts.tokens.push_back("<s>");
  parts.roles.push_back(PieceRole::Control);
  parts.merge_ids = {{256, 260}};
  expect_refused(SubwordTokenizer::from_parts(parts), ErrorCode::Corrupt, "merges[0]");
}

TEST(SubwordHostile, WordsTakenWholeAreMadeOfBytesThatAreTokens) {
  SubwordParts parts;
  parts.options.pre_tokenizer = PreTokenizer::Llama3;
  parts.options.ignore_merges = true;
  parts.tokens = {"a", "b", "aba"};
  ASSERT_TRUE(SubwordTokenizer::from_parts(parts));
  parts.tokens = {"a", "b", "abc"};
  expect_refused(SubwordTokenizer::from_parts(parts), ErrorCode::Corrupt, "tokens[2]");
}

TEST(SubwordHostile, TokenizerJsonIsCheckedFieldByField) {
  const std::string good = tokenizer_testdata("qwen2.json");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string json = good;
    const std::size_t at = json.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    json.replace(at, from.size(), to);
    return SubwordTokenizer::from_tokenizer_json(json);
  };
  expect_refused(SubwordTokenizer::from_tokenizer_json(""), ErrorCode::Corrupt, "tokenizer.json: ");
  expect_refused(SubwordTokenizer::from_tokenizer_json("[1]"), ErrorCode::Corrupt, "no model");
  expect_refused(SubwordTokenizer::from_tokenizer_json(std::string(100, '[')), ErrorCode::Corrupt,
                 "nested deeper");
  expect_refused(SubwordTokenizer::from_tokenizer_json(good.substr(0, good.size() / 2)),
                 ErrorCode::Corrupt, "not JSON at byte");
  expect_refused(changed("\"type\":\"BPE\"", "\"type\":\"Unigram\""), ErrorCode::Unsupported,
                 "model.type \"Unigram\"");
  expect_refused(changed("\"NFC\"", "\"Lowercase\""), ErrorCode::Unsupported,
                 "normalizer: \"Lowercase\"");
  expect_refused(changed("(?!\\\\S)", "(?!\\\\s)"), ErrorCode::Unsupported, "with pattern ");
  expect_refused(changed("\"add_prefix_space\":false", "\"add_prefix_space\":true"),
                 ErrorCode::Unsupported, "add_prefix_space");
  expect_refused(changed("\"end_of_word_suffix\":null", "\"end_of_word_suffix\":\"</w>\""),
                 ErrorCode::Unsupported, "end_of_word_suffix");
  expect_refused(changed("\"vocab\":{", "\"vocab\":{\"zqzq\":4294967296,"), ErrorCode::Corrupt,
                 "model.vocab, entry");
  expect_refused(changed("\"vocab\":{", "\"vocab\":{\"zqzq\":-1,"), ErrorCode::Corrupt,
                 "model.vocab, entry");
  expect_refused(changed("\"vocab\":{", "\"vocab\":{\"zqzq\":300,"), ErrorCode::Corrupt, "taken");
  expect_refused(changed("\"vocab\":{", "\"vocab\":{\"你\":5000,"), ErrorCode::Corrupt,
                 "tokenizer.json: tokens[5000]");
  expect_refused(changed("\"merges\":[", "\"merges\":[[\"a\",\"no piece\"],"), ErrorCode::Corrupt,
                 "model.merges[0]");
  expect_refused(changed("\"merges\":[", "\"merges\":[\"a\","), ErrorCode::Corrupt,
                 "model.merges[0]");
  expect_refused(changed("\"merges\":[", "\"merges\":[7,"), ErrorCode::Corrupt, "model.merges[0]");
  expect_refused(changed("\"merges\":[", "\"merges\":[[\"~\",\"~\"],"), ErrorCode::Corrupt,
                 "merges[0] makes a piece that is no token");
  expect_refused(changed("\"added_tokens\":[", "\"added_tokens\":[{\"id\":2},"), ErrorCode::Corrupt,
                 "added_tokens[0]");
  EXPECT_TRUE(changed("\"NFC\"", "\"NFC\""));
}

TEST(SubwordHostile, GgufNamesThatAreUnknownAreSaid) {
  SubwordOptions options;
  EXPECT_TRUE(set_gguf_tokenizer("gpt2", "smollm", options));
  EXPECT_EQ(options.pre_tokenizer, PreTokenizer::SmolLm);
  EXPECT_TRUE(set_gguf_tokenizer("gpt2", "llama-bpe", options));
  EXPECT_TRUE(options.ignore_merges);
  EXPECT_TRUE(set_gguf_tokenizer("gpt2", "qwen2", options));
  EXPECT_EQ(options.normalizer, SubwordNormalizer::Nfc);
  EXPECT_FALSE(options.ignore_merges);
  EXPECT_TRUE(set_gguf_tokenizer("llama", "default", options));
  EXPECT_EQ(options.kind, SubwordKind::Sentencepiece);
  const Status pre = set_gguf_tokenizer("gpt2", "tekken", options);
  ASSERT_FALSE(pre);
  EXPECT_NE(pre.error().message.find("\"tekken\""), std::string::npos);
  const Status model = set_gguf_tokenizer("bert", "", options);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::Unsupported);
}

/// The blob with `bytes` written at `at` and a checksum that fits.
std::vector<std::byte> patched(std::vector<std::byte> blob, std::size_t at,
                               std::initializer_list<int> bytes) {
  for (const int byte : bytes) {
    blob[at++] = static_cast<std::byte>(byte);
  }
  const std::size_t body = blob.size() - sizeof(std::uint64_t);
  const std::uint64_t hash = base::fnv1a_64(std::span(blob).first(body));
  std::memcpy(blob.data() + body, &hash, sizeof(hash));
  return blob;
}

TEST(SubwordHostile, TheBlobIsCheckedFieldByField) {
  SubwordParts parts = small_parts({"a", "b", "ab", "\xE2\x96\x81"});
  parts.merge_ids = {{256, 257}};
  const std::vector<std::byte> good = made(SubwordTokenizer::from_parts(parts)).serialize();
  ASSERT_TRUE(SubwordTokenizer::parse(good));

  for (std::size_t size = 0; size < good.size(); ++size) {
    ASSERT_FALSE(SubwordTokenizer::parse(std::span(good).first(size))) << size;
  }
  std::vector<std::byte> longer = good;
  longer.push_back(std::byte{0});
  expect_refused(SubwordTokenizer::parse(longer), ErrorCode::Corrupt, "1 bytes behind its end");
  std::vector<std::byte> damaged = good;
  damaged[700] ^= std::byte{1};
  expect_refused(SubwordTokenizer::parse(damaged), ErrorCode::Corrupt, "checksum");

  const auto refused = [&](std::size_t at, std::initializer_list<int> bytes, ErrorCode code,
                           const std::string& what) {
    expect_refused(SubwordTokenizer::parse(patched(good, at, bytes)), code, what);
  };
  refused(0, {'X'}, ErrorCode::Corrupt, "LSUB");
  refused(4, {2}, ErrorCode::Version, "version 2");
  refused(8, {2}, ErrorCode::Corrupt, "kind is 2");
  refused(9, {9}, ErrorCode::Corrupt, "pre_tokenizer is 9");
  refused(10, {2}, ErrorCode::Corrupt, "normalizer is 2");
  refused(12, {2}, ErrorCode::Corrupt, "ignore_merges is 2");
  refused(14, {1}, ErrorCode::Corrupt, "reserved");
  refused(16, {0xFF, 0xFF, 0, 0}, ErrorCode::Corrupt, "bos");
  refused(24, {0xFF, 0xFF}, ErrorCode::Corrupt, "rows 65535");
  refused(28, {0xFF, 0xFF, 0xFF, 0xFF}, ErrorCode::TooLarge, "count 4294967295");
  refused(32, {0xFF, 0xFF, 0xFF, 0xFF}, ErrorCode::TooLarge, "merges 4294967295");
  refused(36, {0xFF, 0xFF, 0xFF, 0xFF}, ErrorCode::Corrupt, "texts");
  refused(40, {7}, ErrorCode::Corrupt, "tokens[0] is of an unknown kind");
  refused(40, {0x81}, ErrorCode::Corrupt, "tokens[0] cannot be found before merging");
  refused(40 + 260, {0xFF, 0xFF}, ErrorCode::Corrupt, "tokens[0] reaches beyond");
  const std::size_t lefts = good.size() - 8 - 12;
  refused(lefts, {0xFF, 0xFF, 0xFF, 0xFF}, ErrorCode::Corrupt, "merges[0] names token 4294967295");
  refused(lefts, {1, 0, 0, 0}, ErrorCode::Corrupt, "merges[0] makes a token that is not its two");
  refused(lefts + 8, {0, 1, 0, 0}, ErrorCode::Corrupt, "merges[0] makes a token that is not its");
}

}  // namespace
}  // namespace laya::text
