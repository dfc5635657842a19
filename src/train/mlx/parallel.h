// Splitting rows between OpenMP threads, always the same way, so that results do not depend on
// timing.
#pragma once

#include <omp.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>

namespace laya::train {

/// Into how many shares parallel_ranges cuts: the size of per-share accumulators.
inline std::size_t parallel_threads() { return static_cast<std::size_t>(omp_get_max_threads()); }

/// Calls body(begin, end, share) for each of parallel_threads() equal shares of [0, count), rounded
/// to `grain`, one share a thread; empty shares are not called. Shares differ by one grain at most.
/// The cut does not depend on how many threads OpenMP really grants (it may grant fewer), so
/// neither do the results. Not from inside another parallel region. `body` must not throw.
template <typename Body>
void parallel_ranges(std::size_t count, std::size_t grain, const Body& body) {
  const std::size_t shares = parallel_threads();
#pragma omp parallel
  {
    const auto team = static_cast<std::size_t>(omp_get_num_threads());
    const std::size_t grains = (count + grain - 1) / grain;
    for (auto share = static_cast<std::size_t>(omp_get_thread_num()); share < shares;
         share += team) {
      const std::size_t begin = grains * share / shares * grain;
      std::size_t end = grains * (share + 1) / shares * grain;
      if (end > count) end = count;
      if (begin < end) body(begin, end, share);
    }
  }
}

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
