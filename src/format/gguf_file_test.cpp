#include "format/gguf_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "base/allocation_counter.h"
#include "base/atomic_file.h"
#include "base/test_folder.h"
#include "format/test_checkpoints.h"
#include "format/test_encoding.h"

namespace laya::format {
namespace {

Result<GgufFile> parse(const std::string& bytes) {
  return GgufFile::parse(std::as_bytes(std::span(bytes)), "input");
}

const TestMetadata kMetadata = {{"general.architecture", std::string("llama")},
                                {"llama.block_count", std::uint32_t{2}}};

std::vector<TestTensor> two_tensors() {
  return {test_tensor("token_embd.weight", {4, 32}, SourceType::Q8_0),
          test_tensor("output_norm.weight", {5})};
}

// A file from its parts, so that each can lie.
struct Info {
  std::string name = "w";
  std::vector<std::uint64_t> dimensions = {4};  ///< as in the file: innermost first
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
};
std::string key(std::string_view name, std::uint32_t type, const std::string& value) {
  std::string out;
  append(out, static_cast<std::uint64_t>(name.size()));
  out += name;
  append(out, type);
  return out + value;
}
template <typename T>
std::string raw(T value) {
  std::string out;
  append(out, value);
  return out;
}
std::string file_of(const std::vector<std::string>& keys, const std::vector<Info>& infos,
                    std::size_t data_bytes) {
  std::string out =
      "GGUF" + raw(3u) + raw(std::uint64_t{infos.size()}) + raw(std::uint64_t{keys.size()});
  for (const std::string& one : keys) out += one;
  for (const Info& info : infos) {
    out += raw(std::uint64_t{info.name.size()}) + info.name +
           raw(static_cast<std::uint32_t>(info.dimensions.size()));
    for (const std::uint64_t dimension : info.dimensions) out += raw(dimension);
    out += raw(info.type) + raw(info.offset);
  }
  out.resize((out.size() + 31) / 32 * 32);
  return out + std::string(data_bytes, '\0');
}

TEST(GgufFile, ReadsVersionsTwoAndThreeAndEveryAlignment) {
  const auto tensors = two_tensors();
  for (const std::uint32_t version : {2u, 3u}) {
    for (const std::uint32_t alignment : {8u, 32u, 64u, 4096u}) {
      const std::string bytes = gguf_bytes(kMetadata, tensors, alignment, version);
      const auto file = parse(bytes);
      ASSERT_TRUE(file.has_value()) << file.error().message;
      EXPECT_EQ(file->version(), version);
      EXPECT_EQ(file->alignment(), alignment);
      ASSERT_EQ(file->tensors().size(), 2u);
      const SourceTensor* norm = file->find_tensor("output_norm.weight");
      ASSERT_NE(norm, nullptr);
      std::vector<float> values(5);
      ASSERT_TRUE(read_rows(*norm, 0, 1, values).has_value());
      EXPECT_EQ(values, tensors[1].values);
      EXPECT_EQ(file->find_tensor("token_embd.weight")->shape, (std::vector<std::uint64_t>{4, 32}));
      EXPECT_EQ(file->find_tensor("output.weight"), nullptr);
    }
  }
}

TEST(GgufFile, ReadsEveryTypeOfValueThatTheGgufPackageWrites) {
  const auto file =
      GgufFile::open(std::string(LAYA_SOURCE_DIR) + "/testdata/checkpoints/blocks.gguf");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  EXPECT_EQ(file->integer("t.u8", 0, 255).value(), 200u);
  EXPECT_EQ(file->integer("t.u16", 0, kMost).value(), 60000u);
  EXPECT_EQ(file->integer("t.u32", 0, kMost).value(), 4000000000u);
  EXPECT_EQ(file->integer("t.u64", 0, kMost).value(), (1ull << 63) - 1);
  EXPECT_EQ(file->number("t.i8").value(), -100);
  EXPECT_EQ(file->number("t.i16").value(), -30000);
  EXPECT_EQ(file->number("t.i32").value(), -2000000000.0);
  EXPECT_EQ(file->number("t.i64").value(), -0x1p62);
  EXPECT_EQ(file->number("t.f32").value(), 0.1f);
  EXPECT_EQ(file->number("t.f64").value(), 0.1);
  EXPECT_TRUE(file->boolean("t.bool").value());
  EXPECT_EQ(file->text("t.string").value(), "你好, GGUF");
  EXPECT_EQ(file->texts("t.strings").value(), (std::vector<std::string_view>{"a", "", "▁the"}));
  EXPECT_EQ(file->integers("t.ints").value(), (std::vector<std::int64_t>{1, -2, 3}));
  EXPECT_EQ(file->numbers("t.floats").value(), (std::vector<float>{0.5f, -1.5f}));
}

TEST(GgufFile, NamesFileAndKeyWhereAValueIsNotAsAskedFor) {
  const std::string bytes = gguf_bytes({{"n", std::int32_t{-1}},
                                        {"s", std::string("x")},
                                        {"b", true},
                                        {"a", std::vector<float>{1}},
                                        {"u", ~std::uint64_t{0}},
                                        {"inf", std::numeric_limits<float>::infinity()}},
                                       {});
  const auto file = parse(bytes);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const auto refuses = [](const auto& result, std::string_view part) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::Corrupt);
    EXPECT_TRUE(result.error().message.starts_with("input: metadata \"")) << result.error().message;
    EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
  };
  refuses(file->integer("none", 0, 1), "is missing");
  refuses(file->integer("n", 0, 7), "-1; from 0 to 7");
  refuses(file->integer("s", 0, 7), "is String, not an integer");
  refuses(file->integer("b", 0, 7), "is Bool");
  refuses(file->integer("u", 0, 7), "beyond 2^63");
  refuses(file->number("a"), "is an array of F32, not a number");
  refuses(file->number("b"), "is Bool");
  refuses(file->number("inf"), "not finite");
  refuses(file->boolean("n"), "is I32, not a Bool");
  refuses(file->text("n"), "not a String");
  refuses(file->texts("a"), "not an array of String");
  refuses(file->integers("a"), "not an array of integers");
  refuses(file->integers("n"), "not an array of integers");
  refuses(file->numbers("n"), "not an array of F32");
}

TEST(GgufFile, RefusesEveryTruncation) {
  const auto tensors = two_tensors();
  std::string bytes = gguf_bytes(kMetadata, tensors);
  bytes.resize(bytes.size() - 12);  // padding of the last tensor: 20 bytes of 32
  ASSERT_TRUE(parse(bytes).has_value());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);  // of exactly that size, for the sanitizer
    const auto file = parse(cut);
    ASSERT_FALSE(file.has_value()) << size;
    ASSERT_TRUE(file.error().message.starts_with("input: ")) << file.error().message;
  }
}

TEST(GgufFile, RefusesHostileFieldsWithTheirNames) {
  constexpr std::uint64_t kHuge = 1ull << 60;
  const std::string huge = raw(kHuge);
  struct Case {
    const char* name;
    std::string bytes;
    const char* message;
    ErrorCode code = ErrorCode::Corrupt;
  };
  const auto with = [](const Info& info) { return file_of({}, {info}, 64); };
  std::string deep = raw(9u) + raw(std::uint64_t{1});
  for (int i = 0; i < 100; ++i) deep += raw(9u) + raw(std::uint64_t{1});
  const Case cases[] = {
      {"magic", "GGML" + std::string(60, '\0'), "not a GGUF file"},
      {"version 1", "GGUF" + raw(1u) + std::string(60, '\0'), "GGUF version 1", ErrorCode::Version},
      {"big-endian", "GGUF" + raw(0x03000000u) + std::string(60, '\0'), "big-endian",
       ErrorCode::Version},
      {"tensor count", "GGUF" + raw(3u) + huge + raw(std::uint64_t{0}), "1152921504606846976"},
      {"key count", "GGUF" + raw(3u) + raw(std::uint64_t{0}) + huge, "1152921504606846976"},
      {"keys that are not there", "GGUF" + raw(3u) + raw(std::uint64_t{0}) + raw(std::uint64_t{9}),
       "metadata key"},
      {"long key", file_of({raw(kHuge)}, {}, 0), "1152921504606846976"},
      {"empty key", file_of({key("", 4, raw(1u))}, {}, 0), "of 0 bytes"},
      {"value type", file_of({key("k", 13, raw(1u))}, {}, 0), "\"k\" is of type 13"},
      {"key twice", file_of({key("k", 4, raw(1u)), key("k", 4, raw(1u))}, {}, 0), "\"k\" twice"},
      {"bool 2", file_of({key("k", 7, "\x02")}, {}, 0), "neither true nor false"},
      {"long string", file_of({key("k", 8, huge)}, {}, 0), "\"k\": a string"},
      {"string wraps", file_of({key("k", 8, raw(~std::uint64_t{0}))}, {}, 0), "\"k\": a string"},
      {"array type", file_of({key("k", 9, raw(77u) + raw(std::uint64_t{0}))}, {}, 0), "type 77"},
      {"2^60 elements", file_of({key("k", 9, raw(4u) + huge)}, {}, 0), "an array's elements"},
      {"elements wrap", file_of({key("k", 9, raw(10u) + raw(1ull << 61))}, {}, 0),
       "an array's elements"},
      {"2^60 strings", file_of({key("k", 9, raw(8u) + huge)}, {}, 4096), "\"k\": "},
      {"a long string in an array",
       file_of({key("k", 9, raw(8u) + raw(std::uint64_t{1}) + huge)}, {}, 0),
       "a string in an array"},
      {"deep arrays", file_of({key("k", 9, deep)}, {}, 4096), "too deep"},
      {"alignment 0", file_of({key("general.alignment", 4, raw(0u))}, {}, 0), "alignment\" is 0"},
      {"alignment 24", file_of({key("general.alignment", 4, raw(24u))}, {}, 0), "is 24"},
      {"alignment 2^31", file_of({key("general.alignment", 4, raw(1u << 31))}, {}, 0),
       "2147483648"},
      {"alignment text", file_of({key("general.alignment", 8, raw(std::uint64_t{0}))}, {}, 0),
       "no U32"},
      {"long name", with({std::string(256, 'n')}), "name of 256 bytes"},
      {"empty name", with({""}), "name of 0 bytes"},
      {"no dimension", with({"w", {}}), "0 dimensions"},
      {"five dimensions", with({"w", {1, 1, 1, 1, 1}}), "5 dimensions"},
      {"dimension 0", with({"w", {4, 0}}), "dimension of 0"},
      {"dimensions overflow", with({"w", {1ull << 32, 1ull << 32}}), "2^48"},
      {"dimension 2^64 - 1", with({"w", {~std::uint64_t{0}}}), "2^48"},
      {"type Q2_K", with({"some.w", {256}, 10}), "tensor \"some.w\" is of type Q2_K",
       ErrorCode::Unsupported},
      {"type IQ4_NL", with({"w", {256}, 20}), "IQ4_NL", ErrorCode::Unsupported},
      {"type 12345", with({"w", {256}, 12345}), "number 12345", ErrorCode::Unsupported},
      {"cut block", with({"w", {48}, 2}), "rows of 48 values, but Q4_0 needs a multiple of 32"},
      {"misaligned", with({"w", {4}, 0, 4}), "\"w\" lies at 4"},
      {"beyond the end", with({"w", {4}, 0, 64}), "reach beyond the 64 bytes"},
      {"offset wraps", with({"w", {4}, 0, ~std::uint64_t{31}}), "reach beyond"},
      {"name twice", file_of({}, {{"w", {4}, 0, 0}, {"w", {4}, 0, 32}}, 64), "\"w\" twice"},
      {"overlap", file_of({}, {{"a", {16}, 0, 0}, {"b", {4}, 0, 32}}, 64),
       "\"a\" and \"b\" overlap"},
      {"same place", file_of({}, {{"a", {4}, 0, 0}, {"b", {4}, 0, 0}}, 64), "overlap"},
      {"no data", file_of({}, {{"a", {4}, 0, 0}}, 0), "download"},
      {"ends in the directory", file_of({}, {{"a", {4}, 0, 0}}, 0).substr(0, 60), "download"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    const base::AllocationScope scope;
    const auto file = parse(one.bytes);
    EXPECT_LT(scope.bytes(), 65536u);  // whatever is claimed
    ASSERT_FALSE(file.has_value());
    EXPECT_EQ(file.error().code, one.code) << file.error().message;
    EXPECT_TRUE(file.error().message.starts_with("input: ")) << file.error().message;
    EXPECT_NE(file.error().message.find(one.message), std::string::npos) << file.error().message;
  }
}

TEST(GgufFile, OpensASparseFileOf4GigabytesWithoutReadingIt) {
  const base::TestFolder folder;
  const std::string path = folder.file("sparse.gguf");
  const auto write = [&](const std::string& bytes) {
    ASSERT_TRUE(base::write_file(path, bytes).has_value());
    std::filesystem::resize_file(path, 4ull << 30);
  };
  // One tensor of 4 GB − 64 KB in the hole: fine. One that needs more: refused.
  write(file_of({}, {{"w", {1u << 15, (1u << 15) - 1}}}, 0));
  auto file = GgufFile::open(path);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  std::vector<float> row(1u << 15);
  ASSERT_TRUE(read_rows(*file->find_tensor("w"), 32766, 1, row).has_value());
  EXPECT_EQ(row[5], 0.0f);
  write(file_of({}, {{"w", {1u << 15, 1u << 15}}}, 0));
  EXPECT_EQ(GgufFile::open(path).error().code, ErrorCode::Corrupt);
  // An array that claims to be the whole hole: strings of length 0, one every eight bytes.
  write(file_of({key("k", 9, raw(8u) + raw(1ull << 60))}, {}, 0));
  const base::AllocationScope scope;
  file = GgufFile::open(path);
  ASSERT_FALSE(file.has_value());
  EXPECT_NE(file.error().message.find("more strings"), std::string::npos) << file.error().message;
  EXPECT_LT(scope.bytes(), 65536u);
}

TEST(GgufFile, IsMovedWithItsViews) {
  const std::string bytes = gguf_bytes(kMetadata, two_tensors());
  auto file = parse(bytes);
  ASSERT_TRUE(file.has_value());
  const SourceTensor* tensor = file->find_tensor("output_norm.weight");
  const GgufFile moved = std::move(*file);
  EXPECT_EQ(moved.find_tensor("output_norm.weight"), tensor);
  EXPECT_EQ(moved.text("general.architecture").value(), "llama");
}

}  // namespace
}  // namespace laya::format
