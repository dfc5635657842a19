#include "train/mlx/softmax_head.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "train/mlx/operand.h"

namespace laya::train {
namespace {

// Tokens whose fp32 logits are computed at once (8 MB at 16 k classes), whose hidden gradient is
// computed at once, and whose gradients of the logits are gathered before they go into dE in one
// product: dE (16 MB) is read and written once per such block.
constexpr std::size_t kLogitRows = 128;
constexpr std::size_t kHiddenRows = 256;
constexpr std::size_t kBlockRows = 1024;
constexpr float kNever = -1.0e30F;

GemmShape shape_of(std::size_t m, std::size_t n, std::size_t k, Precision precision) {
  GemmShape shape;
  shape.m = static_cast<std::int64_t>(m);
  shape.n = static_cast<std::int64_t>(n);
  shape.k = static_cast<std::int64_t>(k);
  shape.precision = precision;
  return shape;
}

// E packed for logits of `rows` tokens; the last chunk of a batch may be shorter and then needs its
// own.
class LogitProduct {
 public:
  LogitProduct(const void* embedding, std::size_t classes, std::size_t width, Precision precision)
      : embedding_(embedding), classes_(classes), width_(width), precision_(precision) {}
  void run(const void* hidden, std::size_t rows, float* logits) {
    if (rows != rows_) {
      product_ = &gemm(shape_of(rows, classes_, width_, precision_));
      packed_ = PackedOperand(*product_, embedding_, Layout::Transposed);
      rows_ = rows;
    }
    product_->run(hidden, packed_.data(), logits);
  }

 private:
  const void* embedding_;
  std::size_t classes_, width_;
  Precision precision_;
  std::size_t rows_ = 0;
  const Gemm* product_ = nullptr;
  PackedOperand packed_;
};

class Head {
 public:
  Head(const HeadInput& in, const HeadOutput& out)
      : in_(in),
        out_(out),
        classes_((in.classes + 15) / 16 * 16),
        padded_(classes_ == in.classes ? 0 : classes_ * in.width) {
    bias_ = AlignedBuffer<float>(classes_);
    std::copy(in.bias.begin(), in.bias.end(), bias_.data());
    std::fill(bias_.data() + in.classes, bias_.data() + classes_, kNever);
    embedding_ = in.embedding;
    if (padded_.size() != 0) {
      std::copy_n(in.embedding, in.classes * in.width, padded_.data());
      std::fill(padded_.data() + in.classes * in.width, padded_.data() + classes_ * in.width, 0.0F);
      embedding_ = padded_.data();
    }
    for (std::size_t n = 0; n < in.tokens; ++n) total_weight_ += static_cast<double>(weight(n));
  }

  template <typename T>
  void run() {
    const Operand embedding(embedding_, classes_ * in_.width, in_.precision);
    const Operand hidden(in_.hidden, in_.tokens * in_.width, in_.precision);
    LogitProduct logit_product(embedding.data(), classes_, in_.width, in_.precision);
    const bool train = out_.dhidden != nullptr;
    AlignedBuffer<float> logits(kLogitRows * classes_);
    AlignedBuffer<T> gradient(train ? std::min(kBlockRows, in_.tokens) * classes_ : 0);
    const std::size_t threads = parallel_threads();
    dbias_ = AlignedBuffer<float>(train ? threads * classes_ : 0);
    std::fill_n(dbias_.data(), dbias_.size(), 0.0F);
    dembedding_ = out_.dembedding;
    AlignedBuffer<float> wide(train ? padded_.size() : 0);
    if (wide.size() != 0) dembedding_ = wide.data();
    const T* rows = static_cast<const T*>(hidden.data());
    for (std::size_t block = 0; block < in_.tokens; block += kBlockRows) {
      const std::size_t block_rows = std::min(kBlockRows, in_.tokens - block);
      for (std::size_t at = 0; at < block_rows; at += kLogitRows) {
        const std::size_t count = std::min(kLogitRows, block_rows - at);
        logit_product.run(rows + (block + at) * in_.width, count, logits.data());
        if (train) {
          softmax(logits.data(), block + at, count, gradient.data() + at * classes_);
        } else {
          evaluate(logits.data(), block + at, count);
        }
      }
      if (train) back(embedding.data(), rows, block, block_rows, gradient.data());
    }
    finish();
  }

 private:
  bool has_target(std::size_t n) const {
    return in_.targets[n] >= 0 && static_cast<std::size_t>(in_.targets[n]) < in_.classes;
  }
  float weight(std::size_t n) const { return has_target(n) ? in_.weights[n] : 0.0F; }

  template <typename T>
  void softmax(float* logits, std::size_t first, std::size_t count, T* gradient) {
    const auto scale = static_cast<float>(total_weight_ > 0.0 ? 1.0 / total_weight_ : 0.0);
    parallel_ranges(count, 1, [&](std::size_t begin, std::size_t end, std::size_t thread) {
      for (std::size_t row = begin; row < end; ++row) {
        const std::size_t n = first + row;
        T* g = gradient + row * classes_;
        if (!has_target(n)) {
          std::fill_n(g, classes_, T{});
          out_.token_nll[n] = 0.0F;
          continue;
        }
        const auto target = static_cast<std::size_t>(in_.targets[n]);
        const float own = in_.own.empty() ? 0.0F : in_.own[target];
        out_.token_nll[n] =
            kernels().of<T>().softmax(logits + row * classes_, bias_.data(), classes_, target, own,
                                      in_.weights[n] * scale, g, dbias_.data() + thread * classes_);
      }
    });
  }

  void evaluate(float* logits, std::size_t first, std::size_t count) {
    parallel_ranges(count, 1, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t row = begin; row < end; ++row) {
        const std::size_t n = first + row;
        out_.token_nll[n] = 0.0F;
        if (!has_target(n)) continue;
        const auto target = static_cast<std::size_t>(in_.targets[n]);
        float* scores = logits + row * classes_;
        if (!in_.own.empty()) scores[target] += in_.own[target];
        const float total = kernels().log_sum_exp(scores, bias_.data(), classes_);
        out_.token_nll[n] = total - scores[target];
      }
    });
  }

  // dhidden of the block, and the block's share of dembedding = gradientᵀ · hidden.
  template <typename T>
  void back(const void* embedding, const T* hidden, std::size_t block, std::size_t rows,
            const T* gradient) {
    for (std::size_t at = 0; at < rows; at += kHiddenRows) {
      const std::size_t count = std::min(kHiddenRows, rows - at);
      const Gemm& to_hidden = gemm(shape_of(count, in_.width, classes_, in_.precision));
      if (count != back_rows_) {
        back_packed_ = PackedOperand(to_hidden, embedding, Layout::Normal);
        back_rows_ = count;
      }
      to_hidden.run(gradient + at * classes_, back_packed_.data(),
                    out_.dhidden + (block + at) * in_.width);
    }
    GemmShape shape = shape_of(classes_, in_.width, rows, in_.precision);
    shape.a = Layout::Transposed;
    shape.accumulate = block == 0 ? Accumulate::No : Accumulate::Yes;
    const Gemm& to_embedding = gemm(shape);
    const PackedOperand packed(to_embedding, hidden + block * in_.width, Layout::Normal);
    to_embedding.run(gradient, packed.data(), dembedding_);
  }

  void finish() {
    double loss = 0.0;
    for (std::size_t n = 0; n < in_.tokens; ++n)
      loss += static_cast<double>(weight(n)) * static_cast<double>(out_.token_nll[n]);
    *out_.loss = static_cast<float>(total_weight_ > 0.0 ? loss / total_weight_ : 0.0);
    if (out_.dhidden == nullptr) return;
    std::fill_n(out_.dbias, in_.classes, 0.0F);
    for (std::size_t t = 0; t < parallel_threads(); ++t) {
      kernels().add(out_.dbias, dbias_.data() + t * classes_, in_.classes, out_.dbias);
    }
    if (dembedding_ != out_.dembedding)
      std::copy_n(dembedding_, in_.classes * in_.width, out_.dembedding);
  }

  const HeadInput& in_;
  const HeadOutput& out_;
  std::size_t classes_;  // rounded up to whole vectors; the surplus classes have bias kNever
  AlignedBuffer<float> padded_;
  AlignedBuffer<float> bias_;
  AlignedBuffer<float> dbias_;  // per thread
  const float* embedding_ = nullptr;
  float* dembedding_ = nullptr;
  double total_weight_ = 0.0;
  std::size_t back_rows_ = 0;
  PackedOperand back_packed_;
};

}  // namespace

void softmax_head(const HeadInput& in, const HeadOutput& out) {
  Head head(in, out);
  with_operand_type(in.precision, [&](auto type) { head.run<decltype(type)>(); });
}

}  // namespace laya::train
