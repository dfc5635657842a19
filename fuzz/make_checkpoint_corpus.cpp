// Writes the corpora of fuzz_gguf, fuzz_safetensors, fuzz_torch, fuzz_llama2c and
// fuzz_llama2c_tokenizer: `make_checkpoint_corpus FOLDER` (fuzz/corpus). Small valid files of each
// kind, and copies with one impossible field.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "format/test_checkpoints.h"

using laya::format::SourceType;
using laya::format::test_tensor;
using laya::format::TestTensor;

namespace {

class Corpus {
 public:
  explicit Corpus(std::string folder) : folder_(std::move(folder)) {}

  void save(const std::string& target, const std::string& name, std::string_view bytes) {
    std::error_code ignored;
    std::filesystem::create_directories(folder_ + "/" + target, ignored);
    const auto done = laya::base::write_file(folder_ + "/" + target + "/" + name, bytes);
    if (!done) {
      std::fprintf(stderr, "%s\n", done.error().message.c_str());
      good_ = false;
    }
  }
  /// The bytes with `value` at `offset`, which is counted from the end when negative.
  template <typename T>
  void damaged(const std::string& target, const std::string& name, std::string bytes,
               std::ptrdiff_t offset, T value) {
    const std::size_t at = offset < 0 ? bytes.size() - static_cast<std::size_t>(-offset)
                                      : static_cast<std::size_t>(offset);
    std::memcpy(bytes.data() + at, &value, sizeof(value));
    save(target, name, bytes);
  }
  bool good() const { return good_; }

 private:
  std::string folder_;
  bool good_ = true;
};

constexpr std::uint64_t kHuge = 1ull << 60;

void add_gguf(Corpus& corpus) {
  const laya::format::TestMetadata metadata = {
      {"general.architecture", std::string("llama")},
      {"n", std::uint32_t{4}},
      {"i", std::int32_t{-4}},
      {"f", 1e-5f},
      {"b", true},
      {"l", std::uint64_t{1} << 40},
      {"d", 0.5},
      {"tokens", std::vector<std::string>{"a", "", "▁b"}},
      {"scores", std::vector<float>{0, -1, -2}},
      {"types", std::vector<std::int32_t>{1, 3, 6}},
  };
  std::vector<TestTensor> small;
  for (const auto& [name, type] : {std::pair{"q4_0", SourceType::Q4_0},
                                   {"q4_1", SourceType::Q4_1},
                                   {"q5_0", SourceType::Q5_0},
                                   {"q5_1", SourceType::Q5_1},
                                   {"q8_0", SourceType::Q8_0},
                                   {"f16", SourceType::F16}}) {
    small.push_back(test_tensor(name, {1, 32}, type));
  }
  small.push_back(test_tensor("norm", {3}));
  std::vector<TestTensor> large;
  for (const auto& [name, type] : {std::pair{"q4_k", SourceType::Q4_K},
                                   {"q5_k", SourceType::Q5_K},
                                   {"q6_k", SourceType::Q6_K}}) {
    large.push_back(test_tensor(name, {256}, type));
  }
  const std::string valid = laya::format::gguf_bytes(metadata, small);
  corpus.save("gguf", "small", valid);
  corpus.save("gguf", "version-2-aligned-8", laya::format::gguf_bytes(metadata, small, 8, 2));
  corpus.save("gguf", "k-quants", laya::format::gguf_bytes({}, large));
  corpus.save("gguf", "empty", laya::format::gguf_bytes({}, {}));
  corpus.save("gguf", "cut", valid.substr(0, valid.size() / 2));
  corpus.damaged("gguf", "tensor-count", valid, 8, kHuge);
  corpus.damaged("gguf", "key-count", valid, 16, kHuge);
  corpus.damaged("gguf", "key-length", valid, 24, kHuge);
  const auto tokens = static_cast<std::ptrdiff_t>(valid.find("tokens"));
  corpus.damaged("gguf", "array-count", valid, tokens + 14, kHuge);
  corpus.damaged("gguf", "array-in-array", valid, tokens + 10, 9u);
  const auto norm = static_cast<std::ptrdiff_t>(valid.find("norm"));
  corpus.damaged("gguf", "rank", valid, norm + 4, ~0u);
  corpus.damaged("gguf", "dimension", valid, norm + 8, kHuge);
  corpus.damaged("gguf", "type", valid, norm + 16, 10u);
  corpus.damaged("gguf", "offset", valid, norm + 20, ~std::uint64_t{31});
}

void add_safetensors(Corpus& corpus) {
  const std::vector<TestTensor> tensors = {test_tensor("a.weight", {2, 3}),
                                           test_tensor("b", {4}, SourceType::BF16)};
  const std::string valid = laya::format::safetensors_bytes(tensors);
  corpus.save("safetensors", "valid", valid);
  corpus.save("safetensors", "cut", valid.substr(0, valid.size() - 1));
  corpus.damaged("safetensors", "header-length", valid, 0, kHuge);
  corpus.save("safetensors", "index",
              R"({"metadata":{"total_size":1},"weight_map":{"a":"m-1.safetensors"}})");
  corpus.save("safetensors", "index-path", R"({"weight_map":{"a":"../m"}})");
  corpus.save("safetensors", "mlx", R"({"quantization":{"group_size":64,"bits":4}})");
  corpus.save("safetensors", "mlx-own",
              R"({"quantization":{"group_size":64,"bits":4,"a":{"group_size":32,"bits":8}}})");
  corpus.save("safetensors", "gptq", R"({"quantization_config":{"quant_method":"gptq","bits":4}})");
  corpus.save("safetensors", "deep", std::string(200, '[') + std::string(200, ']'));
}

void add_torch(Corpus& corpus) {
  const std::vector<TestTensor> tensors = {test_tensor("a", {2, 3}),
                                           test_tensor("b", {4}, SourceType::F16)};
  const std::string valid = laya::format::torch_bytes(tensors);
  corpus.save("torch", "archive", valid);
  const std::size_t begin = valid.find("\x80\x02");
  const std::size_t end = valid.find("u.PK", begin) + 2;
  const std::string pickle = valid.substr(begin, end - begin);
  corpus.save("torch", "pickle", pickle);  // fits the storages of the target: 24 and 8 bytes
  const std::string nested = "\x80\x02}X\x05" + std::string(3, '\0') + "model" +
                             pickle.substr(2, pickle.size() - 3) + "s.";
  corpus.save("torch", "nested", nested);
  corpus.save("torch", "system",
              "\x80\x02"
              "cos\nsystem\nX\x01" +
                  std::string(3, '\0') + "x\x85R.");
  corpus.save("torch", "circle", "}q\x01X\x01" + std::string(3, '\0') + "ah\x01s.");
  corpus.save("torch", "legacy",
              "\x80\x02\x8A\x0A"
              "l\xFC\x9C"
              "F\xF9 j\xA8P\x19.");
  const auto record = static_cast<std::ptrdiff_t>(valid.find("PK\x01\x02"));
  corpus.damaged("torch", "zip-method", valid, record + 10, std::uint16_t{8});
  corpus.damaged("torch", "zip-size", valid, record + 24, ~0u);
  corpus.damaged("torch", "zip-extra", valid, record + 30, std::uint16_t{40});
  corpus.damaged("torch", "zip-directory", valid, -10, 0x7FFFFFFFu);
  corpus.damaged("torch", "zip64", valid, -6, ~0u);
}

void add_llama2c(Corpus& corpus) {
  std::vector<TestTensor> tensors = {test_tensor("tok_embeddings.weight", {3, 4}),
                                     test_tensor("norm.weight", {4}),
                                     test_tensor("layers.0.attention_norm.weight", {4}),
                                     test_tensor("layers.0.ffn_norm.weight", {4}),
                                     test_tensor("layers.0.feed_forward.w1.weight", {8, 4}),
                                     test_tensor("layers.0.feed_forward.w2.weight", {4, 8}),
                                     test_tensor("layers.0.feed_forward.w3.weight", {8, 4})};
  for (const char* name : {"wq", "wo"}) {
    tensors.push_back(test_tensor("layers.0.attention." + std::string(name) + ".weight", {4, 4}));
  }
  for (const char* name : {"wk", "wv"}) {
    tensors.push_back(test_tensor("layers.0.attention." + std::string(name) + ".weight", {2, 4}));
  }
  for (const std::uint32_t version : {0u, 1u, 2u}) {
    const laya::format::TestLlama2c config{version, 4, 8, 1, 2, 1, 3, 2, 4};
    corpus.save("llama2c", "tied-" + std::to_string(version), llama2c_bytes(config, tensors));
  }
  tensors.push_back(test_tensor("output.weight", {3, 4}));
  const laya::format::TestLlama2c config{0, 4, 8, 1, 2, 1, 3, 2, 4};
  const std::string valid = llama2c_bytes(config, tensors);
  corpus.save("llama2c", "untied-0", valid);
  corpus.save("llama2c", "cut", valid.substr(0, 28));
  for (std::ptrdiff_t field = 0; field < 7; ++field) {
    corpus.damaged("llama2c", "field-" + std::to_string(field), valid, field * 4, 0x7FFFFFFF);
  }
  const std::vector<std::pair<std::string, float>> tokens = {
      {"<unk>", 0.0f}, {" the", -1.0f}, {"你", -2.0f}};
  const std::string tokenizer = laya::format::llama2c_tokenizer_bytes(tokens);
  corpus.save("llama2c_tokenizer", "valid", tokenizer);
  corpus.save("llama2c_tokenizer", "cut", tokenizer.substr(0, tokenizer.size() - 1));
  corpus.save("llama2c_tokenizer", "none", tokenizer.substr(0, 4));
  corpus.damaged("llama2c_tokenizer", "longest", tokenizer, 0, ~0u);
  corpus.damaged("llama2c_tokenizer", "length", tokenizer, 8, ~0u);
  corpus.damaged("llama2c_tokenizer", "score", tokenizer, 4, 0x7FC00000u);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: make_checkpoint_corpus FOLDER\n", stderr);
    return 2;
  }
  Corpus corpus(argv[1]);
  add_gguf(corpus);
  add_safetensors(corpus);
  add_torch(corpus);
  add_llama2c(corpus);
  return corpus.good() ? 0 : 1;
}
