// One mlx Primitive for all our operations: the forward pass is a function on raw memory, the
// backward builds arrays.
#pragma once

#include <functional>
#include <vector>

#include "mlx/array.h"
#include "mlx/dtype.h"

namespace laya::train {

namespace mx = mlx::core;

/// Reads in[i], fills out[i]; row-contiguous memory, runs on the stream's thread. Must not throw
/// for valid shapes.
using FusedEval =
    std::function<void(const std::vector<const void*>& in, const std::vector<void*>& out)>;

/// Gradients with respect to every input (in order; an input without gradient may have any array,
/// such as the input itself).
using FusedVjp = std::function<std::vector<mx::array>(const std::vector<mx::array>& inputs,
                                                      const std::vector<mx::array>& cotangents,
                                                      const std::vector<mx::array>& outputs)>;

/// Lazy outputs of a new graph node. `vjp` may be empty: asking for a gradient then throws.
std::vector<mx::array> fused_op(const char* name, std::vector<mx::array> inputs,
                                std::vector<mx::Shape> shapes, std::vector<mx::Dtype> types,
                                FusedEval eval, FusedVjp vjp);

/// Throws std::invalid_argument("<op>: <what>") unless `holds`.
void require(bool holds, const char* op, const char* what);

/// Product of all dimensions but the last.
std::size_t leading(const mx::array& x);

/// factor (a scalar array) times x.
mx::array scale_by(const mx::array& x, const mx::array& factor);

template <typename T>
const T* in_as(const std::vector<const void*>& in, std::size_t i) {
  return static_cast<const T*>(in[i]);
}
template <typename T>
T* out_as(const std::vector<void*>& out, std::size_t i) {
  return static_cast<T*>(out[i]);
}

}  // namespace laya::train
