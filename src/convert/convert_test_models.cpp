#include "convert/convert_test_models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"

namespace laya::convert {
namespace {

using format::SourceType;
using format::TestTensor;
using model::DecoderConfig;
using model::DecoderFamily;

struct Name {
  const char* ours;
  const char* gguf;
  const char* hugging_face;
  const char* gemma;  ///< Hugging Face's name in Gemma, where it differs
};
const Name kNames[] = {
    {"attn_norm.weight", "attn_norm.weight", "input_layernorm.weight", ""},
    {"attn.q.weight", "attn_q.weight", "self_attn.q_proj.weight", ""},
    {"attn.k.weight", "attn_k.weight", "self_attn.k_proj.weight", ""},
    {"attn.v.weight", "attn_v.weight", "self_attn.v_proj.weight", ""},
    {"attn.o.weight", "attn_output.weight", "self_attn.o_proj.weight", ""},
    {"attn.q.bias", "attn_q.bias", "self_attn.q_proj.bias", ""},
    {"attn.k.bias", "attn_k.bias", "self_attn.k_proj.bias", ""},
    {"attn.v.bias", "attn_v.bias", "self_attn.v_proj.bias", ""},
    {"attn.q_norm.weight", "attn_q_norm.weight", "self_attn.q_norm.weight", ""},
    {"attn.k_norm.weight", "attn_k_norm.weight", "self_attn.k_norm.weight", ""},
    {"attn_post_norm.weight", "post_attention_norm.weight", "", "post_attention_layernorm.weight"},
    {"ffn_norm.weight", "ffn_norm.weight", "post_attention_layernorm.weight",
     "pre_feedforward_layernorm.weight"},
    {"ffn_post_norm.weight", "post_ffw_norm.weight", "", "post_feedforward_layernorm.weight"},
    {"ffn.gate.weight", "ffn_gate.weight", "mlp.gate_proj.weight", ""},
    {"ffn.up.weight", "ffn_up.weight", "mlp.up_proj.weight", ""},
    {"ffn.down.weight", "ffn_down.weight", "mlp.down_proj.weight", ""},
};

std::string layer(std::uint32_t l, const std::string& rest) {
  return "layers." + std::to_string(l) + "." + rest;
}

/// [rows, columns], or [n].
std::vector<std::uint64_t> shape_of(const std::string& name, const DecoderConfig& c) {
  const auto is = [&](const char* end) { return name.ends_with(end); };
  const std::uint64_t d = c.hidden_dim, q = c.q_dim(), kv = c.kv_dim(), f = c.ffn_dim;
  if (is("embedding.weight") || is("head.weight")) return {c.vocabulary_size, d};
  if (is("q.weight")) return {q, d};
  if (is("k.weight") || is("v.weight")) return {kv, d};
  if (is("o.weight")) return {d, q};
  if (is("q.bias")) return {q};
  if (is(".bias")) return {kv};
  if (is("q_norm.weight") || is("k_norm.weight")) return {c.head_dim};
  if (is("gate.weight") || is("up.weight")) return {f, d};
  if (is("down.weight")) return {d, f};
  return {d};
}

std::vector<std::string> names_of(const DecoderConfig& c) {
  std::vector<std::string> names = {"embedding.weight", "final_norm.weight"};
  if (!c.tied_head) names.push_back("head.weight");
  for (std::uint32_t l = 0; l < c.layers; ++l) {
    for (const Name& name : kNames) {
      const std::string ours = name.ours;
      if (!c.qkv_bias && ours.ends_with(".bias")) continue;
      if (!c.qk_norm && (ours == "attn.q_norm.weight" || ours == "attn.k_norm.weight")) continue;
      if (!c.post_norms && ours.ends_with("post_norm.weight")) continue;
      names.push_back(layer(l, ours));
    }
  }
  return names;
}

using Vector = std::vector<double>;

Vector multiply(const std::vector<float>& w, const Vector& x, std::size_t rows) {
  Vector y(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < x.size(); ++i) y[r] += w[r * x.size() + i] * x[i];
  }
  return y;
}

Vector rms(const Vector& x, const std::vector<float>& w, double eps) {
  double square = 0;
  for (const double value : x) square += value * value / static_cast<double>(x.size());
  Vector y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] / std::sqrt(square + eps) * w[i];
  return y;
}

/// Each head of x normed (where there is such a weight) and rotated.
void prepare_heads(const TinyModel& m, std::uint32_t l, const char* norm, std::size_t position,
                   Vector& x) {
  const DecoderConfig& c = m.config;
  const std::size_t half = c.head_dim / 2;
  for (std::size_t first = 0; first < x.size(); first += c.head_dim) {
    Vector head(x.begin() + static_cast<std::ptrdiff_t>(first),
                x.begin() + static_cast<std::ptrdiff_t>(first + c.head_dim));
    if (c.qk_norm) head = rms(head, m.weights.at(layer(l, norm)), c.norm_eps);
    for (std::size_t i = 0; i < half; ++i) {
      const double base = c.slides(l) ? c.rope_base_local : c.rope_base;
      const double angle = static_cast<double>(position) *
                           std::pow(base, -2.0 * static_cast<double>(i) / c.head_dim);
      x[first + i] = head[i] * std::cos(angle) - head[i + half] * std::sin(angle);
      x[first + i + half] = head[i + half] * std::cos(angle) + head[i] * std::sin(angle);
    }
  }
}

Vector attend(const DecoderConfig& c, std::uint32_t l, const Vector& q,
              const std::vector<Vector>& keys, const std::vector<Vector>& values) {
  Vector out(c.q_dim());
  const std::size_t last = keys.size() - 1, hd = c.head_dim;
  for (std::size_t h = 0; h < c.heads; ++h) {
    const std::size_t kv = h / (c.heads / c.kv_heads) * hd;
    Vector p;
    double sum = 0;
    for (std::size_t j = 0; j <= last; ++j) {
      double dot = 0;
      for (std::size_t i = 0; i < hd; ++i) dot += q[h * hd + i] * keys[j][kv + i];
      const bool seen = !c.slides(l) || last - j < c.sliding_window;
      p.push_back(seen ? std::exp(dot * c.attention_scale) : 0);
      sum += p.back();
    }
    for (std::size_t j = 0; j <= last; ++j) {
      for (std::size_t i = 0; i < hd; ++i) out[h * hd + i] += p[j] / sum * values[j][kv + i];
    }
  }
  return out;
}

double activated(model::Activation activation, double x) {
  if (activation == model::Activation::SiLU) return x / (1 + std::exp(-x));
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x)));
}

void add_bias(const TinyModel& m, const std::string& name, Vector& x) {
  const auto bias = m.weights.find(name);
  if (bias == m.weights.end()) return;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += bias->second[i];
}

/// Our row r of a head goes where llama.cpp and Meta keep it: halves woven together.
std::vector<float> interleaved(const std::vector<float>& w, std::uint32_t head_dim,
                               std::size_t cols) {
  std::vector<float> out(w.size());
  const std::size_t rows = w.size() / cols, half = head_dim / 2;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t head = r / head_dim, i = r % head_dim;
    const std::size_t to = head * head_dim + (i < half ? 2 * i : 2 * (i - half) + 1);
    std::copy_n(w.begin() + static_cast<std::ptrdiff_t>(r * cols), cols,
                out.begin() + static_cast<std::ptrdiff_t>(to * cols));
  }
  return out;
}

bool is_matrix(const std::vector<std::uint64_t>& shape) { return shape.size() == 2; }

std::string testdata_tokenizer(const char* name) {
  auto text =
      base::read_file(std::string(LAYA_SOURCE_DIR) + "/testdata/tokenizers/" + name, 1u << 20);
  EXPECT_TRUE(text);
  return text ? *text : "";
}

std::string byte_token(int byte) {
  const char* digits = "0123456789ABCDEF";
  return std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">";
}

}  // namespace

TinyModel tiny_model(DecoderFamily family) {
  TinyModel m{family, {}, {}};
  DecoderConfig& c = m.config;
  c.vocabulary_size = 900;
  c.hidden_dim = 64;
  c.layers = 3;
  c.heads = 4;
  c.kv_heads = 2;
  c.head_dim = family == DecoderFamily::Qwen3 || family == DecoderFamily::Gemma3 ? 32 : 16;
  c.ffn_dim = 96;
  c.max_context = 512;
  c.norm_eps = 1e-6F;
  c.qkv_bias = family == DecoderFamily::Qwen2;
  c.qk_norm = family == DecoderFamily::Qwen3 || family == DecoderFamily::Gemma3;
  c.rope_base = c.rope_base_local = 10000;
  c.attention_scale = 1 / std::sqrt(static_cast<float>(c.head_dim));
  c.sliding_layers.assign(c.layers, false);
  c.tied_head = family != DecoderFamily::Qwen2;
  if (family == DecoderFamily::Gemma3) {
    c.activation = model::Activation::GeluTanh;
    c.post_norms = true;
    c.embedding_scale = std::sqrt(static_cast<float>(c.hidden_dim));
    c.rope_base = 1000000;
    c.sliding_window = 4;
    c.sliding_layers = {true, true, false};
  }
  for (const std::string& name : names_of(c)) {
    const auto shape = shape_of(name, c);
    std::vector<float> values = format::test_tensor(name, shape, SourceType::F32, 0.15F).values;
    if (name.find("norm") != std::string::npos) {
      for (float& value : values) value += 1;
    }
    m.weights[name] = std::move(values);
  }
  return m;
}

std::vector<double> evaluate(const TinyModel& m, const std::vector<TokenId>& tokens) {
  const DecoderConfig& c = m.config;
  std::vector<std::vector<Vector>> keys(c.layers), values(c.layers);
  Vector x;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    x.assign(c.hidden_dim, 0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = m.weights.at("embedding.weight")[tokens[t] * x.size() + i] * c.embedding_scale;
    }
    for (std::uint32_t l = 0; l < c.layers; ++l) {
      const auto w = [&](const char* name) -> const std::vector<float>& {
        return m.weights.at(layer(l, name));
      };
      Vector u = rms(x, w("attn_norm.weight"), c.norm_eps);
      Vector q = multiply(w("attn.q.weight"), u, c.q_dim());
      Vector k = multiply(w("attn.k.weight"), u, c.kv_dim());
      Vector v = multiply(w("attn.v.weight"), u, c.kv_dim());
      add_bias(m, layer(l, "attn.q.bias"), q);
      add_bias(m, layer(l, "attn.k.bias"), k);
      add_bias(m, layer(l, "attn.v.bias"), v);
      prepare_heads(m, l, "attn.q_norm.weight", t, q);
      prepare_heads(m, l, "attn.k_norm.weight", t, k);
      keys[l].push_back(k);
      values[l].push_back(v);
      Vector y = multiply(w("attn.o.weight"), attend(c, l, q, keys[l], values[l]), x.size());
      if (c.post_norms) y = rms(y, w("attn_post_norm.weight"), c.norm_eps);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
      u = rms(x, w("ffn_norm.weight"), c.norm_eps);
      Vector gate = multiply(w("ffn.gate.weight"), u, c.ffn_dim);
      const Vector up = multiply(w("ffn.up.weight"), u, c.ffn_dim);
      for (std::size_t i = 0; i < gate.size(); ++i) {
        gate[i] = activated(c.activation, gate[i]) * up[i];
      }
      y = multiply(w("ffn.down.weight"), gate, x.size());
      if (c.post_norms) y = rms(y, w("ffn_post_norm.weight"), c.norm_eps);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
    }
  }
  x = rms(x, m.weights.at("final_norm.weight"), c.norm_eps);
  return multiply(m.weights.at(c.tied_head ? "embedding.weight" : "head.weight"), x,
                  c.vocabulary_size);
}

std::string tiny_gguf(const TinyModel& m, SourceType matrices,
                      const format::TestMetadata& changes) {
  const DecoderConfig& c = m.config;
  const std::string arch(model::family_name(m.family));
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  std::vector<float> scores(3, 0);
  std::vector<std::int32_t> types = {2, 3, 3};
  for (int byte = 0; byte < 256; ++byte) {
    tokens.push_back(byte_token(byte));
    scores.push_back(0);
    types.push_back(6);
  }
  for (const char* piece : {"▁", "t", "h", "e", "th", "▁th", "▁the", "我", "你", "们"}) {
    tokens.emplace_back(piece);
    scores.push_back(-static_cast<float>(tokens.size()));
    types.push_back(1);
  }
  format::TestMetadata metadata = {
      {"general.architecture", arch},
      {"general.name", std::string("Tiny")},
      {"general.license", std::string("cc0-1.0")},
      {arch + ".context_length", c.max_context},
      {arch + ".embedding_length", c.hidden_dim},
      {arch + ".block_count", c.layers},
      {arch + ".feed_forward_length", c.ffn_dim},
      {arch + ".attention.head_count", c.heads},
      {arch + ".attention.head_count_kv", c.kv_heads},
      {arch + ".attention.key_length", c.head_dim},
      {arch + ".attention.value_length", c.head_dim},
      {arch + ".attention.layer_norm_rms_epsilon", c.norm_eps},
      {arch + ".rope.freq_base", c.rope_base},
      {"tokenizer.ggml.model", std::string("llama")},
      {"tokenizer.ggml.tokens", tokens},
      {"tokenizer.ggml.scores", scores},
      {"tokenizer.ggml.token_type", types},
      {"tokenizer.ggml.bos_token_id", 1u},
      {"tokenizer.ggml.eos_token_id", 2u},
  };
  if (c.sliding_window > 0) {
    metadata.emplace_back(arch + ".attention.sliding_window", c.sliding_window);
    metadata.emplace_back(arch + ".attention.sliding_window_pattern", 3u);
  }
  for (const auto& [key, value] : changes) {
    const auto found = std::ranges::find(metadata, key, &format::TestMetadata::value_type::first);
    if (found == metadata.end()) {
      metadata.emplace_back(key, value);
    } else {
      found->second = value;
    }
  }
  std::vector<TestTensor> tensors;
  for (const auto& [name, values] : m.weights) {
    const auto shape = shape_of(name, c);
    std::string theirs = name == "embedding.weight"    ? "token_embd.weight"
                         : name == "final_norm.weight" ? "output_norm.weight"
                                                       : "output.weight";
    if (name.starts_with("layers.")) {
      const std::size_t dot = name.find('.', 7);
      const auto* found = std::ranges::find_if(
          kNames, [&](const Name& n) { return name.substr(dot + 1) == n.ours; });
      theirs = "blk." + name.substr(7, dot - 7) + "." + found->gguf;
    }
    const bool woven =
        m.family == DecoderFamily::Llama &&
        (name.find("attn.q.") != std::string::npos || name.find("attn.k.") != std::string::npos);
    tensors.push_back({theirs, shape,
                       woven ? interleaved(values, c.head_dim, shape.back()) : values,
                       is_matrix(shape) ? matrices : SourceType::F32});
  }
  return format::gguf_bytes(metadata, tensors);
}

std::vector<TestTensor> hugging_face_tensors(const TinyModel& m, SourceType matrices,
                                             std::uint32_t bits) {
  std::vector<TestTensor> tensors;
  const bool gemma = m.family == DecoderFamily::Gemma3;
  for (const auto& [name, values] : m.weights) {
    const auto shape = shape_of(name, m.config);
    std::string theirs = name == "embedding.weight"    ? "model.embed_tokens.weight"
                         : name == "final_norm.weight" ? "model.norm.weight"
                                                       : "lm_head.weight";
    if (name.starts_with("layers.")) {
      const std::size_t dot = name.find('.', 7);
      const auto* found = std::ranges::find_if(
          kNames, [&](const Name& n) { return name.substr(dot + 1) == n.ours; });
      const bool own = gemma && *found->gemma != '\0';
      theirs = "model." + name.substr(0, dot + 1) + (own ? found->gemma : found->hugging_face);
    }
    std::vector<float> stored = values;
    if (gemma && name.find("norm") != std::string::npos) {
      for (float& value : stored) value -= 1;
    }
    TestTensor tensor{theirs, shape, stored, is_matrix(shape) ? matrices : SourceType::F32};
    tensor.bits = bits;
    tensor.group = 32;
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::string hugging_face_config(const TinyModel& m) {
  const DecoderConfig& c = m.config;
  const std::map<DecoderFamily, const char*> classes = {
      {DecoderFamily::Llama, "LlamaForCausalLM"},
      {DecoderFamily::Qwen2, "Qwen2ForCausalLM"},
      {DecoderFamily::Qwen3, "Qwen3ForCausalLM"},
      {DecoderFamily::Gemma3, "Gemma3ForCausalLM"}};
  nlohmann::json json = {{"architectures", {classes.at(m.family)}},
                         {"model_type", model::family_name(m.family)},
                         {"vocab_size", c.vocabulary_size},
                         {"hidden_size", c.hidden_dim},
                         {"num_hidden_layers", c.layers},
                         {"num_attention_heads", c.heads},
                         {"num_key_value_heads", c.kv_heads},
                         {"head_dim", c.head_dim},
                         {"intermediate_size", c.ffn_dim},
                         {"max_position_embeddings", c.max_context},
                         {"rms_norm_eps", c.norm_eps},
                         {"rope_theta", c.rope_base},
                         {"tie_word_embeddings", c.tied_head},
                         {"bos_token_id", 1},
                         {"eos_token_id", 2}};
  if (m.family == DecoderFamily::Gemma3) {
    json["sliding_window"] = c.sliding_window;
    json["layer_types"] = {"sliding_attention", "sliding_attention", "full_attention"};
    json["query_pre_attn_scalar"] = c.head_dim;
    json["rope_local_base_freq"] = c.rope_base_local;
    json["hidden_activation"] = "gelu_pytorch_tanh";
  } else {
    json["hidden_act"] = "silu";
    json["rope_scaling"] = nullptr;
  }
  return json.dump();
}

void write_folder(const TinyModel& m, const std::string& folder, FolderKind kind) {
  const auto write = [&](const char* name, const std::string& text) {
    EXPECT_TRUE(base::write_file(folder + "/" + name, text));
  };
  const bool gemma = m.family == DecoderFamily::Gemma3;
  write("tokenizer.json", testdata_tokenizer(gemma ? "gemma.json" : "llama2.json"));
  std::string config = hugging_face_config(m);
  if (kind == FolderKind::Torch) {
    write("config.json", config);
    write("pytorch_model.bin", format::torch_bytes(hugging_face_tensors(m)));
    return;
  }
  if (kind == FolderKind::Mlx) {
    config.insert(1, R"("quantization": {"group_size": 32, "bits": 4}, )");
    EXPECT_TRUE(format::write_safetensors_folder(
        folder, hugging_face_tensors(m, SourceType::MlxAffine), config));
    return;
  }
  EXPECT_TRUE(format::write_safetensors_folder(folder, hugging_face_tensors(m), config,
                                               kind == FolderKind::Sharded ? 3 : 1));
}

void write_llama2c(const TinyModel& m, const std::string& folder, std::uint32_t version) {
  const DecoderConfig& c = m.config;
  const format::TestLlama2c header{version, c.hidden_dim, c.ffn_dim,         c.layers,
                                   c.heads, c.kv_heads,   c.vocabulary_size, c.max_context};
  const std::map<std::string, std::string> meta = {
      {"attn_norm.weight", "attention_norm.weight"}, {"attn.q.weight", "attention.wq.weight"},
      {"attn.k.weight", "attention.wk.weight"},      {"attn.v.weight", "attention.wv.weight"},
      {"attn.o.weight", "attention.wo.weight"},      {"ffn_norm.weight", "ffn_norm.weight"},
      {"ffn.gate.weight", "feed_forward.w1.weight"}, {"ffn.up.weight", "feed_forward.w3.weight"},
      {"ffn.down.weight", "feed_forward.w2.weight"}};
  std::vector<TestTensor> tensors;
  for (const auto& [name, values] : m.weights) {
    const auto shape = shape_of(name, c);
    std::string theirs = name == "embedding.weight" ? "tok_embeddings.weight" : "norm.weight";
    bool woven = false;
    if (name.starts_with("layers.")) {
      const std::size_t dot = name.find('.', 7);
      theirs = name.substr(0, dot + 1) + meta.at(name.substr(dot + 1));
      woven = name.ends_with("q.weight") || name.ends_with("k.weight");
    }
    tensors.push_back(
        {theirs, shape, woven ? interleaved(values, c.head_dim, shape.back()) : values});
  }
  EXPECT_TRUE(base::write_file(folder + "/tiny.bin", format::llama2c_bytes(header, tensors)));
  std::vector<std::pair<std::string, float>> tokens = {
      {"<unk>", 0.0F}, {"\n<s>\n", 0.0F}, {"\n</s>\n", 0.0F}};
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(byte_token(byte), 0.0F);
  while (tokens.size() < c.vocabulary_size) {
    tokens.emplace_back(" w" + std::to_string(tokens.size()), -static_cast<float>(tokens.size()));
  }
  EXPECT_TRUE(base::write_file(folder + "/tokenizer.bin", format::llama2c_tokenizer_bytes(tokens)));
}

}  // namespace laya::convert
