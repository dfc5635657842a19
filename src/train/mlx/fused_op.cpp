#include "train/mlx/fused_op.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "mlx/backend/cpu/encoder.h"
#include "mlx/ops.h"
#include "mlx/primitives.h"
#include "train/mlx/parallel.h"
#include "train/mlx/training_kernels.h"

namespace laya::train {
namespace {

class FusedPrimitive final : public mx::Primitive {
 public:
  FusedPrimitive(mx::Stream stream, const char* name, FusedEval eval, FusedVjp vjp)
      : mx::Primitive(stream), name_(name), eval_(std::move(eval)), vjp_(std::move(vjp)) {}

  void eval_cpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) override {
    // Inputs' memory exists now but may be filled only when the stream's thread gets there; MLX
    // keeps it alive until then.
    std::vector<const void*> in;
    for (const auto& input : inputs) in.push_back(input.data<char>());
    std::vector<void*> out;
    for (auto& output : outputs) {
      output.set_data(mx::allocator::malloc(output.nbytes()));
      out.push_back(output.data<char>());
    }
    mx::cpu::get_command_encoder(stream()).dispatch(
        [eval = eval_, in = std::move(in), out = std::move(out)]() { eval(in, out); });
  }

  void eval_gpu(const std::vector<mx::array>&, std::vector<mx::array>&) override {
    throw std::runtime_error(std::string(name_) + ": no GPU implementation");
  }

  std::vector<mx::array> vjp(const std::vector<mx::array>& primals,
                             const std::vector<mx::array>& cotangents,
                             const std::vector<int>& argnums,
                             const std::vector<mx::array>& outputs) override {
    if (!vjp_) throw std::runtime_error(std::string(name_) + ": has no gradient");
    const auto all = vjp_(primals, cotangents, outputs);
    std::vector<mx::array> wanted;
    for (const int i : argnums) wanted.push_back(all.at(static_cast<std::size_t>(i)));
    return wanted;
  }

  const char* name() const override { return name_; }

 private:
  const char* name_;
  FusedEval eval_;
  FusedVjp vjp_;
};

}  // namespace

std::vector<mx::array> fused_op(const char* name, std::vector<mx::array> inputs,
                                std::vector<mx::Shape> shapes, std::vector<mx::Dtype> types,
                                FusedEval eval, FusedVjp vjp) {
  for (auto& input : inputs) input = mx::contiguous(input);
  auto primitive = std::make_shared<FusedPrimitive>(mx::default_stream(mx::Device::cpu), name,
                                                    std::move(eval), std::move(vjp));
  return mx::array::make_arrays(std::move(shapes), types, std::move(primitive), std::move(inputs));
}

void require(bool holds, const char* op, const char* what) {
  if (!holds) throw std::invalid_argument(std::string(op) + ": " + what);
}

std::size_t leading(const mx::array& x) { return x.size() / static_cast<std::size_t>(x.shape(-1)); }

mx::array scale_by(const mx::array& x, const mx::array& factor) {
  const std::size_t size = x.size();
  return fused_op(
      "Scale", {x, factor}, {x.shape()}, {mx::float32},
      [size](const auto& in, const auto& out) {
        const float by = *in_as<float>(in, 1);
        parallel_ranges(size, 16, [&](std::size_t begin, std::size_t end, std::size_t) {
          kernels().scale(in_as<float>(in, 0) + begin, by, end - begin,
                          out_as<float>(out, 0) + begin);
        });
      },
      nullptr)[0];
}

}  // namespace laya::train
