// Finding the weights of a network or a decoder in a file: there, of the shape that the
// configuration asks for, finite. Every error is Corrupt and names file and tensor.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "format/model_file.h"
#include "simd/packing.h"

namespace laya::model {

/// Corrupt: "<file>: tensor <name> <what>".
Error corrupt_tensor(const format::ModelFile& file, std::string_view tensor,
                     const std::string& what);

/// The tensor, if it is there and has this shape.
Result<format::TensorView> find_weights(const format::ModelFile& file, const std::string& name,
                                        std::span<const std::uint32_t> shape);

/// The numbers of an f32 tensor of this shape, all finite. They lie in the file.
Result<std::span<const float>> find_vector(const format::ModelFile& file, const std::string& name,
                                           std::span<const std::uint32_t> shape);

/// The kernels' view of a packed tensor of a file.
Result<simd::PackedMatrix> packed_view(const format::TensorView& tensor);

}  // namespace laya::model
