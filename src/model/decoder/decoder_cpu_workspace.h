// Scratch memory of the cpu backend of decoders, and how its work is shared by two threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "model/core/workspace.h"
#include "model/decoder/decoder_config.h"
#include "model/decoder/decoder_inputs.h"
#include "simd/thread_pool.h"

namespace laya::model {

/// Rows of x whose squares are summed before the sums are: fixed, so that the result is the same
/// however the rows were shared out.
inline constexpr std::size_t kSegment = 32;

/// Rows of the head whose scores are computed together.
inline constexpr std::size_t kHeadRows = 512;

inline std::size_t bytes_of(const simd::PackedMatrix& matrix) {
  return matrix.blocks * matrix.block_bytes;
}

/// Rows [first, first + count) of a matrix, as a matrix; `first` is a multiple of 16, and so is
/// count unless it ends the matrix.
inline simd::PackedMatrix rows_of(const simd::PackedMatrix& matrix, std::size_t first,
                                  std::size_t count) {
  simd::PackedMatrix part = matrix;
  part.data += first / simd::kBlockRows * matrix.block_bytes;
  part.blocks = (count + simd::kBlockRows - 1) / simd::kBlockRows;
  part.rows = count;
  return part;
}

/// Indices that two threads take, its owner from the front, the other from the back.
class alignas(64) SharedRange {
 public:
  void set(std::size_t first, std::size_t last) {
    range_.store((std::uint64_t{last} << 32) + first, std::memory_order_relaxed);
  }
  bool take_first(std::size_t& index) {
    return take(1, [&](std::uint64_t first, std::uint64_t) { index = first; });
  }
  bool take_last(std::size_t& index) {
    return take(-(std::uint64_t{1} << 32),
                [&](std::uint64_t, std::uint64_t last) { index = last - 1; });
  }

 private:
  template <typename Chosen>
  bool take(std::uint64_t step, Chosen&& chosen) {
    std::uint64_t range = range_.load(std::memory_order_relaxed);
    for (;;) {
      const std::uint64_t first = range & 0xFFFFFFFFU, last = range >> 32;
      if (first >= last) {
        return false;
      }
      if (range_.compare_exchange_weak(range, range + step, std::memory_order_relaxed)) {
        chosen(first, last);
        return true;
      }
    }
  }

  std::atomic<std::uint64_t> range_{0};  // last in the high half; the pool orders what fn does
};

/// Scratch memory of one caller.
struct CpuDecoderWorkspace final : Workspace {
  CpuDecoderWorkspace(const DecoderConfig& c, Threads threads)
      : x(c.hidden_dim),
        y(c.hidden_dim),
        q(c.q_dim()),
        heads(c.q_dim()),
        cosines{Columns(c.head_dim / 2), Columns(c.head_dim / 2)},
        sines{Columns(c.head_dim / 2), Columns(c.head_dim / 2)},
        x_in(c.hidden_dim),
        heads_in(c.q_dim()),
        gate_in(c.ffn_dim),
        squares((c.hidden_dim + kSegment - 1) / kSegment),
        partial(kMaxColumns * ((c.vocabulary_size + kHeadRows - 1) / kHeadRows)) {
    if (threads == Threads::Two) {
      pool_ = std::make_unique<simd::ThreadPool>(2);
      for (std::unique_ptr<CpuDecoderWorkspace>& part : parts_) {
        part = std::make_unique<CpuDecoderWorkspace>(c, Threads::One);
      }
    }
  }

  Columns x, y, q, heads;
  std::array<Columns, 2> cosines, sines;  // of layers that do not slide, that slide
  Inputs x_in, heads_in, gate_in;
  std::vector<std::array<float, kMaxColumns>> squares;  // of x or y, by segment
  std::array<float, kMaxColumns> factor{};              // 1 / root mean square of x or y
  std::vector<float> partial;  // log-sums of the head's chunks, [column][chunk]
  std::atomic<bool> damaged{false};

  // Of the pass at hand, by column.
  struct Token {
    std::size_t slot = 0;
    std::size_t context = 0;  // length of its list in `slots`
  };
  std::array<Token, kMaxColumns> tokens;
  std::vector<std::uint32_t> slots;  // [column][slots of the cache]: what each attends to
  std::vector<float> scratch;        // of attention, a part for each of two threads

  bool shares() const { return pool_ != nullptr; }
  /// Of its own for each of two threads that share columns. Requires shares().
  CpuDecoderWorkspace& part(std::size_t index) { return *parts_[index]; }

  /// fn(i) for i in [0, n), on all threads: each has a half of its own, the same one
  /// every time, so that its rows of x stay in its cache and weights come in one run; whoever is
  /// done takes from the other's end.
  template <typename Function>
  void run(std::size_t n, Function&& fn) {
    if (pool_ == nullptr || n < 2) {
      for (std::size_t i = 0; i < n; ++i) {
        fn(i);
      }
      return;
    }
    const std::size_t half = (n + 1) / 2;
    halves_[0].set(0, half);
    halves_[1].set(half, n);
    const std::thread::id caller = std::this_thread::get_id();
    pool_->run(2, [this, &fn, caller](std::size_t) {
      const std::size_t own = std::this_thread::get_id() == caller ? 0 : 1;
      std::size_t i = 0;
      while (halves_[own].take_first(i)) {
        fn(i);
      }
      while (halves_[1 - own].take_last(i)) {
        fn(i);
      }
    });
  }

 private:
  std::unique_ptr<simd::ThreadPool> pool_;  // null: everything on the calling thread
  std::array<SharedRange, 2> halves_;
  std::array<std::unique_ptr<CpuDecoderWorkspace>, 2> parts_;
};

}  // namespace laya::model
