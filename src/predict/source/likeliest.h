// The few likeliest of many numbered things, in one walk over them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace laya::predict {

/// Keeps the kCapacity most probable of what it is offered; of equal ones those of smaller number.
/// A heap with the least probable in front: most offers cost one comparison. No allocation.
template <std::size_t kCapacity>
class Likeliest {
 public:
  using Valued = std::pair<float, std::uint32_t>;  ///< probability, number

  /// Whether add() would keep it.
  bool takes(const Valued& candidate) const {
    return count_ < kCapacity || more_probable(candidate, best_.front());
  }
  void add(const Valued& candidate) {
    if (!takes(candidate)) {
      return;
    }
    if (count_ == kCapacity) {
      std::pop_heap(best_.begin(), best_.end(), more_probable);
      --count_;
    }
    best_[count_++] = candidate;
    std::push_heap(best_.begin(), end(), more_probable);
  }

  /// The probability that must be exceeded to be kept: 0 while there is room.
  float least() const { return count_ == kCapacity ? best_.front().first : 0; }

  /// In no order.
  std::span<const Valued> items() const { return std::span(best_).first(count_); }
  /// Likeliest first; add() must not follow.
  std::span<const Valued> sorted() {
    std::sort_heap(best_.begin(), end(), more_probable);
    return items();
  }

 private:
  static bool more_probable(const Valued& a, const Valued& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  }
  auto end() { return best_.begin() + static_cast<std::ptrdiff_t>(count_); }

  std::array<Valued, kCapacity> best_;
  std::size_t count_ = 0;
};

}  // namespace laya::predict
