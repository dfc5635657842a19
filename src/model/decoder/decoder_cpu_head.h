// The cpu backend's last product: from a hidden vector to scores of vocabulary rows.
#pragma once

#include <span>

#include "base/result.h"
#include "base/token_id.h"
#include "model/decoder/decoder_config.h"
#include "model/decoder/decoder_cpu_workspace.h"
#include "simd/kernels.h"
#include "simd/packing.h"

namespace laya::model {

/// Its three functions are Decoder's. Immutable; what it was made from must outlive it.
class CpuHead {
 public:
  CpuHead(const DecoderConfig& config, const simd::PackedMatrix& matrix,
          const simd::Kernels& kernels)
      : config_(config), matrix_(matrix), kernels_(kernels) {}

  Status logits(CpuDecoderWorkspace& ws, std::span<const float> hidden, std::size_t columns,
                std::span<float> out) const;
  Status logits_rows(CpuDecoderWorkspace& ws, std::span<const float> hidden, std::size_t columns,
                     std::span<const TokenId> rows, std::span<float> out) const;
  Status log_normalizers(CpuDecoderWorkspace& ws, std::span<const float> hidden,
                         std::size_t columns, std::span<float> out) const;

 private:
  const simd::Activations& input(CpuDecoderWorkspace& ws, std::span<const float> hidden,
                                 std::size_t columns) const;
  void soft_cap(std::span<float> scores) const;
  bool finite(std::span<const float> x) const;
  Status finite_scores(std::span<float> out) const;
  static Status no_scores(std::span<float> out);

  const DecoderConfig& config_;
  const simd::PackedMatrix& matrix_;
  const simd::Kernels& kernels_;
};

}  // namespace laya::model
