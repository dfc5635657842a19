#include "format/safetensors_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/allocation_counter.h"
#include "base/atomic_file.h"
#include "base/test_folder.h"
#include "format/test_checkpoints.h"
#include "format/test_encoding.h"

namespace laya::format {
namespace {

Result<SafetensorsFile> parse(const std::string& bytes) {
  return SafetensorsFile::parse(std::as_bytes(std::span(bytes)), "input");
}

std::string file_of(const std::string& header, std::size_t data_bytes = 0) {
  std::string out;
  append(out, static_cast<std::uint64_t>(header.size()));
  return out + header + std::string(data_bytes, '\0');
}

std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

TEST(SafetensorsFile, ReadsWhatTheSafetensorsPackageWrites) {
  const auto file = SafetensorsFile::open(std::string(LAYA_SOURCE_DIR) +
                                          "/testdata/checkpoints/plain.safetensors");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->metadata().at("format"), "pt");
  ASSERT_EQ(file->tensors().size(), 5u);
  const std::vector<float> ramp = {0, 0.25f, 0.5f, 0.75f, 1, 1.25f};
  for (const char* name : {"f32", "f16", "bf16"}) {
    const SourceTensor* found = file->find_tensor(name);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->shape, (std::vector<std::uint64_t>{2, 3}));
    std::vector<float> values(6);
    ASSERT_TRUE(read_rows(*found, 0, 2, values).has_value());
    EXPECT_EQ(values, ramp) << name;
  }
  EXPECT_EQ(file->find_tensor("i32")->type, SourceType::I32);
  float scalar = 0;
  ASSERT_TRUE(read_rows(*file->find_tensor("scalar"), 0, 1, std::span(&scalar, 1)).has_value());
  EXPECT_EQ(scalar, 2.5f);
  EXPECT_EQ(file->find_tensor("f64"), nullptr);
}

TEST(SafetensorsFile, RefusesEveryTruncation) {
  const std::vector<TestTensor> tensors = {test_tensor("b", {2, 3}),
                                           test_tensor("a", {4}, SourceType::F16)};
  const std::string bytes = safetensors_bytes(tensors);
  ASSERT_TRUE(parse(bytes).has_value());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    const auto file = parse(cut);
    ASSERT_FALSE(file.has_value()) << size;
    ASSERT_TRUE(file.error().message.starts_with("input: ")) << file.error().message;
  }
  EXPECT_FALSE(parse(bytes + "x").has_value());
}

TEST(SafetensorsFile, RefusesHostileHeadersWithTheirNames) {
  struct Case {
    const char* name;
    std::string bytes;
    const char* message;
    ErrorCode code = ErrorCode::Corrupt;
  };
  std::string length_of_2_60;
  append(length_of_2_60, std::uint64_t{1} << 60);
  const auto one = [](const std::string& shape, const std::string& offsets, std::size_t data = 8) {
    return file_of("{" + tensor("w", "F32", shape, offsets) + "}", data);
  };
  const std::string good = tensor("w", "F32", "[1]", "[0,4]");
  const Case cases[] = {
      {"huge header", length_of_2_60 + "{}", "header of 1152921504606846976"},
      {"no object", file_of("[1]"), "no JSON object"},
      {"not JSON", file_of("{\"a\":"), "not JSON"},
      {"deep", file_of("{\"a\":" + std::string(50000, '[') + "}"), "an array where"},
      {"deep objects", file_of("{\"a\":{\"b\":{}}}"), "field \"b\""},
      {"unknown dtype", file_of("{" + tensor("w", "F8_E4M3", "[4]", "[0,4]") + "}", 4),
       "tensor \"w\": dtype \"F8_E4M3\"", ErrorCode::Unsupported},
      {"no shape", file_of(R"({"w":{"dtype":"F32","data_offsets":[0,4]}})", 4), "lacks one of"},
      {"dtype twice",
       file_of(R"({"w":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4),
       "\"dtype\" twice"},
      {"other field", file_of(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}})", 4),
       "field \"x\""},
      {"shape as text", one("\"1\"", "[0,4]"), "a string where"},
      {"negative dimension", one("[-1]", "[0,4]"), "a negative number"},
      {"fraction", one("[1.5]", "[0,4]"), "no integer"},
      {"dimension beyond 2^64", one("[18446744073709551616]", "[0,4]"), "no integer"},
      {"dimension 0", one("[0]", "[0,0]"), "dimension of 0"},
      {"overflow", one("[4294967296,4294967296]", "[0,8]"), "2^48"},
      {"nine dimensions", one("[1,1,1,1,1,1,1,1,1]", "[0,4]"), "more than 8 dimensions"},
      {"one offset", one("[1]", "[0]"), "two numbers"},
      {"three offsets", one("[1]", "[0,4,8]"), "more than two"},
      {"backwards", one("[1]", "[8,4]"), "bytes 8 to 4"},
      {"beyond the end", one("[3]", "[0,12]"), "bytes 0 to 12 of a buffer of 8"},
      {"another size", one("[1]", "[0,8]"), "8 bytes, but F32 [1] needs 4"},
      {"hole before", one("[1]", "[4,8]"), "begins at 4"},
      {"rest", one("[1]", "[0,4]"), "4 bytes after the last tensor"},
      {"tensor twice", file_of("{" + good + "," + good + "}", 4), "begins at 0 where"},
      {"overlap", file_of("{" + good + "," + tensor("v", "F32", "[2]", "[0,8]") + "}", 8),
       "where the one before ends"},
      {"metadata number", file_of(R"({"__metadata__":{"a":1}})"), "a number where"},
      {"metadata twice", file_of(R"({"__metadata__":{},"__metadata__":{}})"), "twice"},
      {"empty name", file_of("{" + tensor("", "F32", "[1]", "[0,4]") + "}", 4), "name of 0 bytes"},
      {"long name", file_of("{" + tensor(std::string(256, 'n'), "F32", "[1]", "[0,4]") + "}", 4),
       "name of 256 bytes"},
  };
  ASSERT_TRUE(parse(file_of("{" + good + "}", 4)).has_value());
  for (const Case& hostile : cases) {
    SCOPED_TRACE(hostile.name);
    const base::AllocationScope scope;
    const auto file = parse(hostile.bytes);
    EXPECT_LT(scope.bytes(), 65536u + hostile.bytes.size());  // whatever is claimed
    ASSERT_FALSE(file.has_value());
    EXPECT_EQ(file.error().code, hostile.code) << file.error().message;
    EXPECT_TRUE(file.error().message.starts_with("input: ")) << file.error().message;
    EXPECT_NE(file.error().message.find(hostile.message), std::string::npos)
        << file.error().message;
  }
}

TEST(SafetensorsFile, RefusesASparseFileOf4GigabytesAtOnce) {
  const base::TestFolder folder;
  const std::string path = folder.file("model.safetensors");
  ASSERT_TRUE(
      base::write_file(path, file_of("{" + tensor("w", "F32", "[1]", "[0,4]") + "}")).has_value());
  std::filesystem::resize_file(path, 4ull << 30);
  const base::AllocationScope scope;
  const auto file = SafetensorsFile::open(path);
  EXPECT_LT(scope.bytes(), 65536u);
  ASSERT_FALSE(file.has_value());
  EXPECT_NE(file.error().message.find("after the last tensor"), std::string::npos);
}

TEST(ShardIndex, GivesEachTensorItsFileAndRefusesPaths) {
  const auto map = parse_shard_index(
      R"({"metadata":{"total_size":8},"weight_map":{"a":"m-1.safetensors","b":"m-2.safetensors"}})",
      "index");
  ASSERT_TRUE(map.has_value()) << map.error().message;
  EXPECT_EQ(map->at("b"), "m-2.safetensors");
  for (const char* json :
       {"", "[]", "{}", R"({"weight_map":[]})", R"({"weight_map":{"a":1}})",
        R"({"weight_map":{"a":"../x"}})", R"({"weight_map":{"a":"/etc/passwd"}})",
        R"({"weight_map":{"a":".."}})", R"({"weight_map":{"a":""}})",
        R"({"weight_map":{"a":"x\u0000y"}})", R"({"weight_map":{"a":"x","a":"y"}})"}) {
    const auto bad = parse_shard_index(json, "index");
    ASSERT_FALSE(bad.has_value()) << json;
    EXPECT_EQ(bad.error().code, ErrorCode::Corrupt);
    EXPECT_TRUE(bad.error().message.starts_with("index: ")) << bad.error().message;
  }
  EXPECT_FALSE(parse_shard_index(std::string(10000, '['), "index").has_value());
}

}  // namespace
}  // namespace laya::format
