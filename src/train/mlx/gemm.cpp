#include "train/mlx/gemm.h"

#include <omp.h>

#include <atomic>
#include <dnnl.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "train/mlx/parallel.h"

namespace laya::train {
namespace {

dnnl::engine& cpu_engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// A dnnl stream is cheap and holds no state on the CPU, but is not documented as thread safe.
dnnl::stream& cpu_stream() {
  thread_local dnnl::stream stream(cpu_engine());
  return stream;
}

// oneDNN's own scratchpad belongs to the thread that compiled the product, and these run on others:
// each thread brings its own.
void* scratchpad(std::size_t bytes) {
  thread_local AlignedBuffer<std::byte> buffer;
  if (buffer.size() < bytes) buffer = AlignedBuffer<std::byte>(bytes);
  return buffer.data();
}

// How many threads OpenMP really grants: omp_get_max_threads() knows nothing of OMP_THREAD_LIMIT.
int granted_threads() {
  static const int granted = [] {
    int count = 1;
#pragma omp parallel
#pragma omp single
    count = omp_get_num_threads();
    return count;
  }();
  return granted;
}

// oneDNN fixes the number of threads when a product is compiled; run with fewer, it silently
// leaves a part of C undone. So: compile for what is granted, and forbid OpenMP to grant less.
class ThreadLimit {
 public:
  explicit ThreadLimit(GemmThreads threads) : before_(omp_get_max_threads()) {
    omp_set_dynamic(0);
    omp_set_num_threads(threads == GemmThreads::One ? 1 : granted_threads());
  }
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;
  ~ThreadLimit() { omp_set_num_threads(before_); }

 private:
  int before_;
};

class DnnlGemm final : public Gemm {
 public:
  explicit DnnlGemm(const GemmShape& shape) : shape_(shape) {
    const ThreadLimit limit(shape.threads);
    const auto type = operand_type();
    const dnnl::memory::desc a({shape.m, shape.k}, type,
                               shape.a == Layout::Normal ? dnnl::memory::dims{shape.k, 1}
                                                         : dnnl::memory::dims{1, shape.m});
    const dnnl::memory::desc b({shape.k, shape.n}, type, dnnl::memory::format_tag::any);
    const dnnl::memory::desc c({shape.m, shape.n}, dnnl::memory::data_type::f32,
                               dnnl::memory::dims{shape.n, 1});
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (shape.accumulate == Accumulate::Yes) {
      dnnl::post_ops ops;
      ops.append_sum(1.0F);
      attributes.set_post_ops(ops);
    }
    const dnnl::memory::desc bias({1, shape.n}, dnnl::memory::data_type::f32,
                                  dnnl::memory::dims{shape.n, 1});
    const auto product =
        shape.bias == Bias::Yes ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c);
    description_ = dnnl::matmul::primitive_desc(product, attributes, cpu_engine());
    product_ = dnnl::matmul(description_);
  }

  std::size_t packed_bytes() const override { return description_.weights_desc().get_size(); }

  void pack(const void* b, Layout layout, void* packed) const override {
    const dnnl::memory::desc plain({shape_.k, shape_.n}, operand_type(),
                                   layout == Layout::Normal ? dnnl::memory::dims{shape_.n, 1}
                                                            : dnnl::memory::dims{1, shape_.k});
    dnnl::memory from(plain, cpu_engine(), const_cast<void*>(b));
    dnnl::memory to(description_.weights_desc(), cpu_engine(), packed);
    dnnl::reorder(from, to).execute(cpu_stream(), from, to);
    cpu_stream().wait();
  }

  void run(const void* a, const void* packed_b, float* c, const float* bias) const override {
    runs_.fetch_add(1, std::memory_order_relaxed);
    omp_set_dynamic(0);  // belongs to the calling thread, which need not be the one that compiled
    const auto& engine = cpu_engine();
    const auto pad = description_.scratchpad_desc();
    dnnl::memory memory_a(description_.src_desc(), engine, const_cast<void*>(a));
    dnnl::memory memory_b(description_.weights_desc(), engine, const_cast<void*>(packed_b));
    dnnl::memory memory_c(description_.dst_desc(), engine, c);
    dnnl::memory memory_pad(pad, engine, scratchpad(pad.get_size()));
    std::unordered_map<int, dnnl::memory> arguments{{DNNL_ARG_SRC, memory_a},
                                                    {DNNL_ARG_WEIGHTS, memory_b},
                                                    {DNNL_ARG_DST, memory_c},
                                                    {DNNL_ARG_SCRATCHPAD, memory_pad}};
    if (shape_.bias == Bias::Yes) {
      arguments.emplace(DNNL_ARG_BIAS,
                        dnnl::memory(description_.bias_desc(), engine, const_cast<float*>(bias)));
    }
    product_.execute(cpu_stream(), arguments);
    cpu_stream().wait();
  }

  std::uint64_t runs() const { return runs_.load(std::memory_order_relaxed); }

 private:
  dnnl::memory::data_type operand_type() const {
    return shape_.precision == Precision::Bf16 ? dnnl::memory::data_type::bf16
                                               : dnnl::memory::data_type::f32;
  }

  GemmShape shape_;
  dnnl::matmul::primitive_desc description_;
  dnnl::matmul product_;
  mutable std::atomic<std::uint64_t> runs_ = 0;
};

struct Products {
  std::mutex mutex;
  std::map<GemmShape, std::unique_ptr<DnnlGemm>> compiled;
};

Products& products() {
  static Products all;
  return all;
}

}  // namespace

const Gemm& gemm(const GemmShape& shape) {
  Products& all = products();
  const std::lock_guard lock(all.mutex);
  auto& slot = all.compiled[shape];
  if (!slot) slot = std::make_unique<DnnlGemm>(shape);
  return *slot;
}

std::vector<GemmUse> gemm_uses() {
  Products& all = products();
  const std::lock_guard lock(all.mutex);
  std::vector<GemmUse> uses;
  for (const auto& [shape, product] : all.compiled) uses.push_back({shape, product->runs()});
  return uses;
}

}  // namespace laya::train
