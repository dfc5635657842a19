// Splitting rows between OpenMP threads, always the same way, so that results do not depend on
// timing.
#pragma once

#include <omp.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>

namespace laya::train {

/// Calls body(begin, end, thread) on every thread with its equal share of [0, count), rounded to
/// `grain`; some shares may be empty and are not called. Must not be called from inside another
/// parallel region. `body` must not throw.
template <typename Body>
void parallel_ranges(std::size_t count, std::size_t grain, const Body& body) {
#pragma omp parallel
  {
    const auto threads = static_cast<std::size_t>(omp_get_num_threads());
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    const std::size_t grains = (count + grain - 1) / grain;
    const std::size_t begin = grains * thread / threads * grain;
    std::size_t end = grains * (thread + 1) / threads * grain;
    if (end > count) end = count;
    if (begin < end) body(begin, end, thread);
  }
}

/// How many threads parallel_ranges uses: the size of per-thread accumulators.
inline std::size_t parallel_threads() { return static_cast<std::size_t>(omp_get_max_threads()); }

/// Uninitialised memory aligned to a cache line. Never zero-filled behind the caller's back: these
/// buffers are large.
template <typename T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t count)
      : data_(static_cast<T*>(std::aligned_alloc(64, (count * sizeof(T) + 127) / 64 * 64))),
        count_(count) {}
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  std::span<T> span() { return {data_.get(), count_}; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t count_ = 0;
};

}  // namespace laya::train
