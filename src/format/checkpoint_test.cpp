#include "format/checkpoint.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <functional>

#include "base/atomic_file.h"
#include "base/test_folder.h"
#include "format/test_checkpoints.h"
#include "format/test_encoding.h"

namespace laya::format {
namespace {

namespace fs = std::filesystem;

std::vector<TestTensor> some_tensors() {
  return {test_tensor("model.embed_tokens.weight", {8, 64}, SourceType::F16),
          test_tensor("model.norm.weight", {64}),
          test_tensor("model.layers.0.mlp.down_proj.weight", {64, 32}, SourceType::BF16)};
}

void save(const std::string& path, std::string_view text) {
  fs::create_directories(fs::path(path).parent_path());
  ASSERT_TRUE(base::write_file(path, text).has_value());
}

std::string message_of(const Result<Checkpoint>& result) {
  return result ? "(opened)" : result.error().message;
}

void expect_values(const Checkpoint& checkpoint, std::span<const TestTensor> tensors,
                   float tolerance = 0) {
  ASSERT_EQ(checkpoint.tensors().size(), tensors.size());
  for (const TestTensor& made : tensors) {
    const auto found = checkpoint.tensor(made.name, made.shape);
    ASSERT_TRUE(found.has_value()) << found.error().message;
    std::vector<float> values(made.values.size());
    ASSERT_TRUE(read_rows(**found, 0, (*found)->rows(), values).has_value());
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(values[i], made.values[i], tolerance) << made.name << " " << i;
    }
  }
}

TEST(Checkpoint, OpensEveryKindByItsContentsWhateverItIsCalled) {
  const base::TestFolder folder;
  const auto tensors = some_tensors();
  struct Case {
    CheckpointKind kind;
    std::string bytes;
  };
  const TestLlama2c llama{1, 8, 16, 1, 4, 4, 10, 6};
  std::vector<TestTensor> llama_tensors = {test_tensor("tok_embeddings.weight", {10, 8}),
                                           test_tensor("norm.weight", {8})};
  for (const char* name : {"attention_norm.weight", "ffn_norm.weight"}) {
    llama_tensors.push_back(test_tensor("layers.0." + std::string(name), {8}));
  }
  for (const char* name : {"wq", "wk", "wv", "wo"}) {
    llama_tensors.push_back(
        test_tensor("layers.0.attention." + std::string(name) + ".weight", {8, 8}));
  }
  llama_tensors.push_back(test_tensor("layers.0.feed_forward.w1.weight", {16, 8}));
  llama_tensors.push_back(test_tensor("layers.0.feed_forward.w2.weight", {8, 16}));
  llama_tensors.push_back(test_tensor("layers.0.feed_forward.w3.weight", {16, 8}));
  const TestLlama2c legacy{0, 8, 16, 1, 4, 4, 10, 6};
  const Case cases[] = {
      {CheckpointKind::Gguf, gguf_bytes({{"general.architecture", std::string("llama")}}, tensors)},
      {CheckpointKind::Safetensors, safetensors_bytes(tensors)},
      {CheckpointKind::Torch, torch_bytes(tensors)},
      {CheckpointKind::Llama2c, llama2c_bytes(llama, llama_tensors)},
      {CheckpointKind::Llama2c, llama2c_bytes(legacy, llama_tensors)},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(checkpoint_kind_name(one.kind));
    const std::string path = folder.file("weights.dat");
    save(path, one.bytes);
    const auto checkpoint = Checkpoint::open(path);
    ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
    EXPECT_EQ(checkpoint->kind(), one.kind);
    EXPECT_EQ(checkpoint->gguf() != nullptr, one.kind == CheckpointKind::Gguf);
    EXPECT_EQ(checkpoint->llama2c() != nullptr, one.kind == CheckpointKind::Llama2c);
    if (one.kind == CheckpointKind::Llama2c) {
      expect_values(*checkpoint, llama_tensors);
    } else {
      expect_values(*checkpoint, tensors, 0.1f / 256);
    }
  }
}

// The length of a header is the file's first bytes: 128 is how a pickle begins, 19,280 begins like
// a zip.
TEST(Checkpoint, IsNotMisledByTheLengthOfASafetensorsHeader) {
  const base::TestFolder folder;
  for (const std::size_t length : {128u, 0x4B50u}) {
    std::string bytes;
    append(bytes, static_cast<std::uint64_t>(length));
    std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
    header.resize(length, ' ');
    save(folder.file("f"), bytes + header + std::string(4, '\0'));
    const auto checkpoint = Checkpoint::open(folder.file("f"));
    ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
    EXPECT_EQ(checkpoint->kind(), CheckpointKind::Safetensors);
  }
}

TEST(Checkpoint, OpensFoldersOfOneFileAndOfShards) {
  const base::TestFolder folder;
  const auto tensors = some_tensors();
  for (const unsigned shards : {1u, 2u, 3u}) {
    const std::string path = folder.file("model-" + std::to_string(shards));
    ASSERT_TRUE(
        write_safetensors_folder(path, tensors, R"({"model_type":"llama"})", shards).has_value());
    const auto checkpoint = Checkpoint::open(path);
    ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
    EXPECT_EQ(checkpoint->kind(), CheckpointKind::Safetensors);
    expect_values(*checkpoint, tensors, 0.1f / 256);
    EXPECT_EQ(checkpoint->side_file("config.json").value(), R"({"model_type":"llama"})");
  }
  save(folder.file("torch/pytorch_model.bin"), torch_bytes(tensors));
  save(folder.file("torch/training_args.bin"), "not weights");
  EXPECT_EQ(Checkpoint::open(folder.file("torch"))->kind(), CheckpointKind::Torch);
  save(folder.file("gguf/any-Q8_0.gguf"), gguf_bytes({}, tensors));
  save(folder.file("gguf/README.md"), "x");
  EXPECT_EQ(Checkpoint::open(folder.file("gguf"))->kind(), CheckpointKind::Gguf);
  save(folder.file("gguf/other.gguf"), gguf_bytes({}, tensors));
  EXPECT_NE(message_of(Checkpoint::open(folder.file("gguf"))).find("say which one"),
            std::string::npos);
  fs::create_directories(folder.file("none"));
  EXPECT_EQ(Checkpoint::open(folder.file("none")).error().code, ErrorCode::BadArgument);
  EXPECT_EQ(Checkpoint::open(folder.file("absent")).error().code, ErrorCode::Io);
}

TEST(Checkpoint, GivesSideFilesByPlainNameOnly) {
  const base::TestFolder folder;
  ASSERT_TRUE(write_safetensors_folder(folder.file("m"), some_tensors(), "{}").has_value());
  save(folder.file("secret"), "x");
  save(folder.file("m/tokenizer.json"), "{\"model\":{}}");
  const auto checkpoint = Checkpoint::open(folder.file("m"));
  ASSERT_TRUE(checkpoint.has_value());
  EXPECT_EQ(checkpoint->side_file("tokenizer.json").value(), "{\"model\":{}}");
  EXPECT_TRUE(checkpoint->has_side_file("tokenizer.json"));
  EXPECT_FALSE(checkpoint->has_side_file("tokenizer.model"));
  EXPECT_EQ(checkpoint->side_file("tokenizer.model").error().code, ErrorCode::Io);
  for (const char* name : {"../secret", "", ".", "..", "/etc/passwd", "a/b"}) {
    EXPECT_EQ(checkpoint->side_file(name).error().code, ErrorCode::BadArgument) << name;
    EXPECT_FALSE(checkpoint->has_side_file(name));
  }
}

// A configuration that lies is caught where convert asks for a shape.
TEST(Checkpoint, NamesTheTensorWhoseShapeTheConfigurationContradicts) {
  const base::TestFolder folder;
  ASSERT_TRUE(write_safetensors_folder(folder.file("m"), some_tensors(), "{}").has_value());
  const auto checkpoint = Checkpoint::open(folder.file("m"));
  ASSERT_TRUE(checkpoint.has_value());
  const std::uint64_t wrong[] = {8, 128};
  const auto other = checkpoint->tensor("model.embed_tokens.weight", wrong);
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, ErrorCode::Corrupt);
  EXPECT_NE(other.error().message.find("/m: tensor \"model.embed_tokens.weight\" is [8, 64], the "
                                       "configuration says [8, 128]"),
            std::string::npos)
      << other.error().message;
  EXPECT_NE(checkpoint->tensor("x", wrong).error().message.find("\"x\" is missing"),
            std::string::npos);
}

TEST(Checkpoint, ReadsMlxFoldersLikeMlxDequantisesThem) {
  const std::string golden = std::string(LAYA_SOURCE_DIR) + "/testdata/checkpoints/";
  const auto checkpoint = Checkpoint::open(golden + "mlx");
  ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
  EXPECT_EQ(checkpoint->kind(), CheckpointKind::Mlx);
  ASSERT_EQ(checkpoint->tensors().size(), 3u);
  const auto text = base::read_file(golden + "mlx.f32", 1 << 20);
  ASSERT_TRUE(text.has_value());
  std::vector<float> want(2 * 3 * 128);
  ASSERT_EQ(text->size(), want.size() * 4);
  std::memcpy(want.data(), text->data(), text->size());
  std::vector<float> values(3 * 128);
  for (const std::size_t which : {0u, 1u}) {
    const SourceTensor* tensor = checkpoint->find(which == 0 ? "a.weight" : "b.weight");
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(tensor->type, SourceType::MlxAffine);
    EXPECT_EQ(tensor->bits, which == 0 ? 4u : 8u);
    EXPECT_EQ(tensor->group, which == 0 ? 64u : 32u);  // its own in config.json
    ASSERT_TRUE(read_rows(*tensor, 0, 3, values).has_value());
    for (std::size_t i = 0; i < values.size(); ++i) {
      // MLX may fuse product and sum into one rounding.
      ASSERT_NEAR(values[i], want[which * values.size() + i], 1e-7f) << which << ", " << i;
    }
  }
}

TEST(Checkpoint, JoinsMlxTriplesOfEveryBitsAndGroup) {
  const base::TestFolder folder;
  for (const std::uint32_t bits : {4u, 8u}) {
    for (const std::uint32_t group : {32u, 64u, 128u}) {
      std::vector<TestTensor> tensors = some_tensors();
      TestTensor matrix =
          test_tensor("model.layers.0.mlp.up_proj.weight", {5, 256}, SourceType::MlxAffine);
      matrix.bits = bits;
      matrix.group = group;
      tensors.push_back(matrix);
      const std::string path = folder.file(std::to_string(bits) + "-" + std::to_string(group));
      const std::string config = "{\"quantization\":{\"group_size\":" + std::to_string(group) +
                                 ",\"bits\":" + std::to_string(bits) + "}}";
      ASSERT_TRUE(write_safetensors_folder(path, tensors, config).has_value());
      const auto checkpoint = Checkpoint::open(path);
      ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
      EXPECT_EQ(checkpoint->kind(), CheckpointKind::Mlx);
      expect_values(*checkpoint, tensors, 0.11f / (bits == 4 ? 15 : 255) + 1e-4f);
    }
  }
}

TEST(Checkpoint, RefusesMlxConfigurationsThatLie) {
  const base::TestFolder folder;
  TestTensor matrix = test_tensor("model.up.weight", {5, 256}, SourceType::MlxAffine);
  struct Case {
    const char* config;
    const char* message;
    ErrorCode code = ErrorCode::Corrupt;
  };
  const Case cases[] = {
      {R"({"quantization":{"group_size":32,"bits":4}})", "groups of 32 with 4 bits"},
      {R"({"quantization":{"group_size":64,"bits":8}})", "groups of 64 with 8 bits"},
      {R"({"quantization":{"group_size":64,"bits":4,"model.up":{"group_size":128,"bits":4}}})",
       "tensor \"model.up.weight\" is [5, 32] words"},
      {R"({"quantization":{"group_size":64,"bits":3}})", "3 bits", ErrorCode::Unsupported},
      {R"({"quantization":{"group_size":16,"bits":4}})", "groups of 16", ErrorCode::Unsupported},
      {R"({"quantization":{"group_size":64,"bits":4,"mode":"mxfp4"}})", "\"mode\"",
       ErrorCode::Unsupported},
      {R"({"quantization":{"group_size":-1,"bits":4}})", "group_size"},
      {R"({"quantization":{"group_size":"64","bits":4}})", "group_size"},
      {R"({"quantization_config":{"quant_method":"gptq","bits":4}})", "\"gptq\"",
       ErrorCode::Unsupported},
      {"{", "config.json: "},
      {"[]", "config.json is no JSON object"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.config);
    ASSERT_TRUE(write_safetensors_folder(folder.file("m"), {&matrix, 1}, one.config).has_value());
    const auto checkpoint = Checkpoint::open(folder.file("m"));
    ASSERT_FALSE(checkpoint.has_value());
    EXPECT_EQ(checkpoint.error().code, one.code) << checkpoint.error().message;
    EXPECT_NE(checkpoint.error().message.find(one.message), std::string::npos)
        << checkpoint.error().message;
  }
  ASSERT_TRUE(
      write_safetensors_folder(folder.file("m"), {&matrix, 1},
                               "{\"a\":" + std::string(5000, '[') + std::string(5000, ']') + "}")
          .has_value());
  EXPECT_NE(message_of(Checkpoint::open(folder.file("m"))).find("nested deeper"),
            std::string::npos);
  const std::vector<TestTensor> half = {test_tensor("model.up.scales", {5, 4}, SourceType::F16)};
  ASSERT_TRUE(write_safetensors_folder(folder.file("half"), half,
                                       R"({"quantization":{"group_size":64,"bits":4}})")
                  .has_value());
  EXPECT_NE(message_of(Checkpoint::open(folder.file("half"))).find("no .weight"),
            std::string::npos);
}

TEST(Checkpoint, RefusesIndexesThatLie) {
  const base::TestFolder folder;
  const auto tensors = some_tensors();
  const std::string path = folder.file("m");
  ASSERT_TRUE(write_safetensors_folder(path, tensors, "{}", 2).has_value());
  const std::string index = path + "/model.safetensors.index.json";
  const std::string good = base::read_file(index, 1 << 20).value();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    save(index, text);
    return message_of(Checkpoint::open(path));
  };
  EXPECT_NE(with("model.norm.weight", "model.other.weight").find("does not have it"),
            std::string::npos);
  EXPECT_NE(with("model-00001-of-00002.safetensors", "../x").find("no file of this folder"),
            std::string::npos);
  EXPECT_NE(with("model-00002-of-00002", "model-00009-of-00002").find("00009"), std::string::npos);
  save(index, good);
  save(path + "/model-00002-of-00002.safetensors", safetensors_bytes(tensors));
  EXPECT_NE(message_of(Checkpoint::open(path)).find("in two files"), std::string::npos);
  save(path + "/model-00002-of-00002.safetensors", gguf_bytes({}, tensors));
  EXPECT_NE(message_of(Checkpoint::open(path)).find("neither safetensors nor PyTorch"),
            std::string::npos);
}

TEST(Checkpoint, SaysWhatAForeignFileIs) {
  const base::TestFolder folder;
  const auto error = [&](std::string_view bytes) {
    save(folder.file("f"), bytes);
    return message_of(Checkpoint::open(folder.file("f")));
  };
  EXPECT_NE(error("").find("none of GGUF, safetensors, PyTorch, llama2.c (0 bytes"),
            std::string::npos);
  EXPECT_NE(error("hello, world; this is some text, no weights").find("none of"),
            std::string::npos);
  EXPECT_NE(error("\x89LAYA...").find(".laya file already"), std::string::npos);
  EXPECT_NE(error("version https://git-lfs.github.com/spec/v1\n").find("Git LFS"),
            std::string::npos);
  EXPECT_NE(error("PK\x03\x04").find("zip"), std::string::npos);
  const std::string parts = gguf_bytes({{"split.count", std::uint32_t{3}}}, some_tensors());
  EXPECT_NE(error(parts).find("one of 3 parts"), std::string::npos);
  save(folder.file("sparse"), "");
  fs::resize_file(folder.file("sparse"), 4ull << 30);
  EXPECT_NE(message_of(Checkpoint::open(folder.file("sparse"))).find("4294967296 bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace laya::format
