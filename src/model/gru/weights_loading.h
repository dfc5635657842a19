// From the tensors of a file to the weights of a backend: fp32 for reference and mlx, packed for
// cpu.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/model_file.h"
#include "model/core/aligned_bytes.h"
#include "model/gru/gru_config.h"
#include "model/gru/gru_reference_backend.h"
#include "model/gru/gru_weights.h"
#include "simd/packing.h"

namespace laya::model {

/// Packed weights, and the memory of those that the file does not hold in packed form. Moving keeps
/// the views valid.
struct OwnedPackedWeights {
  GruWeights<simd::PackedMatrix> weights;
  std::vector<AlignedBytes> storage;
  std::vector<std::vector<float>>
      vectors;  ///< copies of norms and biases, where no file holds them
};

/// Both check presence, kind, shape and finiteness of every tensor (for packed ones: of scales and
/// minima) and name the first that fails, Corrupt. `file` must outlive the result.
Result<OwnedFloatWeights> load_float_weights(const format::ModelFile& file,
                                             const GruConfig& config);
/// fp16 tensors are repacked as they are; fp32 ones are packed as `fp32_as` says (int8 with groups
/// of 64 unless a test wants fp32).
Result<OwnedPackedWeights> load_packed_weights(const format::ModelFile& file,
                                               const GruConfig& config,
                                               simd::WeightType fp32_as = simd::WeightType::Int8);

/// One matrix [rows, columns] as the kernels read it: packed tensors where they lie in the file,
/// fp16 ones repacked as they are and fp32 ones as `fp32_as` says (int8: groups of 64) in memory
/// that is added to `storage`. Corrupt names the tensor.
Result<simd::PackedMatrix> load_packed_matrix(const format::ModelFile& file,
                                              const std::string& name, std::uint32_t rows,
                                              std::uint32_t columns, simd::WeightType fp32_as,
                                              std::vector<AlignedBytes>& storage);

/// The numbers of a matrix or vector of any element type, row-major, in `out` (exactly as many as
/// its shape says).
Status tensor_to_floats(const format::TensorView& tensor, std::span<float> out);

}  // namespace laya::model
