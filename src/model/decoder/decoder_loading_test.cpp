// Files that lie: every field and tensor of a decoder is checked, and the error names it.
#include "model/decoder/decoder_loading.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "format/metadata.h"
#include "format/model_writer.h"
#include "model/backends/cpu.h"
#include "model/backends/mlx.h"
#include "model/backends/reference.h"
#include "model/decoder/decoder_weights.h"
#include "model/decoder/test_decoders.h"

namespace laya::model {
namespace {

using nlohmann::json;

/// What becomes of a tensor in the copy: its bytes may be changed; false leaves it out.
using EditTensor = std::function<bool(const format::Entry&, std::vector<std::byte>&)>;

/// A copy of `file` with metadata and tensors edited.
class Edited {
 public:
  Edited(const format::ModelFile& file, const std::function<void(json&)>& edit_metadata,
         const EditTensor& edit_tensor = {}) {
    auto writer = format::ModelWriter::create(folder_.file("edited.laya"));
    EXPECT_TRUE(writer);
    for (const format::Entry& entry : file.entries()) {
      const auto bytes = file.bytes_of(entry);
      std::vector<std::byte> copy(bytes.begin(), bytes.end());
      if (entry.kind == format::EntryKind::Tensor && (!edit_tensor || edit_tensor(entry, copy))) {
        EXPECT_TRUE(writer->add_tensor(entry.name, entry.layout, copy));
      }
    }
    auto metadata = format::metadata(file);
    EXPECT_TRUE(metadata);
    edit_metadata(*metadata);
    EXPECT_TRUE(writer->set_metadata(metadata->dump()));
    EXPECT_TRUE(writer->finish());
    auto opened = format::ModelFile::open(folder_.file("edited.laya"));
    EXPECT_TRUE(opened);
    file_.emplace(std::move(*opened));
  }
  const format::ModelFile& file() const { return *file_; }

 private:
  base::TestFolder folder_;
  std::optional<format::ModelFile> file_;
};

/// The message of the error that loading gives on the cpu backend; empty where it loads.
std::string complaint(const format::ModelFile& file, ErrorCode code = ErrorCode::Corrupt) {
  const auto decoder = load_decoder(file, cpu_backend());
  if (decoder) {
    return "";
  }
  EXPECT_EQ(decoder.error().code, code) << decoder.error().message;
  return decoder.error().message;
}

TEST(DecoderLoading, ReadsBackEveryFieldOfEveryFamily) {
  for (const DecoderFamily family : kDecoderFamilies) {
    const RandomDecoder model(family);
    EXPECT_TRUE(is_decoder(model.file()));
    const auto config = read_decoder_config(model.file());
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(*config, tiny_decoder_config(family)) << family_name(family);
  }
}

TEST(DecoderLoading, NamesTheFieldThatIsOutOfRange) {
  const RandomDecoder model(DecoderFamily::Gemma3);
  struct Case {
    const char* field;
    json value;
  };
  const std::vector<Case> cases = {
      {"vocabulary_size", 1},
      {"vocabulary_size", 1U << 21},
      {"vocabulary_size", 4294967295U},
      {"vocabulary_size", -1},
      {"vocabulary_size", 91.5},
      {"vocabulary_size", "91"},
      {"hidden_dim", 0},
      {"hidden_dim", 16385},
      {"layers", 0},
      {"layers", 257},
      {"layers", 4294967296U},
      {"heads", 0},
      {"heads", 257},
      {"kv_heads", 0},
      {"kv_heads", 3},
      {"head_dim", 0},
      {"head_dim", 24},
      {"head_dim", 272},
      {"ffn_dim", 0},
      {"ffn_dim", 4294967295U},
      {"max_context", 0},
      {"max_context", 1U << 25},
      {"sliding_window", 1U << 25},
      {"norm_eps", 0},
      {"norm_eps", 1},
      {"norm_eps", "tiny"},
      {"embedding_scale", 0},
      {"embedding_scale", 1e30},
      {"attention_scale", -1},
      {"rope_base", 0},
      {"rope_base", 1e30},
      {"rope_base_local", -5},
      {"logit_soft_cap", -1},
      {"logit_soft_cap", 1e30},
      {"activation", "relu"},
      {"activation", 1},
      {"qkv_bias", 1},
      {"qk_norm", "true"},
      {"post_norms", nullptr},
      {"tied_head", 0},
      {"sliding_layers", json::array({true, false})},
      {"sliding_layers", json::array({1, 0, 1})},
      {"sliding_layers", true},
      {"rope_scaling", 8},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(std::string(each.field) + " = " + each.value.dump());
    const Edited edited(model.file(), [&](json& all) { all["config"][each.field] = each.value; });
    EXPECT_NE(complaint(edited.file()).find(each.field), std::string::npos)
        << complaint(edited.file());
    const Edited without(model.file(), [&](json& all) { all["config"].erase(each.field); });
    EXPECT_NE(complaint(without.file()).find(each.field), std::string::npos);
  }
  for (const Case& each : std::vector<Case>{{"kind", "yarn"},
                                            {"factor", 0},
                                            {"low_freq_factor", -1},
                                            {"high_freq_factor", 1e9},
                                            {"original_context", 0},
                                            {"original_context", 1U << 25}}) {
    SCOPED_TRACE(each.field);
    const Edited edited(model.file(),
                        [&](json& all) { all["config"]["rope_scaling"][each.field] = each.value; });
    EXPECT_NE(complaint(edited.file()).find(each.field), std::string::npos);
  }
}

TEST(DecoderLoading, RefusesOtherArchitectures) {
  const RandomDecoder model(DecoderFamily::Llama);
  const Edited other(model.file(), [](json& all) { all["architecture"] = "gru-local"; });
  EXPECT_FALSE(is_decoder(other.file()));
  EXPECT_NE(complaint(other.file(), ErrorCode::Unsupported).find("gru-local"), std::string::npos);
  const Edited none(model.file(), [](json& all) { all.erase("architecture"); });
  EXPECT_NE(complaint(none.file()), "");
  const Edited bare(model.file(), [](json& all) { all.erase("config"); });
  EXPECT_NE(complaint(bare.file()).find("config"), std::string::npos);
  const auto quantised = load_decoder(model.file(), mlx_8bit_backend());
  ASSERT_FALSE(quantised);
  EXPECT_EQ(quantised.error().code, ErrorCode::Unsupported);
}

TEST(DecoderLoading, NamesTheTensorThatDoesNotFitTheConfiguration) {
  for (const DecoderFamily family : kDecoderFamilies) {
    const RandomDecoder model(family);
    for (const char* field : {"vocabulary_size", "hidden_dim", "ffn_dim"}) {
      const Edited edited(model.file(), [&](json& all) { all["config"][field] = 64; });
      const std::string text = complaint(edited.file());
      EXPECT_NE(text.find("tensor "), std::string::npos) << text;
      EXPECT_NE(text.find("64"), std::string::npos) << text;
    }
    const Edited deeper(model.file(), [](json& all) {
      all["config"]["layers"] = 4;
      all["config"]["sliding_layers"] = json::array({false, false, false, false});
    });
    EXPECT_NE(complaint(deeper.file()).find("layers.3."), std::string::npos);
  }
}

TEST(DecoderLoading, NamesTheTensorThatIsMissingOrDamaged) {
  const RandomDecoder model(DecoderFamily::Qwen2);
  const auto keep = [](json&) {};
  for (const TensorSpec& spec : decoder_tensor_specs(tiny_decoder_config(DecoderFamily::Qwen2))) {
    SCOPED_TRACE(spec.name);
    const Edited missing(model.file(), keep, [&](const format::Entry& entry, auto&) {
      return entry.name != spec.name;
    });
    EXPECT_NE(complaint(missing.file()).find("tensor " + spec.name), std::string::npos);
    const Edited damaged(model.file(), keep, [&](const format::Entry& entry, auto& bytes) {
      if (entry.name == spec.name) {
        const float bad = std::numeric_limits<float>::quiet_NaN();
        std::memcpy(bytes.data() + bytes.size() - sizeof(bad), &bad, sizeof(bad));
      }
      return true;
    });
    EXPECT_NE(complaint(damaged.file()).find("tensor " + spec.name), std::string::npos);
    EXPECT_FALSE(load_decoder(damaged.file(), reference_backend()));
  }
}

TEST(DecoderLoading, ATiedModelMayHaveAHeadOfItsOwn) {
  const RandomDecoder model(DecoderFamily::Qwen2);  // untied: has head.weight
  const Edited tied(model.file(), [](json& all) { all["config"]["tied_head"] = true; });
  const auto decoder = load_decoder(tied.file(), cpu_backend());
  ASSERT_TRUE(decoder) << decoder.error().message;
  const auto other = load_decoder(model.file(), cpu_backend());
  std::vector<float> hidden(40, 0.5F), a(91), b(91);
  const auto ws = (*decoder)->make_workspace(), other_ws = (*other)->make_workspace();
  ASSERT_TRUE((*decoder)->logits(*ws, hidden, 1, a));
  ASSERT_TRUE((*other)->logits(*other_ws, hidden, 1, b));
  EXPECT_EQ(a, b);
}

TEST(DecoderLoading, PackedNaNsShowInTheFirstPass) {
  const RandomDecoder model(DecoderFamily::Gemma3, kInt4WithMinima);
  for (const TensorSpec& spec : decoder_tensor_specs(tiny_decoder_config(DecoderFamily::Gemma3))) {
    if (spec.role != TensorRole::Matrix) {
      continue;
    }
    SCOPED_TRACE(spec.name);
    const Edited damaged(
        model.file(), [](json&) {},
        [&](const format::Entry& entry, auto& bytes) {
          if (entry.name == spec.name) {
            for (std::size_t i = 0; i < 32; i += 2) {  // the scales of the first block's rows
              bytes[i] = std::byte{0};
              bytes[i + 1] = std::byte{0x7E};
            }
          }
          return true;
        });
    for (const Threads threads : {Threads::One, Threads::Two}) {
      const auto decoder = load_decoder(damaged.file(), cpu_backend());
      ASSERT_TRUE(decoder) << decoder.error().message;
      const auto ws = (*decoder)->make_workspace(threads);
      KvCache cache((*decoder)->config());
      std::vector<float> hidden(40), logits(91);
      const std::vector<TokenId> tokens = {3, 4, 5};
      Status status = (*decoder)->prefill(*ws, cache, tokens, hidden);
      status = status ? (*decoder)->logits(*ws, hidden, 1, logits) : status;
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().code, ErrorCode::Corrupt);
    }
  }
}

}  // namespace
}  // namespace laya::model
