// Checkpoints that lie, lack something or hold what no model should: each is refused with the name
// of what is wrong, and nothing is left behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>

#include "base/atomic_file.h"
#include "base/test_folder.h"
#include "convert/convert.h"
#include "convert/convert_keep.h"
#include "convert/convert_test_models.h"
#include "convert/convert_tokenizer.h"

namespace laya::convert {
namespace {

using format::Checkpoint;
using format::TestTensor;
using model::DecoderFamily;

Error convert_error(const std::string& path, const base::TestFolder& folder) {
  const auto checkpoint = Checkpoint::open(path);
  if (!checkpoint) return checkpoint.error();
  const auto report = convert(*checkpoint, {}, folder.file("out.laya"));
  EXPECT_FALSE(report);
  EXPECT_FALSE(std::filesystem::exists(folder.file("out.laya")));
  return report ? Error{ErrorCode::Internal, "none"} : report.error();
}

struct Lie {
  const char* key;
  format::TestValue value;
  ErrorCode code;
  std::vector<const char*> says;  ///< all of them in the message
};

TEST(ConvertHostile, AGgufConfigThatLiesIsNamedWithBothValues) {
  const TinyModel model = tiny_model(DecoderFamily::Llama);
  const std::vector<Lie> lies = {
      {"llama.embedding_length",
       128u,
       ErrorCode::Corrupt,
       {"128", "token_embd.weight", "[900, 64]"}},
      {"llama.feed_forward_length", 97u, ErrorCode::Corrupt, {"97", "ffn_gate.weight", "[96, 64]"}},
      {"llama.attention.head_count", 8u, ErrorCode::Corrupt, {"128", "attn_q.weight", "[64, 64]"}},
      {"llama.attention.head_count_kv",
       4u,
       ErrorCode::Corrupt,
       {"64", "attn_k.weight", "[32, 64]"}},
      {"llama.attention.head_count_kv", 3u, ErrorCode::Corrupt, {"kv_heads is 3", "4"}},
      {"llama.attention.head_count", 0u, ErrorCode::Corrupt, {"head_count"}},
      {"llama.block_count", 4u, ErrorCode::Corrupt, {"blk.3.", "missing", "4 layers"}},
      {"llama.block_count", 4000000u, ErrorCode::Corrupt, {"block_count is 4000000"}},
      {"llama.block_count", 2u, ErrorCode::Unsupported, {"blk.2.", "llama"}},
      {"llama.vocab_size", 901u, ErrorCode::Corrupt, {"901", "[900, 64]"}},
      {"llama.attention.layer_norm_rms_epsilon", -1.0F, ErrorCode::Corrupt, {"norm_eps", "-1"}},
      {"llama.rope.dimension_count",
       8u,
       ErrorCode::Unsupported,
       {"rope.dimension_count is 8", "16"}},
      {"llama.rope.scaling.type", std::string("yarn"), ErrorCode::Unsupported, {"yarn"}},
      {"llama.expert_count", 8u, ErrorCode::Unsupported, {"expert_count is 8"}},
      {"general.architecture", std::string("mamba"), ErrorCode::Unsupported, {"mamba", "Llama"}},
  };
  for (const Lie& lie : lies) {
    SCOPED_TRACE(lie.key);
    base::TestFolder folder;
    ASSERT_TRUE(base::write_file(
        folder.file("m.gguf"), tiny_gguf(model, format::SourceType::F32, {{lie.key, lie.value}})));
    const Error error = convert_error(folder.file("m.gguf"), folder);
    EXPECT_EQ(error.code, lie.code) << error.message;
    for (const char* text : lie.says) {
      EXPECT_NE(error.message.find(text), std::string::npos) << text << " in: " << error.message;
    }
  }
}

TEST(ConvertHostile, AConfigJsonThatLiesIsNamedWithBothValues) {
  const TinyModel model = tiny_model(DecoderFamily::Gemma3);
  const std::vector<std::array<std::string, 3>> lies = {
      {"\"hidden_size\":64", "\"hidden_size\":32", "hidden width 32"},
      {"\"num_hidden_layers\":3", "\"num_hidden_layers\":2", "layer_types has 3"},
      {"\"intermediate_size\":96", "\"intermediate_size\":960", "feed-forward width 960"},
      {"\"vocab_size\":900", "\"vocab_size\":-1", "vocab_size"},
      {"\"vocab_size\":900", "\"vocab_size\":\"many\"", "vocab_size"},
      {"\"num_attention_heads\":4", "\"num_attention_heads\":0", "num_attention_heads is 0"},
      {"gelu_pytorch_tanh", "relu", "relu"},
      {"Gemma3ForCausalLM", "Gemma9ForCausalLM", "Gemma9ForCausalLM"},
      {"\"query_pre_attn_scalar\":32", "\"query_pre_attn_scalar\":0", "query_pre_attn_scalar"},
      {"full_attention", "linear_attention", "layer_types[2]"},
      {"{", "[", "config.json"},
  };
  for (const auto& [was, is, says] : lies) {
    SCOPED_TRACE(is);
    base::TestFolder folder;
    write_folder(model, folder.path().string(), FolderKind::Safetensors);
    std::string config = hugging_face_config(model);
    const std::size_t at = config.find(was);
    ASSERT_NE(at, std::string::npos) << was;
    config.replace(at, was.size(), is);
    ASSERT_TRUE(base::write_file(folder.file("config.json"), config));
    const Error error = convert_error(folder.path().string(), folder);
    EXPECT_NE(error.message.find(says), std::string::npos) << error.message;
  }
}

TEST(ConvertHostile, MissingExtraAndWrongTensorsAreNamed) {
  const TinyModel model = tiny_model(DecoderFamily::Qwen2);
  const auto with = [&](const std::function<void(std::vector<TestTensor>&)>& change) {
    base::TestFolder folder;
    std::vector<TestTensor> tensors = hugging_face_tensors(model);
    change(tensors);
    write_folder(model, folder.path().string(), FolderKind::Safetensors);  // for the tokenizer
    EXPECT_TRUE(format::write_safetensors_folder(folder.path().string(), tensors,
                                                 hugging_face_config(model)));
    return convert_error(folder.path().string(), folder).message;
  };
  const auto named = [](std::vector<TestTensor>& tensors, const char* name) {
    return std::ranges::find(tensors, name, &TestTensor::name);
  };
  std::string message = with([&](auto& tensors) {
    tensors.erase(named(tensors, "model.layers.1.self_attn.k_proj.bias"));
  });
  EXPECT_NE(message.find("model.layers.1.self_attn.k_proj.bias is missing"), std::string::npos)
      << message;
  message = with([&](auto& tensors) { tensors.erase(named(tensors, "lm_head.weight")); });
  EXPECT_NE(message.find("lm_head.weight is missing"), std::string::npos) << message;
  message = with([&](auto& tensors) {
    tensors.push_back(format::test_tensor("model.layers.0.mlp.experts.0.weight", {4, 4}));
  });
  EXPECT_NE(message.find("experts"), std::string::npos) << message;
  message = with([&](auto& tensors) {
    const auto tensor = named(tensors, "model.layers.2.mlp.down_proj.weight");
    tensor->shape = {96, 64};
  });
  EXPECT_NE(message.find("down_proj.weight is [96, 64]"), std::string::npos) << message;
  message = with([&](auto& tensors) {
    named(tensors, "model.layers.2.mlp.up_proj.weight")->values[77] =
        std::numeric_limits<float>::quiet_NaN();
  });
  EXPECT_NE(message.find("up_proj.weight"), std::string::npos) << message;
  message = with([&](auto& tensors) {
    named(tensors, "model.norm.weight")->values[3] = std::numeric_limits<float>::infinity();
  });
  EXPECT_NE(message.find("model.norm.weight"), std::string::npos) << message;
}

TEST(ConvertHostile, TheTokenizerMustFitAndBeThere) {
  base::TestFolder folder;
  const TinyModel model = tiny_model(DecoderFamily::Llama);
  write_folder(model, folder.path().string(), FolderKind::Safetensors);
  std::filesystem::remove(folder.file("tokenizer.json"));
  Error error = convert_error(folder.path().string(), folder);
  EXPECT_NE(error.message.find("tokenizer.json is missing"), std::string::npos) << error.message;

  base::TestFolder other;
  // More tokens than the embedding has rows.
  std::vector<std::string> many = {"<unk>", "<s>", "</s>"};
  std::vector<std::int32_t> types = {2, 3, 3};
  for (int byte = 0; byte < 256; ++byte) {
    std::array<char, 8> name{};
    std::snprintf(name.data(), name.size(), "<0x%02X>", byte);
    many.emplace_back(name.data());
    types.push_back(6);
  }
  while (many.size() < 1000) {
    many.push_back("x" + std::to_string(many.size()));
    types.push_back(1);
  }
  ASSERT_TRUE(base::write_file(other.file("m.gguf"),
                               tiny_gguf(model, format::SourceType::F32,
                                         {{"tokenizer.ggml.tokens", many},
                                          {"tokenizer.ggml.scores", std::vector<float>(1000, 0.0F)},
                                          {"tokenizer.ggml.token_type", types}})));
  error = convert_error(other.file("m.gguf"), other);
  EXPECT_EQ(error.code, ErrorCode::Corrupt) << error.message;
  EXPECT_NE(error.message.find("1000 tokens, the embedding 900"), std::string::npos)
      << error.message;

  base::TestFolder third;
  ASSERT_TRUE(base::write_file(
      third.file("m.gguf"),
      tiny_gguf(model, format::SourceType::F32,
                {{"tokenizer.ggml.token_type", std::vector<std::int32_t>(269, 9)}})));
  error = convert_error(third.file("m.gguf"), third);
  EXPECT_NE(error.message.find("token_type holds 9"), std::string::npos) << error.message;
}

TEST(ConvertHostile, KeptTablesAreCheckedAndUnknownTokenizersToldWhatToDo) {
  for (const std::span<const std::byte> bytes : built_in_kept_tables()) {
    const auto table = parse_kept_table(bytes);
    ASSERT_TRUE(table) << table.error().message;
    EXPECT_EQ(serialize(*table), std::vector<std::byte>(bytes.begin(), bytes.end()));
    for (std::size_t size = 0; size < bytes.size(); size += size < 64 ? 1 : 997) {
      EXPECT_FALSE(parse_kept_table(bytes.first(size))) << size;
    }
    std::vector<std::byte> damaged(bytes.begin(), bytes.end());
    for (std::size_t at = 8; at < 48; ++at) {
      damaged[at] ^= std::byte{0xFF};
      static_cast<void>(parse_kept_table(damaged));  // no crash, no huge allocation
      damaged[at] ^= std::byte{0xFF};
    }
  }
  base::TestFolder folder;
  ASSERT_TRUE(base::write_file(folder.file("m.gguf"), tiny_gguf(tiny_model(DecoderFamily::Llama))));
  const auto checkpoint = Checkpoint::open(folder.file("m.gguf"));
  ASSERT_TRUE(checkpoint);
  const auto kept = kept_tokens(*checkpoint, "zh,en");
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, ErrorCode::Unsupported);
  EXPECT_NE(kept.error().message.find("--keep-text"), std::string::npos) << kept.error().message;
}

}  // namespace
}  // namespace laya::convert
