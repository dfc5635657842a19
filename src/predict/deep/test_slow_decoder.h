// For tests of the deep tier: a decoder whose layers take as long as it is told, that counts what
// it is given. Its scores depend on the last token only: noise, but the same noise everywhere.
#pragma once

#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>

#include "model/bench/random_decoder.h"
#include "model/decoder/decoder.h"

namespace laya::predict {

/// What several places of a test look at.
struct SlowDecoderWatch {
  std::atomic<int> layer_us{0};
  std::atomic<int> passes{0};
  std::atomic<int> tokens{0};
  std::atomic<int> cancelled{0};
};

class SlowDecoder : public model::Decoder {
 public:
  SlowDecoder(std::size_t rows, std::shared_ptr<SlowDecoderWatch> watch)
      : config_(model::tiny_decoder_config(model::DecoderFamily::Llama)), watch_(std::move(watch)) {
    config_.vocabulary_size = static_cast<std::uint32_t>(rows);
    config_.max_context = 2048;
    config_.layers = kLayers;
  }
  static constexpr int kLayers = 20;

  const model::DecoderConfig& config() const override { return config_; }
  std::string_view backend_name() const override { return "slow"; }
  std::size_t weights_bytes() const override { return 1000; }
  std::unique_ptr<model::Workspace> make_workspace(model::Threads) const override {
    return std::make_unique<Nothing>();
  }
  Status logits(model::Workspace&, std::span<const float> hidden, std::size_t columns,
                std::span<float> out) const override {
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t row = 0; row < config_.vocabulary_size; ++row) {
        out[c * config_.vocabulary_size + row] = score(hidden[c * config_.hidden_dim], row);
      }
    }
    return {};
  }
  Status logits_rows(model::Workspace&, std::span<const float> hidden, std::size_t columns,
                     std::span<const TokenId> rows, std::span<float> out) const override {
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        out[c * rows.size() + i] = score(hidden[c * config_.hidden_dim], rows[i]);
      }
    }
    return {};
  }
  Status log_normalizers(model::Workspace&, std::span<const float> hidden, std::size_t columns,
                         std::span<float> out) const override {
    for (std::size_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (std::size_t row = 0; row < config_.vocabulary_size; ++row) {
        sum += std::exp(double{score(hidden[c * config_.hidden_dim], row)});
      }
      out[c] = static_cast<float>(std::log(sum));
    }
    return {};
  }

 protected:
  Status forward(model::Workspace&, model::KvCache&, Pass, std::span<const model::Column> columns,
                 std::span<float> hidden, const base::CancelFlag* cancel) const override {
    ++watch_->passes;
    watch_->tokens += static_cast<int>(columns.size());
    for (int layer = 0; layer < kLayers; ++layer) {
      if (cancel != nullptr && cancel->cancelled()) {
        ++watch_->cancelled;
        return Error{ErrorCode::Cancelled, "slow decoder: cancelled"};
      }
      if (const int us = watch_->layer_us.load(); us > 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(us));
      }
    }
    const std::size_t width = config_.hidden_dim;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (hidden.size() == width && c + 1 < columns.size()) {
        continue;  // only the last is asked for
      }
      const std::size_t at = hidden.size() == width ? 0 : c * width;
      for (std::size_t i = 0; i < width && at + i < hidden.size(); ++i) {
        hidden[at + i] = static_cast<float>(columns[c].token % 977);
      }
    }
    return {};
  }

 private:
  struct Nothing : model::Workspace {};
  static float score(float token, std::size_t row) {
    const auto x = static_cast<std::uint32_t>(token) * 2654435761U ^
                   static_cast<std::uint32_t>(row) * 2246822519U;
    return static_cast<float>((x >> 8U) % 1000) / 150.0F;
  }
  model::DecoderConfig config_;
  std::shared_ptr<SlowDecoderWatch> watch_;
};

}  // namespace laya::predict
