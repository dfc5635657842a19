// Memory for packed weights and kernel scratch: 64-byte aligned, not initialised, allocated once.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace laya::model {

class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::size_t size_bytes)
      : memory_(static_cast<std::byte*>(::operator new(size_bytes, kAlignment))),
        size_(size_bytes) {}

  std::span<std::byte> bytes() { return {memory_.get(), size_}; }
  std::span<const std::byte> bytes() const { return {memory_.get(), size_}; }
  std::span<float> floats() {
    return {reinterpret_cast<float*>(memory_.get()), size_ / sizeof(float)};
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t size_ = 0;
};

}  // namespace laya::model
