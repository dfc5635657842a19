#include "format/test_checkpoints.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "format/gguf_file.h"
#include "format/test_encoding.h"

namespace laya::format {
namespace {

void append_text(std::string& out, std::string_view text) {  // GGUF: u64 length
  append(out, static_cast<std::uint64_t>(text.size()));
  out += text;
}

template <typename T>
constexpr GgufValueType value_type() {
  if constexpr (std::is_same_v<T, std::uint32_t>) return GgufValueType::U32;
  if constexpr (std::is_same_v<T, std::int32_t>) return GgufValueType::I32;
  if constexpr (std::is_same_v<T, float>) return GgufValueType::F32;
  if constexpr (std::is_same_v<T, bool>) return GgufValueType::Bool;
  if constexpr (std::is_same_v<T, std::uint64_t>) return GgufValueType::U64;
  if constexpr (std::is_same_v<T, double>) return GgufValueType::F64;
  return GgufValueType::String;
}

template <typename T>
void append_element(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    append_text(out, value);
  } else {
    append(out, value);
  }
}

struct ValueWriter {
  std::string& out;

  template <typename T>
  void operator()(const T& value) const {
    append(out, value_type<T>());
    append_element(out, value);
  }
  template <typename T>
  void operator()(const std::vector<T>& values) const {
    append(out, GgufValueType::Array);
    append(out, value_type<T>());
    append(out, static_cast<std::uint64_t>(values.size()));
    for (const T& value : values) append_element(out, value);
  }
};

std::uint32_t gguf_type(SourceType type) {
  switch (type) {
    case SourceType::F32:
      return 0;
    case SourceType::F16:
      return 1;
    case SourceType::Q4_0:
      return 2;
    case SourceType::Q4_1:
      return 3;
    case SourceType::Q5_0:
      return 6;
    case SourceType::Q5_1:
      return 7;
    case SourceType::Q8_0:
      return 8;
    case SourceType::Q4_K:
      return 12;
    case SourceType::Q5_K:
      return 13;
    case SourceType::Q6_K:
      return 14;
    case SourceType::BF16:
      return 30;
    default:
      std::abort();
  }
}

std::string dtype(SourceType type) {
  if (type == SourceType::MlxAffine) std::abort();  // write_safetensors_folder splits these
  return std::string(source_type_name(type));
}

/// One entry of a safetensors file.
struct Part {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::string bytes;
};

std::string safetensors_of(std::span<const Part> parts) {
  nlohmann::json header = nlohmann::json::object();
  std::string data;
  for (const Part& part : parts) {
    header[part.name] = {{"dtype", part.dtype},
                         {"shape", part.shape},
                         {"data_offsets", {data.size(), data.size() + part.bytes.size()}}};
    data += part.bytes;
  }
  header["__metadata__"] = {{"format", "pt"}};
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string out;
  append(out, static_cast<std::uint64_t>(text.size()));
  return out + text + data;
}

Part plain_part(const TestTensor& tensor) {
  return {tensor.name, dtype(tensor.stored), tensor.shape, encode(tensor.stored, tensor.values)};
}

/// The tensor as it lies in a folder: one part, or MLX's three.
void add_parts(const TestTensor& tensor, std::vector<Part>& parts) {
  if (tensor.stored != SourceType::MlxAffine) {
    parts.push_back(plain_part(tensor));
    return;
  }
  const MlxParts mlx = encode_mlx(tensor.values, tensor.bits, tensor.group);
  const std::string module = tensor.name.substr(0, tensor.name.rfind(".weight"));
  std::vector<std::uint64_t> words = tensor.shape;
  words.back() = words.back() * tensor.bits / 32;
  std::vector<std::uint64_t> groups = tensor.shape;
  groups.back() /= tensor.group;
  parts.push_back({module + ".weight", "U32", words, mlx.words});
  parts.push_back({module + ".scales", "F16", groups, mlx.scales});
  parts.push_back({module + ".biases", "F16", groups, mlx.biases});
}

}  // namespace

std::string gguf_bytes(const TestMetadata& metadata, std::span<const TestTensor> tensors,
                       std::uint32_t alignment, std::uint32_t version) {
  std::string out = "GGUF";
  append(out, version);
  append(out, static_cast<std::uint64_t>(tensors.size()));
  append(out, static_cast<std::uint64_t>(metadata.size() + (alignment != 32 ? 1 : 0)));
  for (const auto& [key, value] : metadata) {
    append_text(out, key);
    std::visit(ValueWriter{out}, value);
  }
  if (alignment != 32) {
    append_text(out, "general.alignment");
    ValueWriter{out}(alignment);
  }
  const auto pad = [&](std::string& bytes) {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment, '\0');
  };
  std::string data;
  for (const TestTensor& tensor : tensors) {
    append_text(out, tensor.name);
    append(out, static_cast<std::uint32_t>(tensor.shape.size()));
    for (std::size_t i = tensor.shape.size(); i-- > 0;) append(out, tensor.shape[i]);
    append(out, gguf_type(tensor.stored));
    append(out, static_cast<std::uint64_t>(data.size()));
    data += encode(tensor.stored, tensor.values);
    pad(data);
  }
  pad(out);
  return out + data;
}

std::string safetensors_bytes(std::span<const TestTensor> tensors) {
  std::vector<Part> parts;
  for (const TestTensor& tensor : tensors) parts.push_back(plain_part(tensor));
  return safetensors_of(parts);
}

Status write_safetensors_folder(const std::string& folder, std::span<const TestTensor> tensors,
                                std::string_view config_json, unsigned shards) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  std::vector<Part> parts;
  for (const TestTensor& tensor : tensors) add_parts(tensor, parts);
  if (Status done = base::write_file(folder + "/config.json", config_json); !done) return done;
  if (shards <= 1) {
    return base::write_file(folder + "/model.safetensors", safetensors_of(parts));
  }
  nlohmann::json map;
  const std::size_t each = (parts.size() + shards - 1) / shards;
  for (unsigned s = 0; s < shards; ++s) {
    char name[64];
    std::snprintf(name, sizeof(name), "model-%05u-of-%05u.safetensors", s + 1, shards);
    const std::size_t first = std::min(parts.size(), s * each);
    const std::size_t count = std::min(parts.size() - first, each);
    const auto mine = std::span<const Part>(parts).subspan(first, count);
    for (const Part& part : mine) map[part.name] = name;
    const std::string path = folder + "/" + name;
    if (Status done = base::write_file(path, safetensors_of(mine)); !done) return done;
  }
  const nlohmann::json index = {{"metadata", {{"total_size", 0}}}, {"weight_map", map}};
  return base::write_file(folder + "/model.safetensors.index.json", index.dump(2));
}

std::string llama2c_bytes(const TestLlama2c& config, std::span<const TestTensor> tensors) {
  const auto find = [&](const std::string& name) -> const TestTensor& {
    const auto found = std::ranges::find(tensors, name, &TestTensor::name);
    if (found == tensors.end()) std::abort();
    return *found;
  };
  const bool untied =
      std::ranges::find(tensors, "output.weight", &TestTensor::name) != tensors.end();
  std::string out;
  if (config.version > 0) {
    append(out, std::uint32_t{0x616B3432});
    append(out, config.version);
  }
  for (const std::uint32_t field :
       {config.dim, config.hidden_dim, config.layers, config.heads, config.kv_heads}) {
    append(out, field);
  }
  const auto vocabulary = static_cast<std::int32_t>(config.vocabulary_size);
  append(out, config.version == 0 && untied ? -vocabulary : vocabulary);
  append(out, config.max_context);
  if (config.version > 0) {
    out += static_cast<char>(untied ? 0 : 1);
    if (config.version == 2) append(out, config.group);
    out.resize(256, '\0');
  }
  const auto plain = [&](const std::string& name) {
    out += encode(SourceType::F32, find(name).values);
  };
  const auto matrix = [&](const std::string& name) {
    if (config.version < 2) return plain(name);
    const TestTensor& tensor = find(name);
    std::string scales;
    for (std::size_t i = 0; i < tensor.values.size(); i += config.group) {
      float most = 0;
      for (std::size_t j = i; j < i + config.group; ++j) {
        most = std::max(most, std::abs(tensor.values[j]));
      }
      const float scale = most / 127;
      append(scales, scale);
      for (std::size_t j = i; j < i + config.group; ++j) {
        append(out,
               static_cast<std::int8_t>(scale == 0 ? 0 : std::lround(tensor.values[j] / scale)));
      }
    }
    out += scales;
  };
  const auto layers = [&](const auto& write, const std::string& name) {
    for (std::uint32_t l = 0; l < config.layers; ++l) {
      write("layers." + std::to_string(l) + "." + name);
    }
  };
  if (config.version == 0) {
    matrix("tok_embeddings.weight");
    layers(plain, "attention_norm.weight");
  } else {
    layers(plain, "attention_norm.weight");
    layers(plain, "ffn_norm.weight");
    plain("norm.weight");
    matrix("tok_embeddings.weight");
  }
  for (const char* name : {"wq", "wk", "wv", "wo"}) {
    layers(matrix, "attention." + std::string(name) + ".weight");
  }
  if (config.version == 0) layers(plain, "ffn_norm.weight");
  for (const char* name : {"w1", "w2", "w3"}) {
    layers(matrix, "feed_forward." + std::string(name) + ".weight");
  }
  if (config.version == 0) {
    plain("norm.weight");
    out.append(std::size_t{4} * config.max_context * (config.dim / config.heads), '\0');  // RoPE
  }
  if (untied) matrix("output.weight");
  return out;
}

std::string llama2c_tokenizer_bytes(std::span<const std::pair<std::string, float>> tokens) {
  std::uint32_t longest = 0;
  for (const auto& [text, score] : tokens) {
    longest = std::max(longest, static_cast<std::uint32_t>(text.size()));
  }
  std::string out;
  append(out, longest);
  for (const auto& [text, score] : tokens) {
    append(out, score);
    append(out, static_cast<std::uint32_t>(text.size()));
    out += text;
  }
  return out;
}

TestTensor test_tensor(std::string name, std::vector<std::uint64_t> shape, SourceType stored,
                       float scale) {
  TestTensor tensor;
  tensor.name = std::move(name);
  tensor.shape = std::move(shape);
  tensor.stored = stored;
  std::size_t count = 1;
  for (const std::uint64_t dimension : tensor.shape) count *= dimension;
  std::uint64_t state = 0xCBF29CE484222325u;  // FNV-1a of the name seeds a SplitMix64
  for (const char c : tensor.name) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    tensor.values.push_back((static_cast<float>(z >> 40) * 0x1p-23f - 1.0f) * scale);
  }
  return tensor;
}

}  // namespace laya::format
