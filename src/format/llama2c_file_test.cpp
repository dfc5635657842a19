#include "format/llama2c_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "base/allocation_counter.h"
#include "base/atomic_file.h"
#include "base/test_folder.h"
#include "format/test_checkpoints.h"
#include "format/test_encoding.h"

namespace laya::format {
namespace {

Result<Llama2cFile> parse(const std::string& bytes) {
  return Llama2cFile::parse(std::as_bytes(std::span(bytes)), "input");
}

constexpr TestLlama2c kShape{0, 8, 16, 2, 4, 2, 10, 6, 8};  // dim 8, hidden 16, heads 4/2, groups 8

std::vector<TestTensor> all_tensors(bool untied) {
  std::vector<TestTensor> tensors = {test_tensor("tok_embeddings.weight", {10, 8}),
                                     test_tensor("norm.weight", {8})};
  for (const std::string l : {"layers.0.", "layers.1."}) {
    tensors.push_back(test_tensor(l + "attention_norm.weight", {8}));
    tensors.push_back(test_tensor(l + "ffn_norm.weight", {8}));
    tensors.push_back(test_tensor(l + "attention.wq.weight", {8, 8}));
    tensors.push_back(test_tensor(l + "attention.wk.weight", {4, 8}));
    tensors.push_back(test_tensor(l + "attention.wv.weight", {4, 8}));
    tensors.push_back(test_tensor(l + "attention.wo.weight", {8, 8}));
    tensors.push_back(test_tensor(l + "feed_forward.w1.weight", {16, 8}));
    tensors.push_back(test_tensor(l + "feed_forward.w2.weight", {8, 16}));
    tensors.push_back(test_tensor(l + "feed_forward.w3.weight", {16, 8}));
  }
  if (untied) tensors.push_back(test_tensor("output.weight", {10, 8}));
  return tensors;
}

TEST(Llama2cFile, ReadsAllVersionsTiedAndUntied) {
  for (const std::uint32_t version : {0u, 1u, 2u}) {
    for (const bool untied : {false, true}) {
      SCOPED_TRACE(testing::Message() << "version " << version << ", untied " << untied);
      TestLlama2c shape = kShape;
      shape.version = version;
      const auto tensors = all_tensors(untied);
      const std::string bytes = llama2c_bytes(shape, tensors);
      const auto file = parse(bytes);
      ASSERT_TRUE(file.has_value()) << file.error().message;
      EXPECT_EQ(file->config().version, version);
      EXPECT_EQ(file->config().tied_head, !untied);
      EXPECT_EQ(file->config().vocabulary_size, 10u);
      EXPECT_EQ(file->config().max_context, 6u);
      EXPECT_EQ(file->config().group, version == 2 ? 8u : 0u);
      ASSERT_EQ(file->tensors().size(), tensors.size());
      for (const TestTensor& made : tensors) {
        const SourceTensor* found = file->find_tensor(made.name);
        ASSERT_NE(found, nullptr) << made.name;
        EXPECT_EQ(found->shape, made.shape);
        std::vector<float> values(made.values.size());
        ASSERT_TRUE(read_rows(*found, 0, found->rows(), values).has_value());
        const float tolerance = found->type == SourceType::Int8Groups ? 0.1f / 254 + 1e-7f : 0.0f;
        for (std::size_t i = 0; i < values.size(); ++i) {
          ASSERT_NEAR(values[i], made.values[i], tolerance) << made.name << " " << i;
        }
      }
    }
  }
}

TEST(Llama2cFile, RefusesEveryTruncationAndEveryExcess) {
  for (const std::uint32_t version : {0u, 2u}) {
    TestLlama2c shape = kShape;
    shape.version = version;
    const std::string bytes = llama2c_bytes(shape, all_tensors(true));
    for (std::size_t size = 0; size < bytes.size(); size += size < 300 ? 1 : 41) {
      const std::string cut = bytes.substr(0, size);
      ASSERT_FALSE(parse(cut).has_value()) << size;
    }
    const auto longer = parse(bytes + "x");
    ASSERT_FALSE(longer.has_value());
    EXPECT_NE(longer.error().message.find("1 bytes more"), std::string::npos);
  }
}

TEST(Llama2cFile, RefusesHeadersThatLieWithTheirFields) {
  struct Case {
    const char* name;
    std::size_t field;  ///< of the seven
    std::int32_t value;
    const char* message;
  };
  const Case cases[] = {
      {"dim 0", 0, 0, "field dim is 0"},
      {"dim negative", 0, -8, "field dim is -8"},
      {"dim huge", 0, 0x7FFFFFFF, "field dim is 2147483647"},
      {"dim odd", 0, 9, "do not divide"},
      {"hidden huge", 1, 0x7FFFFFFF, "field hidden_dim"},
      {"layers huge", 2, 0x7FFFFFFF, "field n_layers"},
      {"layers 0", 2, 0, "field n_layers"},
      {"more layers than there are", 2, 3, "3 layers"},
      {"heads", 3, 3, "do not divide"},
      {"heads of size 1", 3, 8, "do not divide"},
      {"kv heads", 4, 3, "do not divide"},
      {"kv heads more than heads", 4, 8, "field n_kv_heads is 8"},
      {"vocabulary 0", 5, 0, "field vocab_size is 0"},
      {"vocabulary the least integer", 5, -0x7FFFFFFF - 1, "field vocab_size is 2147483648"},
      {"vocabulary larger", 5, 1 << 20, "vocabulary 1048576"},
      {"context huge", 6, 0x7FFFFFFF, "field max_seq_len"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    std::string bytes = llama2c_bytes(kShape, all_tensors(false));
    std::memcpy(bytes.data() + one.field * 4, &one.value, 4);
    const base::AllocationScope scope;
    const auto file = parse(bytes);
    EXPECT_LT(scope.bytes(), 65536u);  // whatever is claimed
    ASSERT_FALSE(file.has_value());
    EXPECT_EQ(file.error().code, ErrorCode::Corrupt);
    EXPECT_NE(file.error().message.find(one.message), std::string::npos) << file.error().message;
  }
  TestLlama2c shape = kShape;
  shape.version = 2;
  const std::string good = llama2c_bytes(shape, all_tensors(false));
  const auto with_byte = [&](std::size_t at, char value) {
    std::string bytes = good;
    bytes[at] = value;
    return parse(bytes).error();
  };
  EXPECT_EQ(with_byte(4, 3).code, ErrorCode::Version);
  EXPECT_NE(with_byte(36, 2).message.find("shared_classifier"), std::string::npos);
  EXPECT_NE(with_byte(37, 0).message.find("group_size is 0"), std::string::npos);
  EXPECT_EQ(with_byte(37, 3).code, ErrorCode::Unsupported);  // groups that cross rows
}

TEST(Llama2cFile, RefusesASparseFileOf4GigabytesAtOnce) {
  const base::TestFolder folder;
  const std::string path = folder.file("model.bin");
  ASSERT_TRUE(base::write_file(path, llama2c_bytes(kShape, all_tensors(false))).has_value());
  std::filesystem::resize_file(path, 4ull << 30);
  EXPECT_EQ(Llama2cFile::open(path).error().code, ErrorCode::Corrupt);
}

TEST(Llama2cTokenizer, ReadsTokensAndScores) {
  const std::vector<std::pair<std::string, float>> tokens = {{"<unk>", 0.0f},  {"\n<s>\n", 0.0f},
                                                             {"<0x0A>", 0.0f}, {" the", -3.5f},
                                                             {"你", -7.0f},    {"", 0}};
  const std::string bytes = llama2c_tokenizer_bytes(tokens);
  for (const std::uint32_t count : {0u, 6u}) {
    const auto read = parse_llama2c_tokenizer(std::as_bytes(std::span(bytes)), count, "t");
    ASSERT_TRUE(read.has_value()) << read.error().message;
    ASSERT_EQ(read->tokens.size(), tokens.size());
    EXPECT_EQ(read->max_token_bytes, 6u);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      EXPECT_EQ(read->tokens[i], tokens[i].first);
      EXPECT_EQ(read->scores[i], tokens[i].second);
    }
  }
}

TEST(Llama2cTokenizer, RefusesWhatDoesNotFit) {
  const std::vector<std::pair<std::string, float>> tokens = {{"ab", 0.0f}, {"c", -1.0f}};
  const std::string good = llama2c_tokenizer_bytes(tokens);
  const auto refused = [](const std::string& bytes, std::uint32_t count) {
    const base::AllocationScope scope;
    const auto read = parse_llama2c_tokenizer(std::as_bytes(std::span(bytes)), count, "t");
    EXPECT_LT(scope.bytes(), 65536u);  // whatever is claimed
    EXPECT_FALSE(read.has_value());
    return read ? std::string() : read.error().message;
  };
  for (std::size_t size = 0; size < good.size(); ++size) refused(good.substr(0, size), 2);
  EXPECT_NE(refused(good, 1).find("after the last of 1"), std::string::npos);
  EXPECT_NE(refused(good, 0xFFFFFFFF).find("token 2 does not fit"), std::string::npos);
  std::string bad = good;
  bad[0] = 1;
  EXPECT_NE(refused(bad, 2).find("token 0 has 2 bytes"), std::string::npos);
  bad = good;
  bad[3] = 0x7F;
  EXPECT_NE(refused(bad, 2).find("limit is 1024"), std::string::npos);
  bad = good;
  bad[6] = '\xC0', bad[7] = '\x7F';
  EXPECT_NE(refused(bad, 2).find("not finite"), std::string::npos);
}

}  // namespace
}  // namespace laya::format
