// What the decoders' tests share: random models of every family as open files, and runs over them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/test_folder.h"
#include "format/model_file.h"
#include "model/bench/random_decoder.h"
#include "model/decoder/decoder_loading.h"

namespace laya::model {

inline constexpr Precision kInt4WithMinima{simd::WeightType::Int4, 32, simd::Minima::PerGroup};
inline constexpr Precision kFloat{simd::WeightType::Fp32, 64, simd::Minima::None};

/// A random decoder in a file of its own, and backends over it.
class RandomDecoder {
 public:
  explicit RandomDecoder(DecoderFamily family, const Precision& precision = kFloat)
      : RandomDecoder(family, tiny_decoder_config(family), precision) {}
  RandomDecoder(DecoderFamily family, const DecoderConfig& config, const Precision& precision) {
    const std::string path = folder_.file("random.laya");
    const Status status = write_random_decoder(path, family, config, precision);
    EXPECT_TRUE(status) << status.error().message;
    auto file = format::ModelFile::open(path, format::Verify::Full);
    EXPECT_TRUE(file) << file.error().message;
    file_.emplace(std::move(*file));
  }

  const format::ModelFile& file() const { return *file_; }
  std::unique_ptr<Decoder> load(Backend backend) const {
    auto decoder = load_decoder(*file_, backend);
    EXPECT_TRUE(decoder) << decoder.error().message;
    return std::move(*decoder);
  }

 private:
  base::TestFolder folder_;
  std::optional<format::ModelFile> file_;
};

/// n tokens that depend on `seed` only.
inline std::vector<TokenId> some_tokens(std::size_t n, std::uint32_t vocabulary,
                                        std::uint32_t seed = 1) {
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; i < n; ++i) {
    seed = seed * 1664525U + 1013904223U;
    tokens.push_back((seed >> 8) % vocabulary);
  }
  return tokens;
}

/// The hidden vector of every token, computed in chunks of `chunk`: [tokens][d].
inline std::vector<std::vector<float>> all_hidden(const Decoder& decoder, Workspace& workspace,
                                                  KvCache& cache,
                                                  const std::vector<TokenId>& tokens) {
  std::vector<std::vector<float>> all;
  for (const TokenId token : tokens) {
    std::vector<float>& hidden = all.emplace_back(decoder.config().hidden_dim);
    const Status status = decoder.prefill(workspace, cache, {&token, 1}, hidden);
    EXPECT_TRUE(status) << status.error().message;
  }
  return all;
}

}  // namespace laya::model
